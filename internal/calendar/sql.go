package calendar

import (
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Predicate says in SQL which rows are due by age, and which cannot be judged.
type Predicate struct {
	// Due is TRUE for rows dated before the cutoff.
	Due string `json:"due"`
	// Undated is TRUE for rows without a readable date. They are never due.
	Undated string `json:"undated"`
}

// SQL gives the predicate for a column of the type. A string or integer column
// needs a format, and no other may have one: a guessed date purges wrong rows.
//
// name is split as Spark does: a.b is field b of struct a, `a.b` one column.
func (c Cutoff) SQL(name string, t schema.Type, format string) (Predicate, error) {
	path, err := SplitColumn(name)
	if err != nil {
		return Predicate{}, err
	}
	column := QuoteColumn(path...)
	date := "DATE'" + string(c.Date) + "'"
	switch t {
	case schema.String, schema.Integer, schema.Long:
		return c.parsed(column, name, t, format)
	}
	if format != "" {
		return Predicate{}, fmt.Errorf("column %s is %s and has no text to parse: remove criteria.older_than.format", name, t)
	}
	switch t {
	case schema.Date, schema.TimestampNTZ:
		// Spark compares timestamp_ntz with a date as of its midnight.
		return Predicate{Due: column + " < " + date, Undated: column + " IS NULL"}, nil
	case schema.Timestamp:
		at := "TIMESTAMP'" + c.Instant.UTC().Format("2006-01-02 15:04:05.999999") + "Z'"
		return Predicate{Due: column + " < " + at, Undated: column + " IS NULL"}, nil
	}
	return Predicate{}, fmt.Errorf("column %s is %s, which has no date: criteria.older_than.column needs date, timestamp, timestamp_ntz, or string or integer with a format", name, t)
}

func (c Cutoff) parsed(column, name string, t schema.Type, format string) (Predicate, error) {
	if format == "" {
		return Predicate{}, fmt.Errorf("column %s is %s: say how its dates are written, for example criteria.older_than.format: yyyy-MM-dd", name, t)
	}
	text := column
	if t != schema.String {
		text = "CAST(" + column + " AS STRING)"
	}
	date := "to_date(" + text + ", " + QuoteString(format) + ")"
	return Predicate{
		Due:     date + " < DATE'" + string(c.Date) + "'",
		Undated: date + " IS NULL",
	}, nil
}

// QuoteColumn writes a column, or the path to a nested field, in backticks.
func QuoteColumn(path ...string) string {
	quoted := make([]string, len(path))
	for i, p := range path {
		quoted[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(quoted, ".")
}

// QuoteString writes a SQL string literal.
func QuoteString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// SplitColumn reads a column as Spark does: parts separated by dots, a part with
// dots of its own in backticks.
func SplitColumn(name string) ([]string, error) {
	wrong := fmt.Errorf("column %q: want a name, a.b for field b of a, or `a.b` in backticks for a name with dots", name)
	var path []string
	rest := name
	for {
		part, tail, err := columnPart(rest)
		if err != nil || part == "" {
			return nil, wrong
		}
		path = append(path, part)
		if tail == "" {
			return path, nil
		}
		if tail[0] != '.' {
			return nil, wrong
		}
		rest = tail[1:]
	}
}

// columnPart cuts the first part off a column name.
func columnPart(s string) (part, tail string, err error) {
	if !strings.HasPrefix(s, "`") {
		end := strings.IndexAny(s, ".`")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '`' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '`' {
			b.WriteByte('`')
			i++
			continue
		}
		return b.String(), s[i+1:], nil
	}
	return "", "", fmt.Errorf("backtick without its end")
}

// LookupColumn finds the type of the column that name, split by SplitColumn,
// leads to.
func LookupColumn(s *schema.Struct, name string) (schema.Type, error) {
	path, err := SplitColumn(name)
	if err != nil {
		return nil, err
	}
	at := s
	for i, part := range path {
		f, ok := at.Field(part)
		if !ok {
			return nil, fmt.Errorf("column %s: the table has no %s; it has %s", name, QuoteColumn(path[:i+1]...), names(at))
		}
		if i == len(path)-1 {
			return f.Type, nil
		}
		if at, ok = f.Type.(*schema.Struct); !ok {
			return nil, fmt.Errorf("column %s: %s is %s and has no fields; a name with dots is written in backticks", name, QuoteColumn(path[:i+1]...), f.Type)
		}
	}
	return nil, fmt.Errorf("column %q is empty", name)
}

func names(s *schema.Struct) string {
	out := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}
