package spec

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Validate lists everything that is wrong with the spec, judged with its
// defaults. A nil loader leaves out whether time zones exist.
func (t SilverTable) Validate(zones ZoneLoader) Problems {
	if t.APIVersion == "" && t.Kind == "" && t.Name == "" && len(t.Sources) == 0 && t.Target.Table == "" {
		return Problems{{Message: "the spec is empty; give one as input", Example: ExampleSilverTable()}}
	}
	t = t.Defaults()
	c := &checker{keys: silverKeys, zones: zones}
	c.header(t.APIVersion, t.Kind)
	c.name("name", t.Name)
	c.silverColumns(t)
	c.silverSources(t)
	c.silverKeys(t)
	c.silverRules(t)
	c.percent("limits.max_quarantined", t.Limits.MaxQuarantined)
	if t.SchemaDrift.NewColumns == DriftAdd {
		c.add("schema_drift.new_columns", "add is not handled: a column needs a type and rules; name it under columns")
	} else {
		c.oneOf("schema_drift.new_columns", string(t.SchemaDrift.NewColumns))
	}
	c.silverTarget(t)
	c.silverMaintenance(t.Maintenance)
	return c.problems
}

func (c *checker) silverColumns(t SilverTable) {
	if len(t.Columns) == 0 {
		c.add("columns", "missing; name the columns of the table")
	}
	var names []string
	for i, col := range t.Columns {
		at := fmt.Sprintf("columns[%d]", i)
		if c.required(at+".name", col.Name) {
			c.form(at+".name", col.Name, "a column name: no spaces, commas, semicolons, braces, = or quotes")
		}
		switch {
		case strings.HasPrefix(col.Name, "_"):
			c.add(at+".name", "%s: names that begin with _ are lakewarden's own (%s and others)", shorten(col.Name), ColumnSourceFile)
		case containsFold(names, col.Name):
			c.add(at+".name", "two columns are called %s", shorten(col.Name))
		}
		names = append(names, col.Name)
		if !c.required(at+".type", col.Type) {
			continue
		}
		typ, err := ParseSilverType(col.Type)
		if err != nil {
			c.add(at+".type", "%v", err)
			continue
		}
		c.silverColumn(at, col, typ)
	}
}

func (c *checker) silverColumn(at string, col SilverColumn, typ SilverType) {
	if col.Expr != "" {
		for _, o := range []struct {
			key   string
			given bool
		}{
			{"from", col.From != ""}, {"format", col.Format != nil}, {"decimal", col.Decimal != ""}, {"grouping", col.Grouping != ""},
			{"timezone", col.Timezone != ""}, {"dst", col.DST != ""}, {"default", col.Default != ""}, {"clean", col.Clean != nil},
			{"values", col.Values != nil}, {"two_digit_year_base", col.TwoDigitYearBase != nil},
		} {
			if o.given {
				c.add(at+"."+o.key, "the column is computed by expr; %s is for columns that are read", o.key)
			}
		}
		return
	}
	c.silverReading(at, col, typ)
}

// silverReading checks how text becomes a value of the type.
func (c *checker) silverReading(at string, col SilverColumn, typ SilverType) {
	dated := typ.Name == "date" || typ.Name == "timestamp" || typ.Name == "timestamp_ntz"
	numeric := slices.Contains([]string{"byte", "short", "integer", "long", "float", "double", "decimal"}, typ.Name)
	if len(col.Format) > 0 && !dated {
		c.add(at+".format", "only dates and timestamps have formats; the column is %s", typ.Name)
	}
	for i, f := range col.Format {
		if err := CheckPattern(f, typ.Name); err != nil {
			c.add(fmt.Sprintf("%s.format[%d]", at, i), "%v", err)
		}
	}
	for _, s := range [][2]string{{"decimal", col.Decimal}, {"grouping", col.Grouping}} {
		if s[1] == "" {
			continue
		}
		switch {
		case !numeric:
			c.add(at+"."+s[0], "only numbers have it; the column is %s", typ.Name)
		case utf8.RuneCountInString(s[1]) != 1 || !patternOf(patternSign).MatchString(s[1]):
			c.add(at+"."+s[0], "%q is not one sign that is neither digit, letter, + nor -", shorten(s[1]))
		}
	}
	if col.Decimal != "" && col.Decimal == col.Grouping {
		c.add(at+".grouping", "the same sign as decimal; a number could mean two things")
	}
	if col.Timezone != "" && typ.Name != "timestamp" {
		c.add(at+".timezone", "only timestamps have a zone; the column is %s", typ.Name)
	}
	c.zone(at+".timezone", col.Timezone)
	c.oneOf(at+".dst", string(col.DST))
	if y := col.TwoDigitYearBase; y != nil && (*y < 1 || *y > 9900) {
		c.add(at+".two_digit_year_base", "%d is out of range: 1 to 9900", *y)
	}
	for i, step := range col.Clean {
		c.oneOf(fmt.Sprintf("%s.clean[%d]", at, i), string(step))
	}
	if slices.Contains(col.Clean, CleanUpper) && slices.Contains(col.Clean, CleanLower) {
		c.add(at+".clean", "upper and lower contradict each other; keep one")
	}
}

func (c *checker) silverSources(t SilverTable) {
	if len(t.Sources) == 0 {
		c.add("sources", "missing; say where raw rows come from")
	}
	var names []string
	for i, s := range t.Sources {
		at := fmt.Sprintf("sources[%d]", i)
		c.name(at+".name", s.Name)
		if containsFold(names, s.Name) {
			c.add(at+".name", "two sources are called %s", shorten(s.Name))
		}
		names = append(names, s.Name)
		c.silverSource(at, s)
		c.silverOptions(at, s)
		c.silverOverrides(at, t, s)
	}
}

func (c *checker) silverSource(at string, s SilverSource) {
	if c.required(at+".format", string(s.Format)) {
		c.oneOf(at+".format", string(s.Format))
	}
	delta := s.Format == FormatDelta
	switch {
	case s.Path != "" && s.Table != "":
		c.add(at+".path", "table is given too; keep one of them")
	case delta && s.Table == "":
		c.add(at+".table", "missing; a Delta source is named as schema.table")
	case !delta && s.Path == "":
		c.add(at+".path", "missing; name the files, with * where names differ")
	case !delta && s.Table != "":
		c.add(at+".table", "only a source of format delta is a table")
	}
	c.table(at+".table", s.Table)
	c.oneOf(at+".incremental", string(s.Incremental))
	byVersion := s.Incremental == IncrementalVersion || s.Incremental == IncrementalCDF
	if byVersion && !delta {
		c.add(at+".incremental", "%s is for Delta tables; files are told apart by files, or read by full", s.Incremental)
	}
	if s.Incremental == IncrementalFiles && delta {
		c.add(at+".incremental", "files is for files; a Delta table has delta_version, cdf or full")
	}
	if d, err := s.Settle.Value(); err != nil || !patternOf(patternLength).MatchString(string(s.Settle)) {
		c.add(at+".settle", "%q is not a duration: whole numbers with the units d, h, m, s", shorten(string(s.Settle)))
	} else if d > 0 && delta {
		c.add(at+".settle", "a Delta table's commits are whole when they appear; settle is for files")
	}
}

func (c *checker) silverOptions(at string, s SilverSource) {
	o := s.Options
	at += ".options"
	csv := s.Format == FormatCSV
	for _, k := range []struct {
		key   string
		given bool
		ok    bool
	}{
		{"delimiter", o.Delimiter != "", csv}, {"quote", o.Quote != "", csv}, {"header", o.Header != nil, csv},
		{"encoding", o.Encoding != "", csv || s.Format == FormatJSON},
	} {
		if k.given && !k.ok {
			c.add(at+"."+k.key, "has no meaning for format %s", s.Format)
		}
	}
	if !csv {
		return
	}
	for _, sign := range [][2]string{{"delimiter", o.Delimiter}, {"quote", o.Quote}} {
		if len(sign[1]) != 1 || sign[1][0] >= utf8.RuneSelf || strings.ContainsAny(sign[1], "\r\n\x00") {
			c.add(at+"."+sign[0], "%q is not one ASCII character; a tab is written \"\\t\"", shorten(sign[1]))
		}
	}
	if o.Delimiter == o.Quote {
		c.add(at+".quote", "the same as delimiter")
	}
}

func (c *checker) silverOverrides(at string, t SilverTable, s SilverSource) {
	var names []string
	for i, o := range s.Columns {
		at := fmt.Sprintf("%s.columns[%d]", at, i)
		if !c.required(at+".name", o.Name) {
			continue
		}
		if slices.Contains(names, o.Name) {
			c.add(at+".name", "column %s is listed twice", shorten(o.Name))
		}
		names = append(names, o.Name)
		n := slices.IndexFunc(t.Columns, func(col SilverColumn) bool { return col.Name == o.Name })
		if n < 0 {
			c.unknownColumn(at+".name", o.Name, t)
			continue
		}
		col := t.Columns[n]
		typ, err := ParseSilverType(col.Type)
		if err != nil {
			continue
		}
		if col.Expr != "" {
			c.add(at+".name", "column %s is computed by expr; it comes from no source", o.Name)
			continue
		}
		own := SilverColumn{
			Name: o.Name, Type: col.Type, Format: o.Format, Decimal: o.Decimal, Grouping: o.Grouping, Timezone: o.Timezone, DST: o.DST,
			TwoDigitYearBase: o.TwoDigitYearBase, Clean: o.Clean,
		}
		c.silverReading(at, own, typ)
		if both := col.ForSource(s); both.Decimal != "" && both.Decimal == both.Grouping && (o.Decimal == "" || o.Grouping == "") {
			c.add(at, "decimal and grouping are the same sign, together with those of columns[%d]", n)
		}
	}
}

// unknownColumn reports a name that is no column of the table.
func (c *checker) unknownColumn(path, name string, t SilverTable) {
	names := []string{ColumnSourceSystem}
	for _, col := range t.Columns {
		names = append(names, col.Name)
	}
	if near := nearest(name, names); near != "" {
		c.add(path, "%s is no column of the table; did you mean %s?", shorten(name), near)
		return
	}
	c.add(path, "%s is no column of the table; columns are %s", shorten(name), strings.Join(names[1:], ", "))
}

// knownColumns checks a list of names of columns.
func (c *checker) knownColumns(path string, names []string, t SilverTable) {
	c.columns(path, names)
	for i, name := range names {
		if strings.TrimSpace(name) != "" && name != ColumnSourceSystem && !slices.ContainsFunc(t.Columns, func(col SilverColumn) bool { return col.Name == name }) {
			c.unknownColumn(fmt.Sprintf("%s[%d]", path, i), name, t)
		}
	}
}

func (c *checker) silverKeys(t SilverTable) {
	if len(t.Keys) == 0 {
		c.add("keys", "missing; without a key no row can be told from another")
	}
	if len(t.SequenceBy) == 0 {
		c.add("sequence_by", "missing; without an order it would be chance which version of a key counts")
	}
	c.knownColumns("keys", t.Keys, t)
	c.knownColumns("sequence_by", t.SequenceBy, t)
	for i, name := range t.SequenceBy {
		if containsFold(t.Keys, name) {
			c.add(fmt.Sprintf("sequence_by[%d]", i), "%s is a key, the same in all versions of a row; it orders nothing", shorten(name))
		}
	}
	c.oneOf("deletes", string(t.Deletes))
	if t.OnInvalidNewest == HoldKey {
		c.add("on_invalid_newest", "hold_key is not handled; with keep_older the newest valid version counts, and keys with a quarantined newer one are reported")
	} else {
		c.oneOf("on_invalid_newest", string(t.OnInvalidNewest))
	}
}

func (c *checker) silverRules(t SilverTable) {
	var names []string
	for i, e := range t.Expectations {
		at := fmt.Sprintf("expectations[%d]", i)
		c.name(at+".name", e.Name)
		if containsFold(names, e.Name) {
			c.add(at+".name", "two rules are called %s", shorten(e.Name))
		}
		names = append(names, e.Name)
		c.required(at+".check", e.Check)
		c.oneOf(at+".severity", string(e.Severity))
	}
}

func (c *checker) silverTarget(t SilverTable) {
	if c.required("target.table", t.Target.Table) {
		c.table("target.table", t.Target.Table)
	}
	c.table("quarantine.table", t.Quarantine.Table)
	c.table("record.runs", t.Record.Runs)
	c.knownColumns("target.partition_by", t.Target.PartitionBy, t)
	if len(t.Target.PartitionBy) > 0 && len(t.Target.PartitionBy) > len(t.Columns) {
		c.add("target.partition_by", "every column is a partition column; one at least must lie in the files")
	}
	c.duration("quarantine.retention", t.Quarantine.Retention)
	if t.Target.ValidFrom && len(t.SequenceBy) > 0 {
		for _, col := range t.Columns {
			if typ, err := ParseSilverType(col.Type); err == nil && col.Name == t.SequenceBy[0] && typ.Name != "timestamp" && typ.Name != "date" {
				c.add("target.valid_from", "the first column of sequence_by, %s, is %s; a date or a timestamp says from when a row is valid", col.Name, typ.Name)
			}
		}
	}
	c.silverRetention(t)
	roles := []struct{ path, table string }{{"target.table", t.Target.Table}, {"quarantine.table", t.Quarantine.Table}, {"record.runs", t.Record.Runs}}
	for i, s := range t.Sources {
		roles = append(roles, struct{ path, table string }{fmt.Sprintf("sources[%d].table", i), s.Table})
	}
	for i, r := range roles {
		for _, other := range roles[:min(i, 3)] {
			if r.table != "" && strings.EqualFold(r.table, other.table) {
				c.add(r.path, "%s is already the %s of this spec; use another table", r.table, other.path)
			}
		}
	}
}

func (c *checker) silverRetention(t SilverTable) {
	r := t.Target.Retention
	if r == nil {
		return
	}
	if len(r.Policies) == 0 {
		c.add("target.retention.policies", "missing; name the ages past which rows do not come back, or remove retention")
	}
	for i, p := range r.Policies {
		at := fmt.Sprintf("target.retention.policies[%d]", i)
		c.required(at+".name", p.Name)
		inner := &checker{keys: policyKeys, zones: c.zones}
		inner.olderThan(p.OlderThan)
		for _, problem := range inner.problems {
			problem.Path = at + strings.TrimPrefix(problem.Path, "criteria")
			c.problems = append(c.problems, problem)
		}
		if p.OlderThan.Column != "" {
			c.knownColumns(at+".older_than.column", []string{p.OlderThan.Column}, t)
		}
	}
}

func (c *checker) silverMaintenance(m *Maintenance) {
	if m == nil {
		return
	}
	if m.Optimize == nil && m.Vacuum == nil {
		c.add("maintenance", "empty; give optimize or vacuum, or remove it")
	}
	if o := m.Optimize; o != nil && (*o.MinSmallFiles < 2 || *o.MinSmallFiles > 1_000_000) {
		c.add("maintenance.optimize.min_small_files", "%d is out of range: 2 to 1000000", *o.MinSmallFiles)
	}
	if m.Vacuum != nil {
		if d, ok := c.duration("maintenance.vacuum.retention", m.Vacuum.Retention); ok && d < VacuumFloor {
			c.add("maintenance.vacuum.retention", "%s is below the floor of 168h: readers and time travel would lose files", m.Vacuum.Retention)
		}
	}
}
