package deltaio

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// constraintKind is where a rule about rows comes from.
type constraintKind int

const (
	kindInvariant constraintKind = iota
	kindCheck
	kindGenerated
	kindDefault
)

func (k constraintKind) String() string {
	return [...]string{"invariant of", "CHECK", "generated column", "default of"}[k]
}

// constraint is an expression that rows must meet, or that makes values.
type constraint struct {
	kind constraintKind
	name string // of the constraint, or of the column
	text string // as the table holds it
	// bound is the condition to hold (invariant, CHECK), the condition
	// "column <=> expression" (generated), or the value (default).
	bound *expr.Bound
	// value makes the values of a generated column; nil when it cannot.
	value *expr.Bound
	err   error // why the expression is not understood
}

func (c *constraint) String() string { return c.kind.String() + " " + c.name }

// constraintSet are the expressions of a snapshot, bound to its schema.
type constraintSet struct {
	list []constraint
}

func (s *Snapshot) constraints() []constraint {
	if s.checks == nil {
		return nil
	}
	return s.checks.list
}

func newConstraintSet(s *Snapshot) *constraintSet {
	set := &constraintSet{}
	ec := expr.Context{Now: s.table.env.Now()}
	if s.supports("checkConstraints") {
		conf := s.state.Metadata.Configuration
		for _, key := range slices.Sorted(maps.Keys(conf)) {
			if name, ok := strings.CutPrefix(key, propConstraintPrefix); ok {
				set.add(s, ec, constraint{kind: kindCheck, name: name, text: conf[key]})
			}
		}
	}
	nested := map[*schema.Field]bool{}
	walkFields(s.schema, func(f *schema.Field) { nested[f] = true })
	for i := range s.schema.Fields {
		f := &s.schema.Fields[i]
		delete(nested, f)
		set.addField(s, ec, f, true)
	}
	for f := range nested {
		set.addField(s, ec, f, false)
	}
	return set
}

// addField reads the expressions in a column's metadata. Those of nested fields
// are recorded as not understood: their names resolve relative to a parent.
func (set *constraintSet) addField(s *Snapshot, ec expr.Context, f *schema.Field, top bool) {
	add := func(kind constraintKind, text string, err error) {
		c := constraint{kind: kind, name: f.Name, text: text, err: err}
		if !top && c.err == nil {
			c.err = fmt.Errorf("it belongs to the nested field %s", f.Name)
		}
		set.add(s, ec, c)
	}
	if text, ok := f.MetaString(schema.KeyInvariants); ok && s.supports("invariants") {
		sql, err := invariantSQL(text)
		add(kindInvariant, sql, err)
	}
	if text, ok := f.MetaString(schema.KeyGeneration); ok && s.supports("generatedColumns") {
		add(kindGenerated, text, nil)
	}
	if text, ok := f.MetaString(schema.KeyDefault); ok && s.supports("allowColumnDefaults") {
		add(kindDefault, text, nil)
	}
}

// invariantSQL unwraps {"expression": {"expression": "x > 3"}}.
func invariantSQL(text string) (string, error) {
	var v struct {
		Expression struct{ Expression string }
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text, fmt.Errorf("%s: %w", schema.KeyInvariants, err)
	}
	if v.Expression.Expression == "" {
		return text, fmt.Errorf("%s holds no expression", schema.KeyInvariants)
	}
	return v.Expression.Expression, nil
}

func (set *constraintSet) add(s *Snapshot, ec expr.Context, c constraint) {
	if c.err == nil {
		c.err = c.bind(s.schema, ec)
	}
	set.list = append(set.list, c)
}

func (c *constraint) bind(sc *schema.Struct, ec expr.Context) error {
	x, err := expr.Parse(c.text)
	if err != nil {
		return fmt.Errorf("%q: %w", c.text, err)
	}
	switch c.kind {
	case kindInvariant, kindCheck:
		c.bound, err = x.Bind(sc, ec)
		if err == nil && c.bound.Type() != schema.Boolean {
			err = fmt.Errorf("%q is not a condition", c.text)
		}
	case kindDefault:
		c.bound, err = bindValue(sc, ec, c.text, c.name)
	case kindGenerated:
		// Spark casts the expression to the column's type before it compares.
		var f *schema.Field
		f, _ = sc.Field(c.name)
		if c.bound, err = bindText(sc, ec, quoteName(c.name)+" <=> CAST(("+c.text+") AS "+f.Type.String()+")"); err == nil {
			c.value, err = bindValue(sc, ec, c.text, c.name)
		}
	}
	if err != nil {
		return fmt.Errorf("%q: %w", c.text, err)
	}
	return nil
}

// bindValue binds an expression cast to the type of a column.
func bindValue(sc *schema.Struct, ec expr.Context, text, column string) (*expr.Bound, error) {
	f, ok := sc.Field(column)
	if !ok {
		return nil, unknownColumn(sc, column)
	}
	return bindText(sc, ec, "CAST(("+text+") AS "+f.Type.String()+")")
}

func bindText(sc *schema.Struct, ec expr.Context, text string) (*expr.Bound, error) {
	x, err := expr.Parse(text)
	if err != nil {
		return nil, err
	}
	return x.Bind(sc, ec)
}

// quoteName quotes an identifier for SQL.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
