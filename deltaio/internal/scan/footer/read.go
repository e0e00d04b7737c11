package footer

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	// tailRead is how many bytes at the end are read at once, in the hope that
	// the footer is among them.
	tailRead = 64 << 10
	// maxFooter bounds the footer; larger ones are refused, not tried.
	maxFooter = 256 << 20
)

// File is the checked metadata of a file.
type File struct {
	*Meta
	Root   *Node
	Leaves []*Node
	// DataEnd is where the footer starts: column chunks lie before it.
	DataEnd int64
	// Tail holds the file's last bytes, which reading the footer fetched; they
	// start at TailOffset.
	Tail       []byte
	TailOffset int64
}

// Read fetches and checks the footer of a file of size bytes: afterwards the
// tree is consistent, every row group has one chunk a leaf of the leaf's type,
// and every chunk lies within the file.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if size < 12 {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrCorrupt, size)
	}
	tail := make([]byte, min(size, tailRead))
	if err := readFull(r, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	length, err := footerLength(tail, size)
	if err != nil {
		return nil, err
	}
	f := &File{DataEnd: size - 8 - length, Tail: tail, TailOffset: size - int64(len(tail))}
	body := tail[:len(tail)-8]
	if length > int64(len(body)) {
		body = make([]byte, length)
		if err := readFull(r, body, f.DataEnd); err != nil {
			return nil, err
		}
	} else {
		body = body[int64(len(body))-length:]
	}
	if f.Meta, err = Parse(body); err != nil {
		return nil, err
	}
	if f.Root, f.Leaves, err = f.Tree(); err != nil {
		return nil, err
	}
	return f, f.check()
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at %d: %w", len(b), off, err)
}

func footerLength(tail []byte, size int64) (int64, error) {
	end := tail[len(tail)-8:]
	switch string(end[4:]) {
	case magic:
	case encryptedMagic:
		return 0, fmt.Errorf("%w: it is encrypted", ErrUnsupported)
	default:
		return 0, fmt.Errorf("%w: it does not end with %s", ErrCorrupt, magic)
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > size-12 {
		return 0, fmt.Errorf("%w: footer of %d bytes in a file of %d", ErrCorrupt, n, size)
	}
	if n > maxFooter {
		return 0, fmt.Errorf("%w: footer of %d bytes, more than %d", ErrUnsupported, n, maxFooter)
	}
	return n, nil
}

func (f *File) check() error {
	var rows int64
	for i := range f.RowGroups {
		g := &f.RowGroups[i]
		if g.NumRows < 0 || g.NumRows > math.MaxInt64-rows {
			return fmt.Errorf("%w: row group %d has %d rows", ErrCorrupt, i, g.NumRows)
		}
		rows += g.NumRows
		if len(g.Chunks) != len(f.Leaves) {
			return fmt.Errorf("%w: row group %d has %d column chunks, the schema %d columns", ErrCorrupt, i, len(g.Chunks), len(f.Leaves))
		}
		for j := range g.Chunks {
			if err := f.checkChunk(g, f.Leaves[j]); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i, f.Leaves[j].Path(), err)
			}
		}
	}
	if rows != f.NumRows {
		return fmt.Errorf("%w: %d rows in the row groups, %d in the footer", ErrCorrupt, rows, f.NumRows)
	}
	return nil
}

func (f *File) checkChunk(g *RowGroup, leaf *Node) error {
	c := &g.Chunks[leaf.Leaf]
	switch {
	case c.foreignFile:
		return fmt.Errorf("%w: its data lies in another file", ErrUnsupported)
	case c.encrypted:
		return fmt.Errorf("%w: it is encrypted", ErrUnsupported)
	case !c.hasMeta:
		return fmt.Errorf("%w: no metadata", ErrCorrupt)
	case c.Type != leaf.Type:
		return fmt.Errorf("%w: chunk of %s, schema says %s", ErrCorrupt, c.Type, leaf.Type)
	case len(c.Path) > 0 && !slices.Equal(c.Path, leaf.Names):
		return fmt.Errorf("%w: chunk belongs to column %q", ErrCorrupt, c.Path)
	case c.NumValues < 0 || c.NumValues < g.NumRows || leaf.MaxRep == 0 && c.NumValues != g.NumRows:
		return fmt.Errorf("%w: %d values for %d rows", ErrCorrupt, c.NumValues, g.NumRows)
	}
	if g.NumRows == 0 && c.NumValues == 0 {
		return nil // never read; writers leave nonsense in its offsets
	}
	start, end := c.Bounds()
	if c.CompressedSize < 0 || c.UncompressedSize < 0 || start < 4 || end < start || end > f.DataEnd {
		return fmt.Errorf("%w: pages at %d to %d, outside of the file's data, which ends at %d", ErrCorrupt, start, end, f.DataEnd)
	}
	return nil
}

// Bounds are the first byte of the chunk's pages and the first after them.
func (c *Chunk) Bounds() (start, end int64) {
	start = c.DataPageOffset
	// Writers without a dictionary state 0, or nonsense behind the data.
	if c.DictPageOffset >= 4 && c.DictPageOffset < start {
		start = c.DictPageOffset
	}
	if c.CompressedSize > math.MaxInt64-start {
		return start, -1
	}
	return start, start + c.CompressedSize
}
