package conform

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// texts reads the values of a source column as exact text.
type texts struct {
	src arrow.Array
	str *array.String
}

func newTexts(src arrow.Array) texts {
	t := texts{src: src}
	t.str, _ = src.(*array.String)
	return t
}

// at gives row i; isText says that the source itself wrote it as text.
func (t texts) at(i int) (text string, null, isText bool) {
	switch {
	case t.src == nil || t.src.IsNull(i):
		return "", true, false
	case t.str != nil:
		return t.str.Value(i), false, true
	}
	return textOf(t.src, i), false, false
}

// textOf writes a value so that no digit is lost: numbers in decimal digits,
// dates and times by ISO 8601, bytes in Base64, everything nested as JSON.
func textOf(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Float64:
		return floatText(a.Value(i), 64)
	case *array.Float32:
		return floatText(float64(a.Value(i)), 32)
	case *array.Date32:
		return time.Unix(int64(a.Value(i))*86400, 0).UTC().Format(time.DateOnly)
	case *array.Timestamp:
		return timestampText(a, i)
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	case *array.Boolean:
		return strconv.FormatBool(a.Value(i))
	case *array.Struct, *array.List, *array.Map:
		if text, err := json.Marshal(a.GetOneForMarshal(i)); err == nil {
			return string(text)
		}
	}
	return a.ValueStr(i)
}

func floatText(v float64, bits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, bits) // no number of any form: rejected unless the type is the same
	}
	return strconv.FormatFloat(v, 'f', -1, bits)
}

func timestampText(a *array.Timestamp, i int) string {
	t := a.DataType().(*arrow.TimestampType)
	at := a.Value(i).ToTime(t.Unit).UTC()
	if t.TimeZone == "" {
		return at.Format("2006-01-02T15:04:05.999999999")
	}
	return at.Format("2006-01-02T15:04:05.999999999Z")
}
