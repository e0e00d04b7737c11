package partitions

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// Value is a value of a column, as text: numbers with all their digits, days as
// yyyy-MM-dd, timestamps as RFC 3339 with microseconds.
type Value struct {
	Number bool   `json:"number,omitempty"`
	Text   string `json:"text"`
}

const stampLayout = "2006-01-02T15:04:05.000000"

// valueOf turns a value of package expr into text.
func valueOf(t schema.Type, v any) (Value, bool) {
	switch x := v.(type) {
	case int64:
		return Value{Number: true, Text: strconv.FormatInt(x, 10)}, true
	case float64:
		return Value{Number: true, Text: strconv.FormatFloat(x, 'f', -1, 64)}, true
	case expr.Decimal:
		return Value{Number: true, Text: x.V.ToString(int32(x.Scale))}, true
	case string:
		return Value{Text: x}, true
	case bool:
		return Value{Text: strconv.FormatBool(x)}, true
	case expr.Date:
		return Value{Text: dayOf(x).Format(time.DateOnly)}, true
	case expr.Timestamp:
		text := time.UnixMicro(int64(x)).UTC().Format(stampLayout)
		if t == schema.Timestamp {
			text += "Z"
		}
		return Value{Text: text}, true
	}
	return Value{}, false
}

func dayOf(d expr.Date) time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// compare orders two values of one column.
func (v Value) compare(w Value) int {
	if v.Number && w.Number {
		if a, ok := new(big.Rat).SetString(v.Text); ok {
			if b, ok := new(big.Rat).SetString(w.Text); ok {
				return a.Cmp(b)
			}
		}
	}
	return strings.Compare(v.Text, w.Text)
}

// against compares a value with a bound; an error where they are of two kinds.
func (v Value) against(b spec.Bound) (int, error) {
	if n, ok := b.Number(); ok && v.Number {
		x, ok := new(big.Rat).SetString(v.Text)
		if !ok {
			return 0, fmt.Errorf("%s is no number", v.Text)
		}
		return x.Cmp(n), nil
	}
	if v.Number {
		return 0, fmt.Errorf("the value %s is a number, the limit %q is not", v.Text, string(b))
	}
	return strings.Compare(v.Text, string(b)), nil
}

// ratio is a number exactly, from a float.
func ratio(f float64) *big.Rat {
	r := new(big.Rat)
	if r.SetFloat64(f) == nil {
		return nil
	}
	return r
}

// holds says whether a number meets a rule's limit, and words the limit.
func holds(r spec.PartitionRule, cmp func(spec.Bound) (int, error)) (ok bool, err error) {
	b := r.Bounds()[0]
	c := make([]int, len(b.Values))
	for i, v := range b.Values {
		if c[i], err = cmp(v); err != nil {
			return false, err
		}
	}
	switch b.Key {
	case "must_be":
		return c[0] == 0, nil
	case "must_not_be":
		return c[0] != 0, nil
	case "must_be_greater_than":
		return c[0] > 0, nil
	case "must_be_at_least":
		return c[0] >= 0, nil
	case "must_be_less_than":
		return c[0] < 0, nil
	case "must_be_at_most":
		return c[0] <= 0, nil
	}
	return c[0] >= 0 && c[1] <= 0, nil
}

// numberHolds is holds of a plain number.
func numberHolds(r spec.PartitionRule, n *big.Rat) (bool, error) {
	return holds(r, func(b spec.Bound) (int, error) {
		limit, ok := b.Number()
		if !ok {
			return 0, fmt.Errorf("the limit %q is no number", string(b))
		}
		return n.Cmp(limit), nil
	})
}

// Limit words what a rule asks for.
func Limit(r spec.PartitionRule) string {
	b := r.Bounds()
	if len(b) == 0 {
		return ""
	}
	words := strings.ReplaceAll(b[0].Key, "_", " ")
	if len(b[0].Values) == 2 {
		return fmt.Sprintf("%s %s and %s", words, b[0].Values[0], b[0].Values[1])
	}
	return words + " " + string(b[0].Values[0])
}

// Title names a rule for people.
func Title(r spec.PartitionRule) string {
	name := string(r.Metric)
	if r.Column != "" {
		name += " of " + r.Column
	}
	if r.Per != spec.PerTable {
		name += " per " + string(r.Per)
	}
	if r.Baseline != "" {
		name += " against " + r.Baseline
	}
	return name + " " + Limit(r)
}
