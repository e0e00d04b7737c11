package deltaio

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

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
	render := make([]func(int) (*string, error), len(s.partition))
	for i, name := range s.partition {
		f, _ := s.schema.Field(name)
		render[i] = partitionText(f, rec.Column(rec.Schema().FieldIndices(f.Name)[0]))
	}
	physical := s.physicalPartition()
	at := map[string]int{}
	var out []partitionRows
	var id strings.Builder
	last, lastKey := -1, ""
	for row := range n {
		id.Reset()
		vals := make([]*string, len(render))
		for i, r := range render {
			v, err := r(row)
			if err != nil {
				return nil, fmt.Errorf("partition column %s: row %d: %w", s.partition[i], row, err)
			}
			if vals[i] = v; v != nil {
				id.WriteString(strconv.Quote(*v))
			}
			id.WriteByte(',')
		}
		g := last
		if key := id.String(); last < 0 || key != lastKey {
			var known bool
			if g, known = at[key]; !known {
				g = len(out)
				at[key] = g
				values := make(map[string]*string, len(vals))
				for i, v := range vals {
					values[physical[i]] = v
				}
				out = append(out, partitionRows{values: values})
			}
			last, lastKey = g, key
		}
		p := &out[g]
		if k := len(p.runs); k > 0 && p.runs[k-1].hi == row {
			p.runs[k-1].hi++
		} else {
			p.runs = append(p.runs, run{row, row + 1})
		}
	}
	return out, nil
}

// partitionText renders partition values as the protocol writes them. An empty
// string (or binary) is refused: the log would read it back as null.
func partitionText(f *schema.Field, col arrow.Array) func(int) (*string, error) {
	text := partitionValueText(f.Type, col)
	return func(row int) (*string, error) {
		if col.IsNull(row) {
			return nil, nil
		}
		s, err := text(row)
		if err == nil && s == "" {
			err = fmt.Errorf("the empty string cannot be a partition value: Delta reads it back as null")
		}
		return &s, err
	}
}

func partitionValueText(t schema.Type, col arrow.Array) func(int) (string, error) {
	switch c := col.(type) {
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Boolean, *array.String:
		return func(row int) (string, error) { return col.ValueStr(row), nil }
	case *array.Binary:
		return func(row int) (string, error) { return binaryText(c.Value(row)) }
	case *array.Float32:
		return func(row int) (string, error) { return floatText(float64(c.Value(row)), 32), nil }
	case *array.Float64:
		return func(row int) (string, error) { return floatText(c.Value(row), 64), nil }
	case *array.Date32:
		return func(row int) (string, error) {
			return yearsFour(time.Unix(int64(c.Value(row))*86400, 0).UTC(), time.DateOnly)
		}
	case *array.Timestamp:
		layout := "2006-01-02T15:04:05.000000Z"
		if t == schema.TimestampNTZ {
			layout = "2006-01-02 15:04:05.000000"
		}
		return func(row int) (string, error) { return yearsFour(time.UnixMicro(int64(c.Value(row))).UTC(), layout) }
	case *array.Decimal128:
		scale := t.(schema.Decimal).Scale
		return func(row int) (string, error) { return decimalText(c.Value(row).BigInt(), scale), nil }
	}
	return func(int) (string, error) { return "", fmt.Errorf("type %s cannot partition a table", t) }
}

// yearsFour refuses years that the four-digit form cannot hold.
func yearsFour(at time.Time, layout string) (string, error) {
	if y := at.Year(); y < 0 || y > 9999 {
		return "", fmt.Errorf("year %d has no four-digit form", y)
	}
	return at.Format(layout), nil
}

// binaryText keeps bytes as characters, which JSON can carry only for ASCII.
func binaryText(b []byte) (string, error) {
	for _, c := range b {
		if c >= 0x80 {
			return "", fmt.Errorf("binary partition values beyond ASCII are not supported")
		}
	}
	return string(b), nil
}

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
