package sample

import (
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// batchRows is how many rows a record holds at most.
const batchRows = 64 << 10

// Batches yields n rows as records of a schema; row appends the row i to the
// builders, one a column.
func Batches(s *schema.Struct, n int, row func(b *array.RecordBuilder, i int)) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		sc, err := schema.ArrowSchema(s)
		if err != nil {
			yield(nil, err)
			return
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
		defer b.Release()
		for i := range n {
			row(b, i)
			if b.Field(0).Len() < batchRows && i < n-1 {
				continue
			}
			rec := b.NewRecord()
			more := yield(rec, nil)
			rec.Release()
			if !more {
				return
			}
		}
	}
}
