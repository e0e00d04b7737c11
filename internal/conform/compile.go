package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// Options are what a run knows of the world.
type Options struct {
	// Now is the run's frozen clock: _LoadTimestamp, and the time in rules that only
	// warn.
	Now time.Time
	// Zones finds time zones.
	Zones spec.ZoneLoader
	// Expired are conditions in SQL on the table's columns: rows for which one is
	// TRUE do not come in.
	Expired []string
}

// Table is a compiled spec. It is immutable and safe for concurrent use.
type Table struct {
	spec    spec.SilverTable
	opt     Options
	schema  *schema.Struct // with the technical columns
	arrow   *arrow.Schema
	base    *schema.Struct // columns that are read, and _SourceSystem
	full    *schema.Struct // base and computed columns
	exprs   []computed
	rules   []rule
	expired []*expr.Bound
	keys    []int // places in full
	seq     []int
	content []int
}

type computed struct {
	name  string
	bound *expr.Bound
}

type rule struct {
	spec.Expectation
	bound *expr.Bound
}

// Compile judges what spec.Validate leaves open, which needs the types of
// columns: expressions and rules, defaults, encodings. Its errors are
// spec.Problems.
func Compile(t spec.SilverTable, opt Options) (*Table, error) {
	t = t.Defaults()
	c := &compiler{t: &Table{spec: t, opt: opt}}
	c.schema()
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.computed()
	c.rules()
	c.expired()
	for i, s := range t.Sources {
		c.source(fmt.Sprintf("sources[%d]", i), s)
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.places()
	return c.t, nil
}

type compiler struct {
	t        *Table
	problems spec.Problems
}

func (c *compiler) add(path, format string, args ...any) {
	c.problems = append(c.problems, spec.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// schema lays the table out: its columns, then the technical ones.
func (c *compiler) schema() {
	t := c.t
	t.schema, t.base, t.full = &schema.Struct{}, &schema.Struct{}, &schema.Struct{}
	var late []schema.Field
	for i, col := range t.spec.Columns {
		typ, err := spec.ParseSilverType(col.Type)
		if err != nil {
			c.add(fmt.Sprintf("columns[%d].type", i), "%v", err)
			continue
		}
		f := schema.Field{Name: col.Name, Type: deltaType(typ), Nullable: true}
		t.schema.Fields = append(t.schema.Fields, f)
		if col.Expr == "" {
			t.base.Fields = append(t.base.Fields, f)
		} else {
			late = append(late, f)
		}
	}
	t.base.Fields = append(t.base.Fields, schema.Field{Name: spec.ColumnSourceSystem, Type: schema.String, Nullable: true})
	t.full.Fields = append(slices.Clone(t.base.Fields), late...)
	t.schema.Fields = append(t.schema.Fields, technical(t.spec)...)
	var err error
	if t.arrow, err = schema.ArrowSchema(t.schema); err != nil {
		c.add("columns", "%v", err)
	}
}

func technical(t spec.SilverTable) []schema.Field {
	out := []schema.Field{
		{Name: spec.ColumnSourceSystem, Type: schema.String, Nullable: true},
		{Name: spec.ColumnSourceFile, Type: schema.String, Nullable: true},
		{Name: spec.ColumnLoadTime, Type: schema.Timestamp, Nullable: true},
		{Name: spec.ColumnIsDeleted, Type: schema.Boolean, Nullable: true},
	}
	if t.Target.ValidFrom {
		out = append(out, schema.Field{Name: spec.ColumnValidFrom, Type: schema.Timestamp, Nullable: true})
	}
	return out
}

func (c *compiler) bind(path, text string, s *schema.Struct) (*expr.Expr, *expr.Bound) {
	x, err := expr.Parse(text)
	if err != nil {
		c.add(path, "%v", err)
		return nil, nil
	}
	b, err := x.Bind(s, expr.Context{Now: c.t.opt.Now, Zone: time.UTC})
	if err != nil {
		c.add(path, "%v", err)
		return x, nil
	}
	return x, b
}

func (c *compiler) computed() {
	for i, col := range c.t.spec.Columns {
		if col.Expr == "" {
			continue
		}
		path := fmt.Sprintf("columns[%d].expr", i)
		x, b := c.bind(path, col.Expr, c.t.base)
		if x != nil && x.ClockDependent() {
			c.add(path, "it asks for the time: the same row would differ from run to run")
			continue
		}
		if b == nil {
			continue
		}
		if f, _ := c.t.full.Field(col.Name); !schema.Equal(b.Type(), f.Type) {
			c.add(path, "it gives %s, the column is %s; write CAST(%s AS %s)", b.Type(), f.Type, col.Expr, f.Type)
			continue
		}
		c.t.exprs = append(c.t.exprs, computed{name: col.Name, bound: b})
	}
}

func (c *compiler) rules() {
	for i, e := range c.t.spec.Expectations {
		path := fmt.Sprintf("expectations[%d].check", i)
		x, b := c.bind(path, e.Check, c.t.full)
		if x != nil && x.ClockDependent() && e.Severity == spec.SeverityQuarantine {
			c.add(path, "it asks for the time: which rows are rejected would depend on when they are read; such a rule can only warn, or compare with a column")
			continue
		}
		if b == nil {
			continue
		}
		if b.Type() != schema.Boolean {
			c.add(path, "it gives %s; a rule is true or false", b.Type())
			continue
		}
		c.t.rules = append(c.t.rules, rule{Expectation: e, bound: b})
	}
}

func (c *compiler) expired() {
	for _, text := range c.t.opt.Expired {
		if _, b := c.bind("target.retention", text, c.t.full); b != nil {
			c.t.expired = append(c.t.expired, b)
		}
	}
}

func (c *compiler) source(path string, s spec.SilverSource) {
	if _, err := c.t.source(s); err != nil {
		var p spec.Problems
		if errors.As(err, &p) {
			for _, problem := range p {
				problem.Path = path + problem.Path
				c.problems = append(c.problems, problem)
			}
			return
		}
		c.add(path, "%v", err)
	}
}

// places finds the columns of key, sequence and content among those of full.
func (c *compiler) places() {
	t := c.t
	at := func(name string) int {
		return slices.IndexFunc(t.full.Fields, func(f schema.Field) bool { return f.Name == name })
	}
	for _, k := range t.spec.Keys {
		t.keys = append(t.keys, at(k))
	}
	for _, k := range t.spec.SequenceBy {
		t.seq = append(t.seq, at(k))
	}
	for i := range t.full.Fields {
		if !slices.Contains(t.keys, i) && !slices.Contains(t.seq, i) {
			t.content = append(t.content, i)
		}
	}
}

// Schema is the Silver table's, technical columns included.
func (t *Table) Schema() *schema.Struct { return t.schema }

// ArrowSchema is that of the rows that Decoder builds.
func (t *Table) ArrowSchema() *arrow.Schema { return t.arrow }

// Spec is the spec with its defaults.
func (t *Table) Spec() spec.SilverTable { return t.spec }

// Source makes the engine of one source. An engine serves one goroutine.
func (t *Table) Source(name string) (*Source, error) {
	for _, s := range t.spec.Sources {
		if s.Name == name {
			return t.source(s)
		}
	}
	return nil, fmt.Errorf("no source is called %s", name)
}

func (t *Table) source(s spec.SilverSource) (*Source, error) {
	out := &Source{table: t, spec: s, missing: map[string]bool{}, extra: map[string]bool{}}
	var problems spec.Problems
	add := func(path string, err error) {
		problems = append(problems, spec.Problem{Path: path, Message: err.Error()})
	}
	if s.Format == spec.FormatCSV || s.Format == spec.FormatJSON {
		if _, err := findEncoding(s.Options.Encoding); err != nil {
			add(".options.encoding", err)
		}
	}
	for _, col := range t.spec.Columns {
		if col.Expr != "" {
			continue
		}
		k, err := newCaster(col.ForSource(s), s, t.opt.Zones)
		if err != nil {
			add(".columns", fmt.Errorf("column %s: %w", col.Name, err))
			continue
		}
		out.casters = append(out.casters, k)
		must := col.Required || slices.Contains(t.spec.Keys, col.Name) || slices.Contains(t.spec.SequenceBy, col.Name)
		out.must = append(out.must, must)
	}
	if s.ApplyAsDeletes != "" {
		x, err := expr.Parse(s.ApplyAsDeletes)
		switch {
		case err != nil:
			add(".apply_as_deletes", err)
		case x.ClockDependent():
			add(".apply_as_deletes", errors.New("it asks for the time: the same record would mean different things from run to run"))
		}
		out.deletes = x
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return out, nil
}

// Paths are the names that the source's columns are taken from, for ReadJSON and
// for readers that need not read the others.
func (s *Source) Paths() []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, k := range s.casters {
		add(k.from)
	}
	if s.deletes != nil {
		for _, name := range s.deletes.Columns() {
			add(strings.Trim(name, "`"))
		}
	}
	return out
}
