package scan

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Which statistics of a footer are believed:
//
//   - null counts that are stated (a count left out is not zero), within the
//     number of rows; a required column has none;
//   - min_value and max_value where the footer states that the column has the
//     order of its type (ColumnOrder), and the older min and max for signed
//     integers, dates and timestamps only: older writers compared bytes as
//     signed, and parquet-mr before 1.8 mixed up binary bounds altogether;
//   - bounds of floats, and of decimals in bytes, only from writers known to
//     compare them rightly: parquet-go lets NaN spoil the one, and inverts the
//     other where signs are mixed;
//   - no bound of INT96 (no order is defined), none of dates and timestamps in
//     Spark's legacy calendar, none that is NaN, none of a chunk of nulls, and
//     neither of two bounds that contradict each other;
//   - a bound of bytes counts as exact only where the footer says so: writers
//     cut long values off.
//
// Bounds of floats say nothing of NaN: writers leave it out.

// Range gives what the footer's statistics prove about a top-level column of
// one row group, found by the field's physical name; ok is false when they
// prove nothing. A column that the file lacks is all null.
func (f *File) Range(field *schema.Field, rowGroup int) (r expr.Range, ok bool) {
	opt := Options{Mapped: field.PhysicalName() != field.Name}
	return f.rangeOf(&matcher{opt: &opt, old: f.old}, field, rowGroup)
}

// Ranges gives Range by logical column name for the fields, mapping and
// constants of opt, as expr's pruning asks for it.
func (f *File) Ranges(opt Options, rowGroup int) func(column string) (expr.Range, bool) {
	m := &matcher{opt: &opt, old: f.old}
	return func(column string) (expr.Range, bool) {
		field, ok := opt.Schema.Field(column)
		if !ok {
			return expr.Range{}, false
		}
		return f.rangeOf(m, field, rowGroup)
	}
}

func (f *File) rangeOf(m *matcher, field *schema.Field, rowGroup int) (r expr.Range, ok bool) {
	var err error
	defer func() {
		if err != nil { // a panic on hostile statistics: they prove nothing
			r, ok = expr.Range{}, false
		}
	}()
	defer recoverTo(&err, func(e error) error { return e })
	if rowGroup < 0 || rowGroup >= len(f.foot.RowGroups) {
		return expr.Range{}, false
	}
	g := &f.foot.RowGroups[rowGroup]
	r = expr.Range{NumRows: g.NumRows}
	if value, isConst, err := m.constant(field); isConst {
		return constantRange(r, value), err == nil
	}
	if m.opt.ByFieldID && !f.hasFieldIDs() {
		return r, false
	}
	n, err := m.find(f.foot.Root, field)
	switch {
	case err != nil:
		return r, false
	case n == nil || field.Type == schema.Void:
		r.NullCount, r.HasNullCount = r.NumRows, true
		return r, true
	case n.Leaf < 0 || n.MaxRep > 0:
		return r, false
	}
	f.nullCount(&r, n, g.Chunks[n.Leaf].Stats)
	f.bounds(&r, n, field.Type, g.Chunks[n.Leaf].Stats)
	return r, r.HasNullCount || r.HasMin || r.HasMax
}

func constantRange(r expr.Range, value any) expr.Range {
	r.HasNullCount = true
	if value == nil {
		r.NullCount = r.NumRows
		return r
	}
	r.Min, r.Max, r.HasMin, r.HasMax, r.Exact = value, value, true, true, true
	return r
}

func (f *File) nullCount(r *expr.Range, n *footer.Node, s *footer.Statistics) {
	switch {
	case n.MaxDef == 0:
		r.HasNullCount = true
	case s != nil && s.HasNullCount && s.NullCount >= 0 && s.NullCount <= r.NumRows:
		r.NullCount, r.HasNullCount = s.NullCount, true
	}
}

// bounds fills Min and Max.
func (f *File) bounds(r *expr.Range, n *footer.Node, t schema.Type, s *footer.Statistics) {
	if s == nil || !f.boundsTrusted(n, t) || r.HasNullCount && r.NullCount == r.NumRows {
		return
	}
	low, high := s.MinValue, s.MaxValue
	if !f.typeOrdered(n) {
		low, high = nil, nil
	}
	if low == nil && high == nil && signedOrder(n) {
		low, high = s.Min, s.Max
	}
	convert, width, err := conversion(t, n, calendar{})
	if err != nil {
		return
	}
	r.Min, r.HasMin = boundValue(n, t, convert, width, low)
	r.Max, r.HasMax = boundValue(n, t, convert, width, high)
	if r.HasMin && r.HasMax && less(r.Max, r.Min) {
		r.Min, r.Max, r.HasMin, r.HasMax = nil, nil, false, false
	}
	inexact := n.Type == footer.ByteArray
	r.MinInexact = r.HasMin && (inexact && !s.HasMinExact || s.HasMinExact && !s.MinExact)
	r.MaxInexact = r.HasMax && (inexact && !s.HasMaxExact || s.HasMaxExact && !s.MaxExact)
}

func (f *File) typeOrdered(n *footer.Node) bool {
	return len(f.foot.TypeOrdered) == len(f.foot.Leaves) && f.foot.TypeOrdered[n.Leaf]
}

func (f *File) boundsTrusted(n *footer.Node, t schema.Type) bool {
	switch {
	case n.Type == footer.Int96:
		return false
	case f.old.datetime && (n.Logical.Kind == footer.KindDate || n.Logical.Kind == footer.KindTimestamp):
		return false
	}
	_, decimal := t.(schema.Decimal)
	switch {
	case n.Type == footer.Float || n.Type == footer.Double:
		return f.boundsFloats()
	case decimal && (n.Type == footer.FixedLenByteArray || n.Type == footer.ByteArray):
		return f.writtenBy(decimalWriters)
	}
	return true
}

// decimalWriters, by the start of created_by, are known to order decimals in
// bytes as signed numbers.
var decimalWriters = []string{"parquet-mr version ", "parquet-mr-trino version ", "parquet-cpp-arrow version ", "lakewarden version "}

// floatWriters are known to leave NaN out of bounds, from a major version on.
// This project's own files count from the version on that carries such bounds
// over from these writers alone, when it copies chunks as bytes.
var floatWriters = map[string]int{"parquet-mr": 0, "parquet-cpp-arrow": 0, "parquet-rs": 5, "lakewarden": 2}

// boundsFloats reads created_by, "NAME version MAJOR.MINOR.PATCH (build X)".
func (f *File) boundsFloats() bool {
	name, version, ok := strings.Cut(f.foot.CreatedBy, " version ")
	least, known := floatWriters[name]
	if !ok || !known {
		return false
	}
	if i := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		version = version[:i]
	}
	major, err := strconv.Atoi(version)
	return err == nil && major >= least
}

func (f *File) writtenBy(writers []string) bool {
	return slices.ContainsFunc(writers, func(w string) bool { return strings.HasPrefix(f.foot.CreatedBy, w) })
}

// signedOrder says whether the deprecated bounds of the column can be read:
// those of numbers that every writer compared in the same way.
func signedOrder(n *footer.Node) bool {
	if n.Type != footer.Int32 && n.Type != footer.Int64 {
		return false
	}
	return n.Logical.Kind != footer.KindInt || n.Logical.Signed
}

// boundValue decodes a bound as a Go value of package expr, by the same
// conversion that rows take: all of them keep the order.
func boundValue(n *footer.Node, t schema.Type, c convert, width int, b []byte) (any, bool) {
	if b == nil || n.Width() > 0 && len(b) != n.Width() {
		return nil, false
	}
	v := page.Vector{Width: n.Width(), Data: append(page.Aligned(len(b))[:0], b...), Offsets: []int32{0, int32(len(b))}}
	if c != nil {
		var out page.Vector
		out.Reset(width, 1, len(b))
		if c(&v, &out) != nil {
			return nil, false
		}
		v = out
	}
	return goValue(t, v.Data)
}

// goValue reads one value in the layout of an Arrow buffer.
func goValue(t schema.Type, b []byte) (any, bool) {
	word := func() int64 { return int64(binary.LittleEndian.Uint64(b)) }
	if d, ok := t.(schema.Decimal); ok {
		hi := int64(binary.LittleEndian.Uint64(b[8:]))
		return expr.Decimal{V: decimal128.New(hi, uint64(word())), Scale: d.Scale}, true
	}
	switch t {
	case schema.Boolean:
		return b[0] != 0, b[0] <= 1
	case schema.Byte:
		return int64(int8(b[0])), true
	case schema.Short:
		return int64(int16(binary.LittleEndian.Uint16(b))), true
	case schema.Integer:
		return int64(int32(binary.LittleEndian.Uint32(b))), true
	case schema.Long:
		return word(), true
	case schema.Float:
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		return v, v == v
	case schema.Double:
		v := math.Float64frombits(uint64(word()))
		return v, v == v
	case schema.String:
		return string(b), true
	case schema.Binary:
		return append([]byte{}, b...), true
	case schema.Date:
		return expr.Date(int32(binary.LittleEndian.Uint32(b))), true
	case schema.Timestamp, schema.TimestampNTZ:
		return expr.Timestamp(word()), true
	}
	return nil, false
}

// less compares two Go values of one type.
func less(a, b any) bool {
	switch x := a.(type) {
	case bool:
		return !x && b.(bool)
	case int64:
		return x < b.(int64)
	case float64:
		return x < b.(float64)
	case string:
		return x < b.(string)
	case []byte:
		return string(x) < string(b.([]byte))
	case expr.Date:
		return x < b.(expr.Date)
	case expr.Timestamp:
		return x < b.(expr.Timestamp)
	case expr.Decimal:
		return x.V.Less(b.(expr.Decimal).V)
	}
	return true
}
