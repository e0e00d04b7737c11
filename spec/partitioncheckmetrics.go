package spec

import "slices"

// Metric is what a rule of a PartitionCheck measures.
type Metric string

// Values of Metric.
const (
	MissingPartitions    Metric = "missing_partitions"
	InvalidPartitions    Metric = "invalid_partitions"
	UnexpectedPartitions Metric = "unexpected_partitions"
	LatePartitions       Metric = "late_partitions"
	UnreadableFiles      Metric = "unreadable_files"
	SchemaMismatches     Metric = "schema_mismatches"
	RowCount             Metric = "row_count"
	RowCountChange       Metric = "row_count_change"
	RowCountDeviation    Metric = "row_count_deviation"
	FileCount            Metric = "file_count"
	FileBytes            Metric = "file_bytes"
	Bytes                Metric = "bytes"
	BytesChange          Metric = "bytes_change"
	NullValues           Metric = "null_values"
	NullShare            Metric = "null_share"
	MinValue             Metric = "min"
	MaxValue             Metric = "max"
	MeanValue            Metric = "mean"
	MeanChange           Metric = "mean_change"
	DistinctValues       Metric = "distinct_values"
	DistinctChange       Metric = "distinct_values_change"
	ValuesOutside        Metric = "values_outside_partition"
)

// metricRule says how a metric is written.
type metricRule struct {
	per      []Per // the first is the default
	column   bool
	baseline bool
	percent  bool // compared with a percentage
	text     bool // may be compared with text, such as a day
	volume   bool // small while a partition is still being written
	reads    bool // needs the values themselves
}

var (
	tableOnly = []Per{PerTable}
	sums      = []Per{PerPartition, PerTable}
)

var metricRules = map[Metric]metricRule{
	MissingPartitions:    {per: tableOnly},
	InvalidPartitions:    {per: tableOnly},
	UnexpectedPartitions: {per: tableOnly},
	LatePartitions:       {per: tableOnly},
	UnreadableFiles:      {per: tableOnly},
	SchemaMismatches:     {per: tableOnly},
	RowCount:             {per: []Per{PerPartition, PerTable, PerFile}, volume: true},
	RowCountChange:       {per: []Per{PerPartition}, baseline: true, percent: true, volume: true},
	RowCountDeviation:    {per: []Per{PerPartition}, baseline: true, volume: true},
	FileCount:            {per: sums, volume: true},
	FileBytes:            {per: []Per{PerFile}},
	Bytes:                {per: sums, volume: true},
	BytesChange:          {per: []Per{PerPartition}, baseline: true, percent: true, volume: true},
	NullValues:           {per: sums, column: true},
	NullShare:            {per: sums, column: true, percent: true},
	MinValue:             {per: sums, column: true, text: true},
	MaxValue:             {per: sums, column: true, text: true},
	MeanValue:            {per: sums, column: true, reads: true},
	MeanChange:           {per: []Per{PerPartition}, column: true, baseline: true, percent: true, reads: true, volume: true},
	DistinctValues:       {per: []Per{PerPartition}, column: true, reads: true, volume: true},
	DistinctChange:       {per: []Per{PerPartition}, column: true, baseline: true, percent: true, reads: true, volume: true},
	ValuesOutside:        {per: sums, column: true},
}

// metrics in the order that people read them in.
var metrics = []Metric{
	MissingPartitions, InvalidPartitions, UnexpectedPartitions, LatePartitions, UnreadableFiles, SchemaMismatches,
	RowCount, RowCountChange, RowCountDeviation, FileCount, FileBytes, Bytes, BytesChange, NullValues, NullShare,
	MinValue, MaxValue, MeanValue, MeanChange, DistinctValues, DistinctChange, ValuesOutside,
}

// metricNames as an enumeration.
func metricNames() []string {
	out := make([]string, len(metrics))
	for i, m := range metrics {
		out[i] = string(m)
	}
	return out
}

// OfColumn says whether the metric is one of a column's values.
func (m Metric) OfColumn() bool { return metricRules[m].column }

// Reads says whether the metric always needs the values themselves; what else is
// of a column is taken from the table's log where that is exact.
func (m Metric) Reads() bool { return metricRules[m].reads }

// Volume says whether the metric is small while a partition is still written, so
// that a period in progress is not judged by it.
func (m Metric) Volume() bool { return metricRules[m].volume }

// Relative says whether the metric is taken against a baseline.
func (m Metric) Relative() bool { return metricRules[m].baseline }

// Percent says whether the metric is a share or a change.
func (m Metric) Percent() bool { return metricRules[m].percent }

// ReadsFiles says whether the check opens data files whatever the table's log
// knows.
func (c PartitionCheck) ReadsFiles() bool {
	return slices.ContainsFunc(c.Checks, func(r PartitionRule) bool {
		return r.Metric == UnreadableFiles || r.Metric == SchemaMismatches || r.Metric.Reads()
	})
}
