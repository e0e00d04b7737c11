package scan

import (
	"errors"
	"fmt"
	"io"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
)

const (
	// maxLeafBytes and maxLeafEntries bound what one column of a batch takes,
	// unless the batch is a single row already.
	maxLeafBytes   = 128 << 20
	maxLeafEntries = 16 << 20
	// maxHint bounds the memory taken for values before any is decoded.
	maxHint = 4 << 20
	// levelBlock is how many levels of a repeated column are looked ahead.
	levelBlock = 4096
)

// leaf is one physical column of the file while it is read: after load, the
// levels and the dense values of the rows of one batch.
type leaf struct {
	node *footer.Node
	// flat columns have a bitmap instead of levels.
	flat       bool
	levelsOnly bool
	convert    convert // nil: physical values are the wanted ones
	width      int     // of the wanted values
	maxBytes   int     // of a batch of several rows

	rd *page.Reader
	// the batch
	rows     int
	values   page.Vector
	present  int    // values that are there
	bits     []byte // flat: which entries those are
	def, rep []byte // else: levels of all entries
	sizeHint int
	physical page.Vector // scratch, before convert

	// levels looked ahead, for repeated columns
	aheadDef, aheadRep []byte
	ahead              int // position in them
}

func newLeaf(n *footer.Node) *leaf {
	return &leaf{node: n, flat: n.MaxRep == 0 && n.MaxDef <= 1, width: n.Width(), maxBytes: maxLeafBytes}
}

// open starts the column's chunk in a row group.
func (l *leaf) open(r io.ReaderAt, g *footer.RowGroup, window, rows int) {
	chunk := &g.Chunks[l.node.Leaf]
	l.rd = page.NewReader(r, l.node, chunk, window)
	if l.sizeHint == 0 {
		l.sizeHint = int(min(chunk.UncompressedSize/g.NumRows*min(int64(rows), g.NumRows), maxHint))
	}
	l.rd.SkipValues = l.levelsOnly
	l.aheadDef, l.aheadRep, l.ahead = l.aheadDef[:0], l.aheadRep[:0], 0
}

// load reads the next n rows.
func (l *leaf) load(n int) error {
	dst := l.begin(n)
	var err error
	switch {
	case l.node.MaxRep > 0:
		err = l.loadRepeated(dst, n)
	case l.flat:
		err = l.loadFlat(dst, n)
	default:
		err = l.loadNested(dst, n)
	}
	if err != nil || l.convert == nil || l.levelsOnly {
		return err
	}
	l.values.Reset(l.width, max(n, l.present), l.sizeHint)
	return l.convert(dst, &l.values)
}

// begin empties the batch and picks where physical values go.
func (l *leaf) begin(n int) *page.Vector {
	l.present, l.rows = 0, n
	if l.flat {
		l.bits = make([]byte, (n+7)/8+8)
	} else {
		l.def, l.rep = l.def[:0], l.rep[:0]
	}
	dst := &l.values
	if l.convert != nil {
		dst = &l.physical
		dst.Reuse(l.node.Width())
	} else {
		dst.Reset(l.width, n, l.sizeHint)
	}
	dst.Limit = l.maxBytes
	if n == 1 {
		dst.Limit = page.MaxData
	}
	return dst
}

// finish makes sure that the row group has no rows beyond those read.
func (l *leaf) finish() error {
	if l.ahead < len(l.aheadDef) {
		return fmt.Errorf("%w: more rows than the footer states", ErrCorrupt)
	}
	err := l.rd.Fill()
	if err == nil {
		return fmt.Errorf("%w: more rows than the footer states", ErrCorrupt)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// fill enters the next page; the end of the chunk is an error here.
func (l *leaf) fill() error {
	err := l.rd.Fill()
	if err == io.EOF {
		return fmt.Errorf("%w: fewer rows than the footer states", ErrCorrupt)
	}
	return err
}

func (l *leaf) take(dst *page.Vector, n int) error {
	l.present += n
	if l.levelsOnly {
		return nil
	}
	return l.rd.Values(dst, n)
}

func (l *leaf) loadFlat(dst *page.Vector, n int) error {
	for at := 0; at < n; {
		if err := l.fill(); err != nil {
			return err
		}
		m := min(n-at, l.rd.Left())
		present, err := l.rd.DefBits(l.bits, at, m)
		if err != nil {
			return err
		}
		if err := l.take(dst, present); err != nil {
			return err
		}
		at += m
	}
	return nil
}

// loadNested reads members of structs outside of lists: an entry a row.
func (l *leaf) loadNested(dst *page.Vector, n int) error {
	for len(l.def) < n {
		if err := l.fill(); err != nil {
			return err
		}
		at := len(l.def)
		m := min(n-at, l.rd.Left())
		l.def = append(l.def, make([]byte, m)...)
		if err := l.rd.Levels(l.def[at:], nil); err != nil {
			return err
		}
		if err := l.take(dst, countLevel(l.def[at:], l.node.MaxDef)); err != nil {
			return err
		}
	}
	return nil
}

// loadRepeated reads whole rows of a column inside lists or maps: a row ends
// where the next one starts, which may be in the next page.
func (l *leaf) loadRepeated(dst *page.Vector, n int) error {
	for rows := 0; ; {
		if l.ahead == len(l.aheadDef) {
			err := l.lookAhead()
			if err == io.EOF && rows == n {
				return nil
			}
			if err == io.EOF {
				return fmt.Errorf("%w: fewer rows than the footer states", ErrCorrupt)
			}
			if err != nil {
				return err
			}
		}
		if len(l.def) == 0 && l.aheadRep[l.ahead] != 0 {
			return fmt.Errorf("%w: a row group that starts inside a row", ErrCorrupt)
		}
		end, done := l.ahead, false
		for ; end < len(l.aheadRep); end++ {
			if l.aheadRep[end] == 0 {
				if rows == n {
					done = true
					break
				}
				rows++
			}
		}
		if err := l.takeAhead(dst, end, n); err != nil || done {
			return err
		}
	}
}

// lookAhead decodes the next levels of the page.
func (l *leaf) lookAhead() error {
	if err := l.rd.Fill(); err != nil {
		return err
	}
	m := min(levelBlock, l.rd.Left())
	if cap(l.aheadDef) < levelBlock {
		l.aheadDef, l.aheadRep = make([]byte, levelBlock), make([]byte, levelBlock)
	}
	l.aheadDef, l.aheadRep, l.ahead = l.aheadDef[:m], l.aheadRep[:m], 0
	return l.rd.Levels(l.aheadDef, l.aheadRep)
}

// takeAhead moves the entries looked ahead up to end into the batch.
func (l *leaf) takeAhead(dst *page.Vector, end, rows int) error {
	def := l.aheadDef[l.ahead:end]
	l.def = append(l.def, def...)
	l.rep = append(l.rep, l.aheadRep[l.ahead:end]...)
	l.ahead = end
	if rows > 1 && len(l.def) > maxLeafEntries {
		return page.ErrTooLarge
	}
	return l.take(dst, countLevel(def, l.node.MaxDef))
}

func countLevel(levels []byte, level int) (n int) {
	for _, d := range levels {
		if int(d) == level {
			n++
		}
	}
	return n
}

// place is a position of a leaf between two batches.
type place struct {
	mark page.Mark
	skip int
}

func (l *leaf) mark() place {
	m, skip := l.rd.Position()
	return place{m, skip - (len(l.aheadDef) - l.ahead)}
}

// restore goes back to a position that mark gave.
func (l *leaf) restore(p place) error {
	l.aheadDef, l.aheadRep, l.ahead = l.aheadDef[:0], l.aheadRep[:0], 0
	if err := l.rd.Restore(p.mark); err != nil {
		return err
	}
	var scratch page.Vector
	def, rep := make([]byte, levelBlock), make([]byte, levelBlock)
	for p.skip > 0 {
		if l.rd.Left() == 0 {
			return errors.New("page ended before the position to restore")
		}
		m := min(p.skip, levelBlock, l.rd.Left())
		if err := l.rd.Levels(def[:m], rep[:m]); err != nil {
			return err
		}
		scratch.Reuse(l.node.Width())
		l.present = 0
		if err := l.take(&scratch, countLevel(def[:m], l.node.MaxDef)); err != nil {
			return err
		}
		p.skip -= m
	}
	return nil
}
