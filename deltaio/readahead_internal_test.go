package deltaio

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
)

func TestReadAhead_cancelled_within_the_last_item_is_an_error(t *testing.T) {
	t.Parallel()
	empty := array.NewRecord(arrow.NewSchema(nil, nil), nil, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	readAhead(ctx, 2, []int{0}, func(_ context.Context, _ int, emit func(arrow.Record) bool) error {
		for range 100 {
			if !emit(empty) {
				return nil // as a reader that stops quietly
			}
		}
		return nil
	}, func(_ arrow.Record, e error) bool {
		cancel()
		err = e
		return true
	})
	require.ErrorIs(t, err, context.Canceled)
}

func TestReadAhead_keeps_the_order_of_items_whatever_is_ready_first(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 2, 7} {
		var got []int64
		items := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}
		readAhead(t.Context(), parallel, items, func(_ context.Context, n int64, emit func(arrow.Record) bool) error {
			for range n % 4 {
				if !emit(array.NewRecord(arrow.NewSchema(nil, nil), nil, n)) {
					return nil
				}
			}
			return nil
		}, func(r arrow.Record, err error) bool {
			require.NoError(t, err)
			got = append(got, r.NumRows())
			return true
		})
		require.Equal(t, []int64{1, 2, 2, 3, 3, 3, 5, 6, 6, 7, 7, 7, 9}, got)
	}
}
