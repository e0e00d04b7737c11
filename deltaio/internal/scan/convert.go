package scan

import (
	"fmt"
	"math"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// convert appends the wanted form of all physical values of src to dst.
type convert func(src, dst *page.Vector) error

// conversion picks how values of the Parquet column n become values of the
// Delta primitive or decimal t, and how wide those are (0: variable). A nil
// convert means as they are. Allowed are the column's own type, Delta's type
// widening, unsigned integers in the signed type that holds them, and nothing
// else: what Spark refuses to read is refused here.
func conversion(t schema.Type, n *footer.Node, old calendar) (convert, int, error) {
	if d, ok := t.(schema.Decimal); ok {
		c, err := toDecimal(d, n)
		return c, 16, err
	}
	no := func() (convert, int, error) {
		return nil, 0, fmt.Errorf("%w: the file has %s, which is not read as %s", ErrUnsupported, describe(n), t)
	}
	p, ok := t.(schema.Primitive)
	if !ok {
		return no()
	}
	switch p {
	case schema.Boolean:
		if n.Type == footer.Boolean {
			return nil, 1, nil
		}
	case schema.Byte, schema.Short, schema.Integer, schema.Long:
		return toInteger(p, n)
	case schema.Float:
		if n.Type == footer.Float {
			return nil, 4, nil
		}
	case schema.Double:
		return toDouble(n)
	case schema.String:
		if n.Type == footer.ByteArray && textual(n.Logical.Kind) {
			return nil, 0, nil
		}
	case schema.Binary:
		if n.Type == footer.ByteArray && n.Logical.Kind != footer.KindDecimal {
			return nil, 0, nil
		}
		if n.Type == footer.FixedLenByteArray && n.Logical.Kind == footer.KindNone {
			return fixedToBinary, 0, nil
		}
	case schema.Date:
		if n.Type == footer.Int32 && n.Logical.Kind == footer.KindDate {
			return old.dates(), 4, nil
		}
	case schema.Timestamp, schema.TimestampNTZ:
		return toTimestamp(p, n, old)
	}
	return no()
}

func describe(n *footer.Node) string {
	l, s := n.Logical, n.Type.String()
	switch l.Kind {
	case footer.KindNone:
	case footer.KindDecimal:
		s += fmt.Sprintf(" (decimal(%d,%d))", l.Precision, l.Scale)
	case footer.KindInt:
		s += fmt.Sprintf(" (%d-bit integer, signed %t)", l.Bits, l.Signed)
	case footer.KindTimestamp:
		s += fmt.Sprintf(" (timestamp, UTC %t, unit %d)", l.UTC, l.Unit)
	default:
		s += fmt.Sprintf(" (annotation %d)", l.Kind)
	}
	return s
}

func textual(k footer.Kind) bool {
	switch k {
	case footer.KindNone, footer.KindString, footer.KindEnum, footer.KindJSON, footer.KindUnknown:
		return true
	}
	return false
}

// plainInteger says whether a column holds integers (not dates, times,
// decimals), and whether they are unsigned.
func plainInteger(n *footer.Node) (ok, unsigned bool) {
	if n.Type != footer.Int32 && n.Type != footer.Int64 {
		return false, false
	}
	switch n.Logical.Kind {
	case footer.KindNone, footer.KindUnknown:
		return true, false
	case footer.KindInt:
		return true, !n.Logical.Signed
	}
	return false, false
}

func toInteger(p schema.Primitive, n *footer.Node) (convert, int, error) {
	refused := fmt.Errorf("%w: the file has %s, which is not read as %s", ErrUnsupported, describe(n), p)
	ok, unsigned := plainInteger(n)
	if !ok || n.Type == footer.Int64 && (unsigned || p != schema.Long) {
		return nil, 0, refused
	}
	if n.Type == footer.Int64 {
		return nil, 8, nil
	}
	switch {
	case p == schema.Long && unsigned:
		return unsignedToLong, 8, nil
	case p == schema.Long:
		return intToLong, 8, nil
	case unsigned && n.Logical.Bits >= 32:
		return nil, 0, refused
	case p == schema.Integer:
		return nil, 4, nil
	case p == schema.Short:
		return intToShort, 2, nil
	}
	return intToByte, 1, nil
}

// grown lengthens dst by n values of its width and gives them.
func grown(dst *page.Vector, n int) []byte {
	at := len(dst.Data)
	if need := at + n*dst.Width; need <= cap(dst.Data) {
		dst.Data = dst.Data[:need]
	} else {
		bigger := page.Aligned(need)
		copy(bigger, dst.Data)
		dst.Data = bigger
	}
	return dst.Data[at:]
}

func intToLong(src, dst *page.Vector) error {
	out := page.View[int64](grown(dst, src.Len()))
	for i, x := range page.View[int32](src.Data) {
		out[i] = int64(x)
	}
	return nil
}

func unsignedToLong(src, dst *page.Vector) error {
	out := page.View[int64](grown(dst, src.Len()))
	for i, x := range page.View[uint32](src.Data) {
		out[i] = int64(x)
	}
	return nil
}

func intToShort(src, dst *page.Vector) error {
	in := page.View[int32](src.Data)
	out := grown(dst, len(in))
	for i, x := range in {
		if x != int32(int16(x)) {
			return fmt.Errorf("%w: value %d of a short", ErrCorrupt, x)
		}
		out[2*i], out[2*i+1] = byte(x), byte(x>>8)
	}
	return nil
}

func intToByte(src, dst *page.Vector) error {
	in := page.View[int32](src.Data)
	out := grown(dst, len(in))
	for i, x := range in {
		if x != int32(int8(x)) {
			return fmt.Errorf("%w: value %d of a byte", ErrCorrupt, x)
		}
		out[i] = byte(x)
	}
	return nil
}

func toDouble(n *footer.Node) (convert, int, error) {
	ok, unsigned := plainInteger(n)
	switch {
	case n.Type == footer.Double:
		return nil, 8, nil
	case n.Type == footer.Float:
		return floatToDouble, 8, nil
	case n.Type == footer.Int32 && ok && !unsigned:
		return intToDouble, 8, nil
	}
	return nil, 0, fmt.Errorf("%w: the file has %s, which is not read as double", ErrUnsupported, describe(n))
}

func floatToDouble(src, dst *page.Vector) error {
	out := page.View[float64](grown(dst, src.Len()))
	for i, x := range page.View[float32](src.Data) {
		out[i] = float64(x)
	}
	return nil
}

func intToDouble(src, dst *page.Vector) error {
	out := page.View[float64](grown(dst, src.Len()))
	for i, x := range page.View[int32](src.Data) {
		out[i] = float64(x)
	}
	return nil
}

// fixedToBinary gives values of fixed length the offsets of a binary column.
func fixedToBinary(src, dst *page.Vector) error {
	n := src.Len()
	if len(src.Data) > math.MaxInt32 {
		return page.ErrTooLarge
	}
	dst.Data = append(dst.Data, src.Data...)
	for i := 1; i <= n; i++ {
		dst.Offsets = append(dst.Offsets, int32(i*src.Width))
	}
	return nil
}
