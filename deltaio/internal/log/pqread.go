package log

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// pqWhole is the size up to which a checkpoint file is read in one piece: on
// object storage one large read is much cheaper than many small ones.
const pqWhole = 32 << 20

// guarded remembers that the store failed, so that an unreadable object is not
// taken for a damaged one.
type guarded struct {
	r   io.ReaderAt
	err atomic.Pointer[error]
}

func (g *guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.r.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		g.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// openParquet opens a file of a checkpoint. The caller runs under recover: the
// library panics on some damaged files.
func openParquet(r storage.Reader) (*parquet.File, *guarded, error) {
	g := &guarded{r: r}
	size := r.Info().Size
	opts := []parquet.FileOption{
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1 << 20),
		parquet.OptimisticRead(true),
	}
	if size > pqWhole {
		f, err := parquet.OpenFile(g, size, opts...)
		return f, g, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(g, 0, size), data); err != nil {
		return nil, g, err
	}
	f, err := parquet.OpenFile(bytesAt(data), size, append(opts, parquet.ReadBufferSize(64<<10))...)
	return f, g, err
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
	nested   bool // below a repeated group: a row holds any number of values
	root     *parquet.Column
	entryDef int // see repeatedLevel

	chunk  parquet.ColumnChunk
	pages  parquet.Pages
	values parquet.ValueReader
	buf    []parquet.Value // values read and not yet taken
	store  [128]parquet.Value
	row    int64 // the row whose values come next
	out    []parquet.Value
}

func newLeaf(col *parquet.Column) *leaf {
	return &leaf{
		col: col, kind: col.Type().Kind(), maxDef: col.MaxDefinitionLevel(),
		nested: col.MaxRepetitionLevel() > 0,
	}
}

func (l *leaf) open(g parquet.RowGroup) {
	l.close()
	l.chunk = g.ColumnChunks()[l.col.Index()]
	l.pages, l.values, l.buf, l.out, l.row = nil, nil, nil, l.out[:0], 0
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
		l.out = append(l.out, l.buf[0])
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
