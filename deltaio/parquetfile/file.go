package parquetfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Kind is a kind of damage.
type Kind string

// Kinds of damage.
const (
	// NotParquet: neither begins nor ends as a Parquet file.
	NotParquet Kind = "not_parquet"
	// Truncated: begins as a Parquet file and ends before its footer.
	Truncated Kind = "truncated"
	// BadHeader: ends as a Parquet file and does not begin as one.
	BadHeader Kind = "header"
	// BadFooter: the description at its end is not sound.
	BadFooter Kind = "footer"
	// BadPage: a page does not read, or has another checksum than was written.
	BadPage Kind = "page"
	// Unsupported: sound as far as can be told, but not readable here.
	Unsupported Kind = "unsupported"
)

// DamageError says what is wrong with a file. Reading it again gives the same.
type DamageError struct {
	Kind Kind
	Key  string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Key, strings.ReplaceAll(string(e.Kind), "_", " "), e.Err)
}

// Unwrap gives what was found.
func (e *DamageError) Unwrap() error { return e.Err }

// File is an open Parquet file whose footer is sound.
type File struct {
	key  string
	size int64
	r    storage.Reader
	scan *scan.File
}

const magic = "PAR1"

// Open reads and checks beginning and footer. Errors are *DamageError, or say
// that the object could not be read (storage.ErrNotExist: there is none). Close
// it.
func Open(ctx context.Context, s storage.Store, key string) (f *File, err error) {
	r, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = r.Close() // the error at hand says more
		}
	}()
	size := r.Info().Size
	if err := checkEnds(r, key, size); err != nil {
		return nil, err
	}
	sf, err := scan.Open(r)
	if err != nil {
		return nil, damage(BadFooter, key, err)
	}
	return &File{key: key, size: size, r: r, scan: sf}, nil
}

// checkEnds looks at the first and the last four bytes.
func checkEnds(r io.ReaderAt, key string, size int64) error {
	if size < 12 {
		return &DamageError{Kind: tooSmall(r, size), Key: key, Err: fmt.Errorf("%d bytes are too few", size)}
	}
	var head, tail [4]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("%s: read the beginning: %w", key, err)
	}
	if n, err := r.ReadAt(tail[:], size-4); n < 4 {
		return fmt.Errorf("%s: read the end: %w", key, err)
	}
	begins, ends := string(head[:]) == magic, string(tail[:]) == magic
	switch {
	case string(head[:]) == "PARE" || string(tail[:]) == "PARE":
		return &DamageError{Kind: Unsupported, Key: key, Err: errors.New("the file is encrypted")}
	case begins && !ends:
		return &DamageError{Kind: Truncated, Key: key, Err: fmt.Errorf("it ends with %q after %d bytes, without a footer", tail, size)}
	case !begins && ends:
		return &DamageError{Kind: BadHeader, Key: key, Err: fmt.Errorf("it begins with %q, not with %s", head, magic)}
	case !begins:
		return &DamageError{Kind: NotParquet, Key: key, Err: fmt.Errorf("it begins with %q and ends with %q", head, tail)}
	}
	return nil
}

func tooSmall(r io.ReaderAt, size int64) Kind {
	var head [4]byte
	if n, _ := r.ReadAt(head[:min(size, 4)], 0); size > 0 && string(head[:n]) == magic[:n] {
		return Truncated
	}
	return NotParquet
}

// damage gives an error its kind where the bytes are at fault.
func damage(kind Kind, key string, err error) error {
	switch {
	case errors.Is(err, scan.ErrUnsupported):
		return &DamageError{Kind: Unsupported, Key: key, Err: err}
	case errors.Is(err, scan.ErrCorrupt):
		return &DamageError{Kind: kind, Key: key, Err: err}
	}
	return err
}

// Close the file.
func (f *File) Close() error { return f.r.Close() }

// Size in bytes.
func (f *File) Size() int64 { return f.size }

// Rows is the number of rows by the footer.
func (f *File) Rows() int64 { return f.scan.NumRows() }

// Batches reads the columns of s, by name; one that the file lacks is null. The
// consumer releases each record.
func (f *File) Batches(ctx context.Context, s *schema.Struct) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		for rec, err := range f.scan.Batches(ctx, scan.Options{Schema: s}) {
			if err != nil && ctx.Err() == nil {
				err = damage(BadPage, f.key, err)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Ranges gives what the footer proves of a top-level column, one range a row
// group; ok is false where it proves nothing of some row group.
func (f *File) Ranges(field *schema.Field) (out []expr.Range, ok bool) {
	for i := range f.scan.RowGroupRows() {
		r, ok := f.scan.Range(field, i)
		if !ok {
			return nil, false
		}
		out = append(out, r)
	}
	return out, true
}
