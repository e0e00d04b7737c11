package scan

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Panicked says whether an error is a panic that was caught.
func Panicked(err error) bool {
	var p *panicError
	return errors.As(err, &p)
}

// LimitLeafBytes bounds what one column of a batch may take.
func LimitLeafBytes(opt *Options, n int) { opt.leafBytes = n }

// JulianToGregorian is exported for tests.
var JulianToGregorian = julianToGregorian

// FromMeta makes a file of a footer alone.
func FromMeta(m *footer.Meta) *File {
	root, leaves, err := m.Tree()
	if err != nil {
		panic(err)
	}
	return &File{foot: &footer.File{Meta: m, Root: root, Leaves: leaves}, key: "part-1.parquet", old: calendarOf(m.KeyValue)}
}

// Less compares values of package expr.
var Less = less

// ValueAt gives a value of an array as package expr has it.
func ValueAt(t schema.Type, a arrow.Array, i int) any {
	d := a.Data()
	switch x := a.(type) {
	case *array.Boolean:
		return x.Value(i)
	case *array.String:
		return x.Value(i)
	case *array.Binary:
		return x.Value(i)
	}
	w := a.DataType().(arrow.FixedWidthDataType).Bytes()
	v, _ := goValue(t, d.Buffers()[1].Bytes()[(d.Offset()+i)*w:])
	return v
}
