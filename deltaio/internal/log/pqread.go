package log

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// maxCheckpointFile bounds one file of a checkpoint. It is read in one piece: the
// state it gives is larger still, and one large read is what object storage is
// good at.
const maxCheckpointFile = 4 << 30

// openParquet opens a file of a checkpoint. The caller runs under recover: the
// library panics on some damaged files.
func openParquet(data []byte) (*parquet.File, error) {
	if n := len(data); n < 12 || int64(binary.LittleEndian.Uint32(data[n-8:])) > int64(n)-12 {
		return nil, fmt.Errorf("no Parquet file of %d bytes has such a footer", n)
	}
	f, err := parquet.OpenFile(bytesAt(data), int64(len(data)),
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, err
	}
	if err := checkFooter(f); err != nil {
		return nil, err
	}
	return f, checkPages(data, f.Metadata())
}

// bytesAt reads from memory.
type bytesAt []byte

func (b bytesAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A leaf walks the values of one column of a row group, row by row. Columns
// nobody asks for are never opened, and rows nobody asks for are passed over.
type leaf struct {
	col      *parquet.Column
	kind     parquet.Kind
	maxDef   int
	maxRep   int
	nested   bool // below a repeated group: a row holds any number of values
	root     *parquet.Column
	entryDef int // see repeatedLevel

	chunk  parquet.ColumnChunk
	pages  parquet.Pages
	values parquet.ValueReader
	buf    []parquet.Value // values read and not yet taken
	store  [128]parquet.Value
	row    int64 // the row whose values come next
	nulls  int64 // among the values of the rows before
	out    []parquet.Value
}

func newLeaf(col *parquet.Column) *leaf {
	return &leaf{
		col: col, kind: col.Type().Kind(), maxDef: col.MaxDefinitionLevel(), maxRep: col.MaxRepetitionLevel(),
		nested: col.MaxRepetitionLevel() > 0,
	}
}

func (l *leaf) open(g parquet.RowGroup) {
	l.close()
	l.chunk = g.ColumnChunks()[l.col.Index()]
	l.pages, l.values, l.buf, l.out, l.row, l.nulls = nil, nil, nil, l.out[:0], 0, 0
}

func (l *leaf) close() {
	if l.pages != nil {
		l.pages.Close() //nolint:errcheck // nothing was written
		l.pages = nil
	}
}

// at gives the values of a row; rows only go up. They stay valid until another
// row is asked for.
func (l *leaf) at(row int64) ([]parquet.Value, error) {
	if l.row == row+1 && len(l.out) > 0 {
		return l.out, nil
	}
	for ; l.row < row; l.row++ {
		if _, err := l.next(); err != nil {
			return nil, err
		}
	}
	l.row++
	return l.next()
}

func (l *leaf) next() ([]parquet.Value, error) {
	l.out = l.out[:0]
	if err := l.fill(); err != nil {
		if err == io.EOF {
			err = fmt.Errorf("column %v ends at row %d: %w", l.col.Path(), l.row, io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	for {
		v := l.buf[0]
		if v.DefinitionLevel() > l.maxDef || v.RepetitionLevel() > l.maxRep {
			return nil, fmt.Errorf("column %v: levels %d and %d exceed the schema's", l.col.Path(), v.RepetitionLevel(), v.DefinitionLevel())
		}
		if v.IsNull() {
			l.nulls++
		}
		l.out = append(l.out, v)
		l.buf = l.buf[1:]
		if !l.nested {
			return l.out, nil
		}
		if err := l.fill(); err == io.EOF {
			return l.out, nil
		} else if err != nil {
			return nil, err
		}
		if l.buf[0].RepetitionLevel() == 0 {
			return l.out, nil
		}
	}
}

// fill makes sure that a value is there; io.EOF behind the last one. Pages are
// left to the collector: their memory may still be referred to.
func (l *leaf) fill() error {
	for len(l.buf) == 0 {
		if l.values == nil {
			if l.pages == nil {
				l.pages = l.chunk.Pages()
			}
			page, err := l.pages.ReadPage()
			if err != nil {
				return err
			}
			l.values = page.Values()
		}
		n, err := l.values.ReadValues(l.store[:])
		l.buf = l.store[:n]
		switch {
		case err == io.EOF || err == nil && n == 0:
			l.values = nil
		case err != nil:
			return err
		}
	}
	return nil
}

// checkNulls holds a column that was read against the null count of the footer:
// a damaged repetition type in the schema shifts the levels and turns nulls into
// values. Columns below lists are left out, where writers count differently, and
// so is a count of zero, which may mean an absent one.
func (l *leaf) checkNulls(meta *format.RowGroup) error {
	want := meta.Columns[l.col.Index()].MetaData.Statistics.NullCount
	if want <= 0 || l.nested || l.row == 0 {
		return nil
	}
	if l.row < meta.NumRows {
		if _, err := l.at(meta.NumRows - 1); err != nil {
			return err
		}
	}
	if l.nulls != want {
		return fmt.Errorf("column %v holds %d nulls, the footer says %d", l.col.Path(), l.nulls, want)
	}
	return nil
}
