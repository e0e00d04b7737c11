package deltaio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// partitionRows are the rows of a batch that belong to one partition.
type partitionRows struct {
	values map[string]*string // by physical name
	runs   []run
}

// splitByPartition groups rows by partition values, in order of appearance.
func (s *Snapshot) splitByPartition(rec arrow.Record) ([]partitionRows, error) {
	n := int(rec.NumRows())
	if len(s.partition) == 0 {
		return []partitionRows{{values: map[string]*string{}, runs: []run{{0, n}}}}, nil
	}
	p := partitioner{physical: s.physicalPartition(), at: map[string]int{}}
	for _, name := range s.partition {
		f, _ := s.schema.Field(name)
		p.names = append(p.names, f.Name)
		p.cols = append(p.cols, newCoder(f.Type, rec.Column(rec.Schema().FieldIndices(f.Name)[0])))
	}
	for row := range n {
		group, err := p.group(row)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
		g := &p.out[group]
		if k := len(g.runs); k > 0 && g.runs[k-1].hi == row {
			g.runs[k-1].hi++
		} else {
			g.runs = append(g.runs, run{row, row + 1})
		}
	}
	return p.out, nil
}

type partitioner struct {
	names, physical []string
	cols            []*coder
	at              map[string]int // codes to index of out
	out             []partitionRows
	key             []byte
}

// group finds the partition of a row, or opens it.
func (p *partitioner) group(row int) (int, error) {
	p.key = p.key[:0]
	for i, c := range p.cols {
		code, err := c.code(row)
		if err != nil {
			return 0, fmt.Errorf("partition column %s: %w", p.names[i], err)
		}
		p.key = binary.LittleEndian.AppendUint32(p.key, uint32(code))
	}
	if g, ok := p.at[string(p.key)]; ok {
		return g, nil
	}
	values := make(map[string]*string, len(p.cols))
	for i, c := range p.cols {
		code, _ := c.code(row) // it gave one a moment ago
		values[p.physical[i]] = c.texts[code]
	}
	p.at[string(p.key)] = len(p.out)
	p.out = append(p.out, partitionRows{values: values})
	return len(p.out) - 1, nil
}

// coder numbers the distinct values of a partition column, so that each is
// rendered once a batch.
type coder struct {
	code  func(row int) (int, error)
	texts []*string // by code
}

func newCoder(t schema.Type, col arrow.Array) *coder {
	c := &coder{}
	render := func(row int) (int, error) {
		text, err := partitionText(t, col, row)
		c.texts = append(c.texts, text)
		return len(c.texts) - 1, err
	}
	switch a := col.(type) {
	case *array.String:
		c.code = coded(col, func(row int) string { return a.Value(row) }, render)
	case *array.Date32:
		c.code = coded(col, func(row int) arrow.Date32 { return a.Value(row) }, render)
	case *array.Int32:
		c.code = coded(col, func(row int) int32 { return a.Value(row) }, render)
	case *array.Int64:
		c.code = coded(col, func(row int) int64 { return a.Value(row) }, render)
	default: // rare: by the text itself
		c.code = coded(col, func(row int) string {
			text, err := partitionText(t, col, row)
			if err != nil || text == nil {
				return "" // render says it again
			}
			return *text
		}, render)
	}
	return c
}

func coded[T comparable](col arrow.Array, value func(row int) T, render func(row int) (int, error)) func(row int) (int, error) {
	known, null := map[T]int{}, -1
	return func(row int) (code int, err error) {
		if col.IsNull(row) {
			if null < 0 {
				null, err = render(row)
			}
			return null, err
		}
		v := value(row)
		code, ok := known[v]
		if ok {
			return code, nil
		}
		if code, err = render(row); err != nil {
			return 0, err
		}
		known[v] = code
		return code, nil
	}
}

// partitionText writes a partition value as the protocol does; nil for null. A
// value that the log would give back differently is refused: the empty string
// (Delta reads it as null), text that is no UTF-8.
func partitionText(t schema.Type, col arrow.Array, row int) (*string, error) {
	if col.IsNull(row) {
		return nil, nil
	}
	v, err := goValue(t, col, row)
	if err != nil {
		return nil, err
	}
	text := strings.Clone(renderPartition(t, v)) // the batch's memory may be used again
	if text == "" {
		return nil, errors.New("the empty string cannot be a partition value: Delta reads it back as null")
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%q is no UTF-8, and the log holds nothing else", text)
	}
	back, err := scan.ParsePartitionValue(t, &text)
	if err != nil {
		return nil, err
	}
	if !sameValue(v, back) {
		return nil, fmt.Errorf("%s is no partition value that can be read back", text)
	}
	return &text, nil
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case float64:
		y, ok := b.(float64)
		return ok && (math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y))
	}
	return a == b
}

// goValue takes a value out of an array, in the Go types of package expr.
func goValue(t schema.Type, col arrow.Array, row int) (any, error) {
	switch c := col.(type) {
	case *array.Boolean:
		return c.Value(row), nil
	case *array.Int8:
		return int64(c.Value(row)), nil
	case *array.Int16:
		return int64(c.Value(row)), nil
	case *array.Int32:
		return int64(c.Value(row)), nil
	case *array.Int64:
		return c.Value(row), nil
	case *array.Float32:
		return float64(c.Value(row)), nil
	case *array.Float64:
		return c.Value(row), nil
	case *array.String:
		return c.Value(row), nil
	case *array.Binary:
		return c.Value(row), nil
	case *array.Date32:
		return expr.Date(c.Value(row)), nil
	case *array.Timestamp:
		return expr.Timestamp(c.Value(row)), nil
	case *array.Decimal128:
		return expr.Decimal{V: c.Value(row), Scale: t.(schema.Decimal).Scale}, nil
	}
	return nil, fmt.Errorf("type %s cannot partition a table", t)
}

func renderPartition(t schema.Type, v any) string {
	switch x := v.(type) {
	case string:
		return x
	case []byte:
		return string(x)
	case float64:
		if t == schema.Float {
			return floatText(x, 32)
		}
		return floatText(x, 64)
	case expr.Date:
		return calendarText(time.Unix(int64(x)*86400, 0).UTC(), "-01-02")
	case expr.Timestamp:
		at := time.UnixMicro(int64(x)).UTC()
		if t == schema.TimestampNTZ {
			return calendarText(at, "-01-02 15:04:05.000000")
		}
		return calendarText(at, "-01-02T15:04:05.000000Z")
	case expr.Decimal:
		return decimalText(x.V.BigInt(), x.Scale)
	}
	return fmt.Sprint(v)
}

// calendarText writes the year with at least four digits and its sign, and the
// rest by the layout.
func calendarText(at time.Time, layout string) string {
	y := at.Year()
	switch {
	case y < 0:
		return fmt.Sprintf("-%04d", -y) + at.Format(layout)
	case y > 9999:
		return fmt.Sprintf("+%d", y) + at.Format(layout)
	}
	return fmt.Sprintf("%04d", y) + at.Format(layout)
}

// floatText is Java's form, near enough for every reader: digits, an exponent,
// NaN, Infinity.
func floatText(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return strings.Replace(strings.ToUpper(s), "E+", "E", 1)
}

func decimalText(unscaled *big.Int, scale int) string {
	if scale == 0 {
		return unscaled.String()
	}
	digits := new(big.Int).Abs(unscaled).String()
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	s := digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	if unscaled.Sign() < 0 {
		s = "-" + s
	}
	return s
}
