package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// printGrid prints rows under headings as they are: no name is changed to upper
// case, no value wrapped or trimmed, as printTable does for figures of runs.
func printGrid(w io.Writer, head []string, rows [][]string) {
	t := tablewriter.NewTable(w,
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithRowAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithRowAlignment(tw.AlignLeft))
	t.Header(head)
	err := t.Bulk(rows)
	if err == nil {
		err = t.Render()
	}
	if err != nil {
		fmt.Fprintln(w, err)
	}
}

// cell makes a text safe to print: control characters, which could command a
// terminal, are escaped, and what is longer than width is cut. 0: it is not.
func cell(s string, width int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if width > 0 && n == width {
			b.WriteRune('…')
			break
		}
		if n++; r == utf8.RuneError || !unicode.IsPrint(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// orNull shows a text that may be missing.
func orNull(s *string) string {
	if s == nil {
		return "NULL"
	}
	return *s
}

// valueText is a value of a row for a table's cell: nested ones as JSON.
func valueText(t schema.Type, a arrow.Array, i int) (string, error) {
	if isNull(t, a, i) {
		return "NULL", nil
	}
	if s, ok := a.(*array.String); ok {
		return s.Value(i), nil
	}
	b, err := appendJSON(nil, t, a, i)
	if err == nil && len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1] // decimals, times and bytes need no escape
	}
	return string(b), err
}

func isNull(t schema.Type, a arrow.Array, i int) bool { return t == schema.Void || a.IsNull(i) }

// appendJSON writes a value as exact JSON: decimals, dates, times and bytes (in
// hex) are strings, since JSON numbers are read as floats; so are NaN and the
// infinities, which JSON lacks. A map with keys other than strings is a list of
// entries.
func appendJSON(b []byte, t schema.Type, a arrow.Array, i int) ([]byte, error) {
	if isNull(t, a, i) {
		return append(b, "null"...), nil
	}
	switch x := a.(type) {
	case *array.Struct:
		return appendStruct(b, t, x, i)
	case *array.Map: // before List, which it is built on
		return appendMap(b, t, x, i)
	case *array.List:
		return appendList(b, t, x, i)
	case *array.Boolean:
		return strconv.AppendBool(b, x.Value(i)), nil
	case *array.Int8:
		return strconv.AppendInt(b, int64(x.Value(i)), 10), nil
	case *array.Int16:
		return strconv.AppendInt(b, int64(x.Value(i)), 10), nil
	case *array.Int32:
		return strconv.AppendInt(b, int64(x.Value(i)), 10), nil
	case *array.Int64:
		return strconv.AppendInt(b, x.Value(i), 10), nil
	case *array.Float32:
		return appendFloat(b, float64(x.Value(i)), 32), nil
	case *array.Float64:
		return appendFloat(b, x.Value(i), 64), nil
	case *array.String:
		return appendString(b, x.Value(i))
	case *array.Binary:
		return append(hex.AppendEncode(append(b, '"'), x.Value(i)), '"'), nil
	case *array.Decimal128:
		scale := x.DataType().(*arrow.Decimal128Type).Scale
		return append(append(append(b, '"'), x.Value(i).ToString(scale)...), '"'), nil
	case *array.Date32:
		return append(time.Unix(int64(x.Value(i))*86400, 0).UTC().AppendFormat(append(b, '"'), time.DateOnly), '"'), nil
	case *array.Timestamp:
		layout := "2006-01-02T15:04:05.999999"
		if x.DataType().(*arrow.TimestampType).TimeZone != "" {
			layout += "Z07:00"
		}
		return append(time.UnixMicro(int64(x.Value(i))).UTC().AppendFormat(append(b, '"'), layout), '"'), nil
	}
	return nil, fmt.Errorf("no text for a value of %s", a.DataType())
}

func appendString(b []byte, s string) ([]byte, error) {
	var w strings.Builder
	if err := writeLine(&w, s); err != nil {
		return nil, err
	}
	return append(b, strings.TrimSuffix(w.String(), "\n")...), nil
}

func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

func appendStruct(b []byte, t schema.Type, a *array.Struct, i int) ([]byte, error) {
	members := a.DataType().(*arrow.StructType).Fields()
	b = append(b, '{')
	for f := range members {
		of := schema.Type(schema.Binary) // the members of a variant
		if s, ok := t.(*schema.Struct); ok {
			of = s.Fields[f].Type
		}
		var err error
		if b, err = appendMember(b, f, members[f].Name, of, a.Field(f), i); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendMember(b []byte, n int, name string, t schema.Type, a arrow.Array, i int) ([]byte, error) {
	if n > 0 {
		b = append(b, ',')
	}
	b, err := appendString(b, name)
	if err != nil {
		return nil, err
	}
	return appendJSON(append(b, ':'), t, a, i)
}

func appendList(b []byte, t schema.Type, a *array.List, i int) ([]byte, error) {
	of := t.(*schema.Array).Element
	from, to := a.ValueOffsets(i)
	b = append(b, '[')
	for j := from; j < to; j++ {
		if j > from {
			b = append(b, ',')
		}
		var err error
		if b, err = appendJSON(b, of, a.ListValues(), int(j)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, t schema.Type, a *array.Map, i int) ([]byte, error) {
	of := t.(*schema.Map)
	from, to := a.ValueOffsets(i)
	names, byName := a.Keys().(*array.String)
	open, end := byte('['), byte(']')
	if byName {
		open, end = '{', '}'
	}
	b = append(b, open)
	for j := from; j < to; j++ {
		var err error
		n, at := int(j-from), int(j)
		if byName {
			b, err = appendMember(b, n, names.Value(at), of.Value, a.Items(), at)
		} else {
			if n > 0 {
				b = append(b, ',')
			}
			if b, err = appendMember(append(b, '{'), 0, "key", of.Key, a.Keys(), at); err == nil {
				b, err = appendMember(b, 1, "value", of.Value, a.Items(), at)
			}
			b = append(b, '}')
		}
		if err != nil {
			return nil, err
		}
	}
	return append(b, end), nil
}
