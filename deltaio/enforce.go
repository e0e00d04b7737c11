package deltaio

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// enforce checks a batch that holds the whole schema: NOT NULL, invariants,
// CHECK constraints, generated columns. The error is a *ConstraintError for rows
// that break a rule.
func (s *Snapshot) enforce(rec arrow.Record) error {
	for i, f := range s.schema.Fields {
		if err := s.notNull(f, rec.Column(i), rec, f.Name, nil); err != nil {
			return err
		}
	}
	for i := range s.constraints() {
		c := &s.checks.list[i]
		if c.kind == kindDefault {
			continue
		}
		if c.err != nil {
			return fmt.Errorf("%s: %s: %w", s.table.URL(), c, c.err)
		}
		truth, err := c.bound.Truth(rec)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", s.table.URL(), c, err)
		}
		n := int(rec.NumRows())
		if bad := n - truth.CountTrue(); bad > 0 {
			row := 0
			for truth.IsTrue(row) {
				row++
			}
			return &ConstraintError{Table: s.table.URL(), Constraint: c.String(), Expression: c.text, Rows: bad, Row: rowText(rec, row)}
		}
	}
	return nil
}

// notNull looks for nulls in a column, or in a struct member, that allows none.
// A member of a null struct is no violation: parent says which rows count.
func (s *Snapshot) notNull(f schema.Field, col arrow.Array, rec arrow.Record, path string, parent arrow.Array) error {
	if !f.Nullable && col.NullN() > 0 {
		bad, first := 0, -1
		for i := range col.Len() {
			if col.IsNull(i) && (parent == nil || parent.IsValid(i)) {
				if bad++; first < 0 {
					first = i
				}
			}
		}
		if bad > 0 {
			return &ConstraintError{Table: s.table.URL(), Constraint: "NOT NULL " + path, Rows: bad, Row: rowText(rec, first)}
		}
	}
	st, ok := f.Type.(*schema.Struct)
	members, isStruct := col.(*array.Struct)
	if !ok || !isStruct {
		return nil
	}
	for i, m := range st.Fields {
		if err := s.notNull(m, members.Field(i), rec, path+"."+m.Name, col); err != nil {
			return err
		}
	}
	return nil
}

// rowText shows a row for an error message, shortened: it may hold anything.
func rowText(rec arrow.Record, row int) string {
	parts := make([]string, 0, rec.NumCols())
	for i, f := range rec.Schema().Fields() {
		v := "null"
		if col := rec.Column(i); col.IsValid(row) {
			v = col.ValueStr(row)
		}
		if r := []rune(v); len(r) > 40 {
			v = string(r[:40]) + "..."
		}
		if parts = append(parts, f.Name+"="+v); i == 7 {
			parts = append(parts, "...")
			break
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
