package log

import (
	"math/big"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A textNode reads a struct column of typed values (stats_parsed,
// partitionValues_parsed) as the text that stands for it elsewhere in the log.
type textNode struct {
	r        *rowReader
	name     string
	def      int // definition level from which on the struct is there
	leaf     *leaf
	type_    textType
	children []*textNode
}

// bindText finds the column; nil when the file has none. Members that are lists
// or maps have no such text and are left out.
func bindText(g group, name string) *textNode {
	col := g.child(name)
	if col == nil || col.Leaf() || col.Repeated() {
		return nil
	}
	return bindTextNode(g.r, col)
}

func bindTextNode(r *rowReader, col *parquet.Column) *textNode {
	n := &textNode{r: r, name: col.Name(), def: col.MaxDefinitionLevel()}
	if col.Leaf() {
		n.leaf, n.type_ = r.leaf(col), textTypeOf(col.Type())
		return n
	}
	for _, c := range col.Columns() {
		if c.Repeated() {
			continue
		}
		if child := bindTextNode(r, c); child.leaf != nil || len(child.children) > 0 {
			n.children = append(n.children, child)
		}
	}
	return n
}

// json gives the JSON object of the current row; "" when it is null.
func (n *textNode) json() string {
	if n == nil || !n.there() {
		return ""
	}
	return string(n.append(nil))
}

func (n *textNode) there() bool {
	first := n
	for first.leaf == nil {
		if len(first.children) == 0 {
			return false
		}
		first = first.children[0]
	}
	v := n.r.values(first.leaf)
	return len(v) == 1 && v[0].DefinitionLevel() >= n.def
}

func (n *textNode) append(b []byte) []byte {
	o := openObject(b)
	for _, c := range n.children {
		if c.leaf == nil {
			if c.there() {
				o.key(c.name)
				o.b = c.append(o.b)
			}
			continue
		}
		if v, ok := n.r.value(c.leaf); ok && c.type_.known() {
			o.key(c.name)
			o.b = c.type_.json(o.b, v)
		}
	}
	return o.close()
}

// partitionValues gives the struct of the current row as a map of strings.
func (n *textNode) partitionValues() map[string]*string {
	m := map[string]*string{}
	if n == nil {
		return m
	}
	for _, c := range n.children {
		if c.leaf == nil || c.leaf.kind == parquet.FixedLenByteArray && !c.type_.decimal {
			continue
		}
		m[c.name] = nil
		if v, ok := n.r.value(c.leaf); ok {
			s := c.type_.partition(v)
			m[c.name] = &s
		}
	}
	return m
}

// A textType is what the column's type says of the text of its values.
type textType struct {
	kind      parquet.Kind
	text      bool
	date      bool
	timestamp bool
	utc       bool  // the timestamp is an instant
	perSecond int64 // units of the timestamp
	decimal   bool
	scale     int
}

func textTypeOf(t parquet.Type) textType {
	out := textType{kind: t.Kind()}
	if out.kind == parquet.Int96 {
		out.timestamp, out.utc = true, true
	}
	if lt := t.LogicalType(); lt != nil && lt.Value != nil {
		out.logical(lt.Value)
	} else if ct := t.ConvertedType(); ct != nil {
		out.converted(*ct)
	}
	return out
}

func (t *textType) logical(v format.LogicalTypeValue) {
	switch x := v.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		t.text = true
	case *format.DateType:
		t.date = true
	case *format.DecimalType:
		t.decimal, t.scale = true, int(x.Scale)
	case *format.TimestampType:
		t.timestamp, t.utc = true, x.IsAdjustedToUTC
		switch x.Unit.Value.(type) {
		case *format.MilliSeconds:
			t.perSecond = 1e3
		case *format.NanoSeconds:
			t.perSecond = 1e9
		default:
			t.perSecond = 1e6
		}
	}
}

func (t *textType) converted(c deprecated.ConvertedType) {
	switch c {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		t.text = true
	case deprecated.Date:
		t.date = true
	case deprecated.TimestampMillis:
		t.timestamp, t.utc, t.perSecond = true, true, 1e3
	case deprecated.TimestampMicros:
		t.timestamp, t.utc, t.perSecond = true, true, 1e6
	}
}

// known says whether a value of the type has a text in statistics. Bytes that
// are no text have none.
func (t *textType) known() bool {
	switch t.kind {
	case parquet.ByteArray:
		return t.text || t.decimal
	case parquet.FixedLenByteArray:
		return t.decimal
	}
	return true
}

func (t *textType) json(b []byte, v parquet.Value) []byte {
	switch {
	case t.decimal:
		return append(b, t.decimalText(v)...)
	case t.date:
		return append(appendDate(append(b, '"'), int64(v.Int32())), '"')
	case t.timestamp:
		return append(appendTimestamp(append(b, '"'), t.micros(v), 'T', t.utc), '"')
	}
	switch t.kind {
	case parquet.Boolean:
		return appendBool(b, v.Boolean())
	case parquet.Int32:
		return appendInt(b, int64(v.Int32()))
	case parquet.Int64:
		return appendInt(b, v.Int64())
	case parquet.Float:
		return appendJSONFloat(b, float64(v.Float()), 32)
	case parquet.Double:
		return appendJSONFloat(b, v.Double(), 64)
	}
	return appendString(b, string(v.ByteArray()))
}

func (t *textType) partition(v parquet.Value) string {
	switch {
	case t.decimal:
		return t.decimalText(v)
	case t.date:
		return string(appendDate(nil, int64(v.Int32())))
	case t.timestamp && t.utc:
		return string(appendPartitionTime(nil, t.micros(v), 'T', true))
	case t.timestamp:
		return string(appendPartitionTime(nil, t.micros(v), ' ', false))
	}
	switch t.kind {
	case parquet.Boolean:
		return string(appendBool(nil, v.Boolean()))
	case parquet.Int32:
		return string(appendInt(nil, int64(v.Int32())))
	case parquet.Int64:
		return string(appendInt(nil, v.Int64()))
	case parquet.Float:
		return string(appendFloat(nil, float64(v.Float()), 32))
	case parquet.Double:
		return string(appendFloat(nil, v.Double(), 64))
	}
	return string(v.ByteArray())
}

func (t *textType) decimalText(v parquet.Value) string {
	n := new(big.Int)
	switch t.kind {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default:
		n = signedBig(v.ByteArray())
	}
	return decimalText(n, t.scale)
}

// signedBig reads big-endian two's complement.
func signedBig(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// bigBytes is the inverse of signedBig for a width that holds n.
func bigBytes(n *big.Int, width int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	return n.FillBytes(make([]byte, width))
}

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2440588

func (t *textType) micros(v parquet.Value) int64 {
	if t.kind == parquet.Int96 {
		x := v.Int96()
		nanos := int64(x[0]) | int64(x[1])<<32
		return (int64(int32(x[2]))-julianEpoch)*86400e6 + floorDiv(nanos, 1000)
	}
	n := v.Int64()
	switch t.perSecond {
	case 1e3:
		return n * 1000
	case 1e9:
		return floorDiv(n, 1000)
	}
	return n
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// decimalText writes an unscaled number plainly, with exactly scale decimals.
func decimalText(n *big.Int, scale int) string {
	digits := []byte(new(big.Int).Abs(n).String())
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = append(slices.Repeat([]byte{'0'}, missing), digits...)
	}
	if scale > 0 {
		digits = slices.Insert(digits, len(digits)-scale, '.')
	}
	if n.Sign() < 0 {
		digits = append([]byte{'-'}, digits...)
	}
	return string(digits)
}
