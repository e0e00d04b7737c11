package spec

// SilverTable says how files or tables of raw rows become a clean Delta table:
// which rows are right, which one of a key counts, and what happens to the rest.
// It is the input of a conform run.
type SilverTable struct {
	// Version of the document: lakewarden/v1.
	APIVersion string `json:"apiVersion"`
	// Kind of the document: SilverTable.
	Kind string `json:"kind"`
	// Name of the spec, for people and for the table of runs: letters, digits, dot, dash, underscore.
	Name string `json:"name"`
	// Where raw rows come from. Several sources are conformed into one schema.
	Sources []SilverSource `json:"sources"`
	// Columns of the table, in their order.
	Columns []SilverColumn `json:"columns"`
	// Columns that tell rows apart. They are always required. _SourceSystem is the source's name.
	Keys []string `json:"keys"`
	// Columns that order the versions of a key, most significant first. The greatest counts; deletes win ties, then the content of the row decides.
	SequenceBy []string `json:"sequence_by"`
	// What a delete record does: soft sets _IsDeleted, hard removes the row.
	Deletes Deletes `json:"deletes,omitempty"`
	// What counts for a key whose newest version is quarantined: keep_older.
	OnInvalidNewest OnInvalidNewest `json:"on_invalid_newest,omitempty"`
	// What must hold of a row. A rule on NULL passes; required governs nulls.
	Expectations []Expectation `json:"expectations,omitempty"`
	// Bounds past which a run fails before it changes anything.
	Limits SilverLimits `json:"limits,omitzero"`
	// What is done about source columns that the spec does not name.
	SchemaDrift SchemaDrift `json:"schema_drift,omitzero"`
	// The table that is written.
	Target SilverTarget `json:"target"`
	// The table of rejected rows.
	Quarantine SilverQuarantine `json:"quarantine,omitzero"`
	// What is done for the table's files after a run.
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	// Where runs are recorded.
	Record SilverRecord `json:"record,omitzero"`
	// Read every source from its beginning, whatever was read before. Rows that are in the table as they should be stay untouched.
	FullRefresh bool `json:"full_refresh,omitempty"`
	// Read and report, and write nothing to tables.
	DryRun bool `json:"dry_run,omitempty"`
	// Who asks.
	RequestedBy string `json:"requested_by,omitempty"`
}

// SourceFormat is how a source's rows are written.
type SourceFormat string

// Values of SourceFormat.
const (
	FormatCSV     SourceFormat = "csv"
	FormatJSON    SourceFormat = "json"
	FormatParquet SourceFormat = "parquet"
	FormatDelta   SourceFormat = "delta"
)

// Incremental is how a source tells what is new.
type Incremental string

// Values of Incremental.
const (
	IncrementalFiles   Incremental = "files"         // files not seen before, by path, size and time of change
	IncrementalVersion Incremental = "delta_version" // rows that the table's commits added
	IncrementalCDF     Incremental = "cdf"           // the change data feed: deletes there are deletes here
	IncrementalFull    Incremental = "full"          // everything, whenever anything changed
)

// SilverSource is one place that raw rows come from.
type SilverSource struct {
	// Name of the source; the value of _SourceSystem.
	Name string `json:"name"`
	// Files, as a pattern with * (within a folder) and ** (any folders): relative to the root that takes all schemas, or a URL under one of the worker's roots.
	Path string `json:"path,omitempty"`
	// Delta table, as schema.table.
	Table string `json:"table,omitempty"`
	// csv, json (one object a line), parquet or delta.
	Format SourceFormat `json:"format"`
	// How files are read.
	Options SourceOptions `json:"options,omitzero"`
	// How it is told what is new: files, delta_version, cdf or full.
	Incremental Incremental `json:"incremental,omitempty"`
	// How long a file must lie unchanged before it is read.
	Settle Duration `json:"settle,omitempty"`
	// Condition, on the columns of the source, that makes a record the delete of its key. It needs keys and sequence only.
	ApplyAsDeletes string `json:"apply_as_deletes,omitempty"`
	// Where each column comes from, and only what differs for this source.
	Columns []SourceColumn `json:"columns,omitempty"`
}

// SourceOptions say how files are read.
type SourceOptions struct {
	// CSV: the character between cells.
	Delimiter string `json:"delimiter,omitempty"`
	// CSV: the character around cells that hold delimiters, quotes or line breaks.
	Quote string `json:"quote,omitempty"`
	// CSV: whether the first record names the columns. Without it they are called _c1, _c2 and so on.
	Header *bool `json:"header,omitempty"`
	// CSV and JSON: the encoding's name, such as utf-8, windows-1252 or utf-16le. A byte that it does not have rejects the record.
	Encoding string `json:"encoding,omitempty"`
	// Texts that stand for NULL, before and after cleaning.
	NullValues []string `json:"null_values,omitempty"`
}

// SourceColumn says where a column comes from in one source, and what differs.
type SourceColumn struct {
	// Column of the table.
	Name string `json:"name"`
	// Column of the source; for JSON a path such as customer.address.city.
	From string `json:"from,omitempty"`
	// Patterns of dates and timestamps.
	Format []string `json:"format,omitempty"`
	// The decimal sign.
	Decimal string `json:"decimal,omitempty"`
	// The sign between groups of three digits.
	Grouping string `json:"grouping,omitempty"`
	// Time zone of timestamps without an offset.
	Timezone string `json:"timezone,omitempty"`
	// What is done about times that occur twice.
	DST DSTPolicy `json:"dst,omitempty"`
	// First year that two digits can mean.
	TwoDigitYearBase *int `json:"two_digit_year_base,omitempty"`
	// Value where the source has none.
	Default Scalar `json:"default,omitempty"`
	// Cleaning steps.
	Clean []Clean `json:"clean,omitempty"`
	// Texts that are replaced.
	Values ValueMap `json:"values,omitempty"`
}

// Clean is a cleaning step of text. Steps run in the order of this list,
// however they are written.
type Clean string

// Values of Clean.
const (
	CleanFixEncoding    Clean = "fix_encoding"
	CleanNFC            Clean = "nfc"
	CleanStripInvisible Clean = "strip_invisible"
	CleanTrim           Clean = "trim"
	CleanCollapseSpaces Clean = "collapse_spaces"
	CleanUpper          Clean = "upper"
	CleanLower          Clean = "lower"
)

// CleanSteps are all of them, in the order in which they run.
var CleanSteps = []Clean{CleanFixEncoding, CleanNFC, CleanStripInvisible, CleanTrim, CleanCollapseSpaces, CleanUpper, CleanLower}

// DSTPolicy says which instant a local time means that occurs twice when clocks
// go back. A time that clocks skip is always rejected.
type DSTPolicy string

// Values of DSTPolicy.
const (
	DSTReject  DSTPolicy = "reject"
	DSTEarlier DSTPolicy = "earlier"
	DSTLater   DSTPolicy = "later"
)

// SilverColumn is a column of the table, and how raw values become its values.
type SilverColumn struct {
	// Name of the column.
	Name string `json:"name"`
	// Type: string, boolean, byte, short, integer, long, float, double, decimal(p,s), date, timestamp or timestamp_ntz.
	Type string `json:"type"`
	// Column of the sources, where its name differs; for JSON a path such as customer.address.city.
	From string `json:"from,omitempty"`
	// Expression on other columns of the table that gives the value, instead of a source column.
	Expr string `json:"expr,omitempty"`
	// Patterns of dates and timestamps, such as dd/MM/yyyy; the whole text must match one, and all that match must mean the same.
	Format []string `json:"format,omitempty"`
	// The decimal sign of numbers.
	Decimal string `json:"decimal,omitempty"`
	// The sign between groups of three digits.
	Grouping string `json:"grouping,omitempty"`
	// Time zone of timestamps without an offset.
	Timezone string `json:"timezone,omitempty"`
	// What is done about times that occur twice when clocks go back: reject, earlier or later.
	DST DSTPolicy `json:"dst,omitempty"`
	// First year that two digits can mean: 1950 makes 49 the year 2049.
	TwoDigitYearBase *int `json:"two_digit_year_base,omitempty"`
	// Value where the source has none, written as in the source.
	Default Scalar `json:"default,omitempty"`
	// A row without a value is rejected.
	Required bool `json:"required,omitempty"`
	// Cleaning steps: fix_encoding, nfc, strip_invisible, trim, collapse_spaces, upper, lower.
	Clean []Clean `json:"clean,omitempty"`
	// Texts that are replaced, after cleaning.
	Values ValueMap `json:"values,omitempty"`
}

// Deletes is what a delete record does.
type Deletes string

// Values of Deletes.
const (
	DeletesSoft Deletes = "soft"
	DeletesHard Deletes = "hard"
)

// OnInvalidNewest says what counts for a key whose newest version is rejected.
type OnInvalidNewest string

// Values of OnInvalidNewest.
const (
	KeepOlder OnInvalidNewest = "keep_older"
	HoldKey   OnInvalidNewest = "hold_key" // known, and refused: it is not handled
)

// SeverityQuarantine rejects the rows for which a rule does not hold.
const SeverityQuarantine Severity = "quarantine"

// Expectation is a rule on the rows of the table.
type Expectation struct {
	// Name of the rule, for reasons and counts.
	Name string `json:"name"`
	// Condition on the table's columns.
	Check string `json:"check"`
	// warn counts, quarantine rejects the row, fail ends the run before anything is written.
	Severity Severity `json:"severity,omitempty"`
}

// SilverLimits bound a run.
type SilverLimits struct {
	// Largest share of the rows read that may be quarantined.
	MaxQuarantined Percent `json:"max_quarantined,omitempty"`
}

// DriftPolicy is what is done about a source column that the spec does not name.
type DriftPolicy string

// Values of DriftPolicy.
const (
	DriftIgnore DriftPolicy = "ignore"
	DriftFail   DriftPolicy = "fail"
	DriftAdd    DriftPolicy = "add" // known, and refused: it is not handled
)

// SchemaDrift says what is done about columns that come and go.
type SchemaDrift struct {
	// Columns of a source that the spec does not name: ignore (and report) or fail.
	NewColumns DriftPolicy `json:"new_columns,omitempty"`
}

// SilverTarget is the table that is written.
type SilverTarget struct {
	// The Delta table, as schema.table, created when missing.
	Table string `json:"table"`
	// Columns that it is partitioned by.
	PartitionBy []string `json:"partition_by,omitempty"`
	// Adds _ValidFrom, the first column of sequence_by as a timestamp, for histories made from this table.
	ValidFrom bool `json:"valid_from,omitempty"`
	// Rows that are past their retention do not come back.
	Retention *SilverRetention `json:"retention,omitempty"`
}

// SilverRetention names what a purge took, or would take.
type SilverRetention struct {
	// Rules by which rows are expired.
	Policies []SilverExpiry `json:"policies"`
}

// SilverExpiry is the age at which rows of the table are expired, as in the
// retention policy that purges them.
type SilverExpiry struct {
	// Name of the retention policy, for people.
	Name string `json:"name"`
	// The age, on a date or timestamp column of the table.
	OlderThan OlderThan `json:"older_than"`
}

// SilverQuarantine is the table of rejected rows.
type SilverQuarantine struct {
	// Delta table, as schema.table, created when missing. Without it: the target's name with _quarantine.
	Table string `json:"table,omitempty"`
	// How long rows that are settled (fixed, superseded, discarded) are kept.
	Retention Duration `json:"retention,omitempty"`
}

// Maintenance says what is done for a table's files.
type Maintenance struct {
	// Packs small files into large ones.
	Optimize *MaintenanceOptimize `json:"optimize,omitempty"`
	// Deletes files that no version within the retention needs.
	Vacuum *MaintenanceVacuum `json:"vacuum,omitempty"`
}

// MaintenanceOptimize packs small files.
type MaintenanceOptimize struct {
	// Packs when a table has at least this many small files.
	MinSmallFiles *int `json:"min_small_files,omitempty"`
}

// MaintenanceVacuum deletes what is no longer needed.
type MaintenanceVacuum struct {
	// How long files of older versions are kept; at least 168h.
	Retention Duration `json:"retention,omitempty"`
}

// SilverRecord names the table of runs.
type SilverRecord struct {
	// Append-only table of runs, as schema.table, created when missing.
	Runs string `json:"runs,omitempty"`
}
