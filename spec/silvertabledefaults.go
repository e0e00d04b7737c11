package spec

import "slices"

// Defaults of a SilverTable.
const (
	DefaultSilverRuns           = "control.silver_runs"
	DefaultMinSmallFiles        = 20
	DefaultTwoDigitYearBase     = 1970
	DefaultQuarantineRetention  = Duration("90d")
	DefaultSettle               = Duration("0s")
	DefaultMaintenanceRetention = Duration("168h")
)

// Technical columns of a Silver table.
const (
	ColumnSourceSystem = "_SourceSystem"
	ColumnSourceFile   = "_SourceFile"
	ColumnLoadTime     = "_LoadTimestamp"
	ColumnIsDeleted    = "_IsDeleted"
	ColumnValidFrom    = "_ValidFrom"
)

// Defaults gives a copy of t with every setting that t leaves open:
//
//   - sources: incremental files (delta: delta_version); options: delimiter ",",
//     quote '"', header true, encoding utf-8, null_values [""] for csv
//   - columns: timezone UTC, dst reject, decimal "."; two_digit_year_base 1970
//   - deletes soft; on_invalid_newest keep_older; expectations: severity warn
//   - schema_drift.new_columns ignore
//   - quarantine: table TARGET_quarantine, retention 90d
//   - maintenance: optimize.min_small_files 20, vacuum.retention 168h, where given
//   - record.runs control.silver_runs
func (t SilverTable) Defaults() SilverTable {
	t.Sources = slices.Clone(t.Sources)
	for i := range t.Sources {
		t.Sources[i] = t.Sources[i].defaults()
	}
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		t.Columns[i] = t.Columns[i].defaults()
	}
	t.Deletes = or(t.Deletes, DeletesSoft)
	t.OnInvalidNewest = or(t.OnInvalidNewest, KeepOlder)
	t.Expectations = slices.Clone(t.Expectations)
	for i := range t.Expectations {
		t.Expectations[i].Severity = or(t.Expectations[i].Severity, SeverityWarn)
	}
	t.SchemaDrift.NewColumns = or(t.SchemaDrift.NewColumns, DriftIgnore)
	if t.Target.Table != "" {
		t.Quarantine.Table = or(t.Quarantine.Table, t.Target.Table+"_quarantine")
	}
	t.Quarantine.Retention = or(t.Quarantine.Retention, DefaultQuarantineRetention)
	t.Target.Retention = t.Target.Retention.defaults()
	if m := clone(t.Maintenance); m != nil {
		if m.Optimize = clone(m.Optimize); m.Optimize != nil {
			m.Optimize.MinSmallFiles = defaultTo(m.Optimize.MinSmallFiles, DefaultMinSmallFiles)
		}
		if m.Vacuum = clone(m.Vacuum); m.Vacuum != nil {
			m.Vacuum.Retention = or(m.Vacuum.Retention, DefaultMaintenanceRetention)
		}
		t.Maintenance = m
	}
	t.Record.Runs = or(t.Record.Runs, DefaultSilverRuns)
	return t
}

func (r *SilverRetention) defaults() *SilverRetention {
	if r == nil {
		return nil
	}
	out := SilverRetention{Policies: slices.Clone(r.Policies)}
	for i := range out.Policies {
		c := Criteria{OlderThan: &out.Policies[i].OlderThan}.defaults()
		out.Policies[i].OlderThan = *c.OlderThan
	}
	return &out
}

func (s SilverSource) defaults() SilverSource {
	if s.Incremental == "" {
		s.Incremental = IncrementalFiles
		if s.Format == FormatDelta {
			s.Incremental = IncrementalVersion
		}
	}
	if s.Format == FormatCSV {
		yes := true
		s.Options.Delimiter = or(s.Options.Delimiter, ",")
		s.Options.Quote = or(s.Options.Quote, `"`)
		if s.Options.Header == nil {
			s.Options.Header = &yes
		}
		if s.Options.NullValues == nil {
			s.Options.NullValues = []string{""}
		}
	}
	if s.Format == FormatCSV || s.Format == FormatJSON {
		s.Options.Encoding = or(s.Options.Encoding, "utf-8")
	}
	return s
}

func (c SilverColumn) defaults() SilverColumn {
	t, err := ParseSilverType(c.Type)
	if err != nil || c.Expr != "" {
		return c
	}
	switch t.Name {
	case "timestamp":
		c.Timezone = or(c.Timezone, DefaultTimezone)
		c.DST = or(c.DST, DSTReject)
	case "float", "double", "decimal":
		c.Decimal = or(c.Decimal, ".")
	}
	return c
}

// ForSource is the column as one source gives it: what the source's own list
// says differs. From names the source's column.
func (c SilverColumn) ForSource(s SilverSource) SilverColumn {
	c.From = or(c.From, c.Name)
	for _, o := range s.Columns {
		if o.Name != c.Name {
			continue
		}
		c.From = or(o.From, c.From)
		c.Decimal, c.Grouping = or(o.Decimal, c.Decimal), or(o.Grouping, c.Grouping)
		c.Timezone, c.DST = or(o.Timezone, c.Timezone), or(o.DST, c.DST)
		c.Default = or(o.Default, c.Default)
		if o.Format != nil {
			c.Format = o.Format
		}
		if o.TwoDigitYearBase != nil {
			c.TwoDigitYearBase = o.TwoDigitYearBase
		}
		if o.Clean != nil {
			c.Clean = o.Clean
		}
		if o.Values != nil {
			c.Values = o.Values
		}
	}
	return c
}
