package scan

import (
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Range gives what the footer's statistics prove about a column of one row
// group; ok is false when they prove nothing, not even the number of nulls.
func (f *File) Range(field *schema.Field, rowGroup int) (r expr.Range, ok bool) {
	return expr.Range{}, false
}
