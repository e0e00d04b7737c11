package pq

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

var errFull = errors.New("disk is full")

// fullDisk takes n bytes and fails from then on.
type fullDisk struct{ n int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.n -= len(b); d.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestRewrite_failing_output_ends_in_its_error(t *testing.T) {
	t.Parallel()
	data, s, _ := smallFile(t)
	half := NewBitmap(1000)
	half.SetRange(0, 450)
	for n := 0; n < len(data); n += 997 {
		for _, rows := range []*Bitmap{nil, half} {
			_, err := Rewrite(t.Context(), inMemory(data), []Output{{W: &fullDisk{n}, Columns: columnsOf(s), Rows: rows}}, Options{})
			if err != nil {
				require.ErrorIs(t, err, errFull)
			}
		}
	}
	_, err := Rewrite(t.Context(), inMemory(data), []Output{{W: &fullDisk{}, Columns: columnsOf(s)}}, Options{})
	require.ErrorIs(t, err, errFull)
}

func TestRewrite_cancelled_context_stops_it(t *testing.T) {
	t.Parallel()
	data, s, _ := smallFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Rewrite(ctx, inMemory(data), []Output{{W: io.Discard, Columns: columnsOf(s)}}, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// brokenReader fails where a file is read beyond its footer.
type brokenReader struct{ memFile }

func (b brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 1000 {
		return 0, errFull
	}
	return b.memFile.ReadAt(p, off)
}

func TestRewrite_failing_source_ends_in_its_error_naming_the_column(t *testing.T) {
	t.Parallel()
	data, s, _ := smallFile(t)
	_, err := Rewrite(t.Context(), brokenReader{inMemory(data)}, []Output{{W: io.Discard, Columns: columnsOf(s)}}, Options{})
	require.ErrorIs(t, err, errFull)
	require.ErrorContains(t, err, "part-0.parquet: row group 0: column id")
}
