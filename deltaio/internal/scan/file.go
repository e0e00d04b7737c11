package scan

import (
	"fmt"
	"io"
	"sync"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var (
	// ErrCorrupt: the object is not a sound Parquet file. Reading it again gives
	// the same error.
	ErrCorrupt = footer.ErrCorrupt
	// ErrUnsupported: the file is (or claims to be) sound, but holds something
	// that is not read here, or does not fit the wanted type.
	ErrUnsupported = footer.ErrUnsupported
)

// File is an open Parquet file. It is safe for concurrent use as far as its
// reader is.
type File struct {
	foot    *footer.File
	key     string
	r       io.ReaderAt
	old     calendar
	idsOnce sync.Once
	ids     bool
}

// Open reads and checks the footer. The caller keeps r open while it uses the
// File, and closes it.
func Open(r storage.Reader) (f *File, err error) {
	info := r.Info()
	defer recoverTo(&err, func(e error) error { return fmt.Errorf("%s: %w", info.Key, e) })
	meta, err := footer.Read(r, info.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Key, err)
	}
	f = &File{foot: meta, key: info.Key}
	f.r = &tailReader{r: r, tail: meta.Tail, offset: meta.TailOffset}
	f.old = calendarOf(meta.KeyValue)
	return f, nil
}

// panicError is a panic that was turned into an error: decoders run on bytes
// nobody checked, and a file must not take the process down. It is a net, not a
// way to report errors: tests fail on files that make it necessary.
type panicError struct{ value any }

func (e *panicError) Error() string {
	return fmt.Sprintf("%v: decoder failed: %v", ErrCorrupt, e.value)
}
func (e *panicError) Unwrap() error { return ErrCorrupt }

func recoverTo(err *error, wrap func(error) error) {
	if p := recover(); p != nil {
		*err = wrap(&panicError{p})
	}
}

// tailReader answers reads of the file's end from the bytes that opening it
// fetched: small files are then read once.
type tailReader struct {
	r      io.ReaderAt
	tail   []byte
	offset int64
}

func (t *tailReader) ReadAt(b []byte, off int64) (int, error) {
	if off >= t.offset {
		n := copy(b, t.tail[min(off-t.offset, int64(len(t.tail))):])
		if n < len(b) {
			return n, io.EOF
		}
		return n, nil
	}
	return t.r.ReadAt(b, off)
}

// NumRows is the number of rows in the file.
func (f *File) NumRows() int64 { return f.foot.NumRows }

// RowGroupRows is the number of rows of each row group.
func (f *File) RowGroupRows() []int64 {
	rows := make([]int64, len(f.foot.RowGroups))
	for i := range f.foot.RowGroups {
		rows[i] = f.foot.RowGroups[i].NumRows
	}
	return rows
}

// KeyValue looks up an entry of the footer's key-value metadata.
func (f *File) KeyValue(key string) (string, bool) {
	v, ok := f.foot.KeyValue[key]
	return v, ok
}

// CreatedBy is the writer's own name for itself.
func (f *File) CreatedBy() string { return f.foot.CreatedBy }

// ColumnNames are the physical names of the top-level columns, in file order.
func (f *File) ColumnNames() []string {
	names := make([]string, len(f.foot.Root.Children))
	for i, c := range f.foot.Root.Children {
		names[i] = c.Name
	}
	return names
}

// HasColumn says whether a top-level column of that physical name exists.
func (f *File) HasColumn(physical string) bool {
	for _, c := range f.foot.Root.Children {
		if c.Name == physical {
			return true
		}
	}
	return false
}

// hasFieldIDs says whether any column carries a field id.
func (f *File) hasFieldIDs() bool {
	f.idsOnce.Do(func() {
		for i := range f.foot.Elements {
			f.ids = f.ids || f.foot.Elements[i].HasFieldID
		}
	})
	return f.ids
}
