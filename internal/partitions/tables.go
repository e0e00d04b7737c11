package partitions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

// RunRef says which run and attempt a row is of.
type RunRef struct {
	RunID      string    `json:"run_id"`
	Attempt    int       `json:"attempt"` // 1, and more after a repair
	Check      string    `json:"check"`   // name of the document
	Target     string    `json:"target"`
	At         time.Time `json:"at"`
	WorkflowID string    `json:"workflow_id"`
}

// CodeResult is the code of the one row that says how a run ended.
const CodeResult = "RESULT"

// The writers' application ids: one for all runs, so that the tables' txn entries
// do not grow with them.
const (
	findingsApp = "lakewarden/partition_validation"
	statsApp    = "lakewarden/partition_stats"
)

func fieldsOf(names ...schema.Field) *schema.Struct { return &schema.Struct{Fields: names} }

func column(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

// FindingsSchema is the table of findings: one row a finding, and one with code
// RESULT for each run and attempt.
func FindingsSchema() *schema.Struct {
	return fieldsOf(column("run_id", schema.String), column("attempt", schema.Integer), column("check_name", schema.String), column("target", schema.String),
		column("checked_at", schema.Timestamp), column("outcome", schema.String), column("code", schema.String), column("severity", schema.String),
		column("rule", schema.String), column("partition", schema.String), column("file", schema.String), column("column", schema.String),
		column("value", schema.String), column("limit", schema.String), column("message", schema.String), column("workflow_id", schema.String),
		column("table_version", schema.Long))
}

// StatsSchema is the table of statistics: one row a partition, and one a column
// that was measured.
func StatsSchema() *schema.Struct {
	return fieldsOf(column("run_id", schema.String), column("attempt", schema.Integer), column("check_name", schema.String), column("target", schema.String),
		column("measured_at", schema.Timestamp), column("partition", schema.String), column("status", schema.String), column("files", schema.Long),
		column("bytes", schema.Long), column("rows", schema.Long), column("column", schema.String), column("nulls", schema.Long),
		column("min", schema.String), column("max", schema.String), column("mean", schema.Double), column("distinct_approx", schema.Long))
}

// StatRow is a row of the table of statistics, as far as baselines need it.
type StatRow struct {
	Partition string
	Column    string // empty: of the partition
	At        time.Time
	Bytes     *int64
	Rows      *int64
	Mean      *float64
	Distinct  *int64
}

// RecordFindings appends a run's findings and its result, once. It gives the
// table's version that shows them.
func RecordFindings(ctx context.Context, s storage.Store, env deltaio.Env, run RunRef, v *Verdict, version *int64) (int64, error) {
	return record(ctx, s, env, findingsApp, "Findings of partition checks, one row each", FindingsSchema(), run, func(b *array.RecordBuilder) {
		row := func(code, severity, rule, partition, file, col, value, limit, message string) {
			at := 0
			put := func(v any) { appendTo(b.Field(at), v); at++ }
			for _, v := range []any{
				run.RunID, int32(run.Attempt), run.Check, run.Target, run.At, v.Outcome, code, severity, //nolint:gosec // few attempts
				rule, partition, file, col, value, limit, message, run.WorkflowID, version,
			} {
				put(v)
			}
		}
		row(CodeResult, "", "", "", "", "", v.Outcome, "", resultMessage(v))
		for _, f := range v.Findings {
			row(f.Code, string(f.Severity), f.Check, f.Partition, f.File, f.Column, f.Value, f.Limit, f.Message)
		}
	})
}

func resultMessage(v *Verdict) string {
	return fmt.Sprintf("%d checks, %d findings, %d partitions missing", len(v.Rules), len(v.Findings), v.Counts[Missing])
}

// RecordStats appends a run's statistics by partition, once.
func RecordStats(ctx context.Context, s storage.Store, env deltaio.Env, run RunRef, v *Survey) (int64, error) {
	return record(ctx, s, env, statsApp, "Statistics of partitions by run, which baselines are taken from", StatsSchema(), run, func(b *array.RecordBuilder) {
		for i := range v.Parts {
			p := &v.Parts[i]
			if !p.There() || p.Key == "" {
				continue
			}
			statRow(b, run, p, "", nil)
			for name, c := range p.Columns {
				if c.Unread == 0 {
					statRow(b, run, p, name, c)
				}
			}
		}
	})
}

func statRow(b *array.RecordBuilder, run RunRef, p *Part, name string, c *Column) {
	files := int64(p.Files)
	row := []any{
		run.RunID, int32(run.Attempt), run.Check, run.Target, run.At, string(p.Key), string(p.Status), &files, &p.Bytes, p.Rows, name, //nolint:gosec // few attempts
		(*int64)(nil), "", "", (*float64)(nil), (*int64)(nil),
	}
	if c != nil {
		row[11] = &c.Nulls
		if c.Min != nil {
			row[12], row[13] = c.Min.Text, c.Max.Text
		}
		if m, ok := c.Mean(); ok {
			row[14] = &m
		}
		if len(c.Sketch) > 0 {
			d := c.Sketch.Distinct()
			row[15] = &d
		}
	}
	for i, v := range row {
		appendTo(b.Field(i), v)
	}
}

// appendTo adds a value; empty text and nil are null.
func appendTo(b array.Builder, v any) {
	switch x := v.(type) {
	case string:
		if x != "" {
			b.(*array.StringBuilder).Append(x)
			return
		}
	case int32:
		b.(*array.Int32Builder).Append(x)
		return
	case time.Time:
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(x.UnixMicro()))
		return
	case *int64:
		if x != nil {
			b.(*array.Int64Builder).Append(*x)
			return
		}
	case *float64:
		if x != nil {
			b.(*array.Float64Builder).Append(*x)
			return
		}
	}
	b.AppendNull()
}

// maxAttempts bounds how often an append gives way to other writers.
const maxAttempts = 50

// record appends rows to a table of results, once per run and attempt: rows that
// are there already are left as they are.
func record(ctx context.Context, s storage.Store, env deltaio.Env, app, what string, sc *schema.Struct, run RunRef, fill func(*array.RecordBuilder)) (int64, error) {
	t, err := ensure(ctx, s, env, what, sc)
	if err != nil {
		return 0, err
	}
	as, err := schema.ArrowSchema(sc)
	if err != nil {
		return 0, err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	fill(b)
	rec := b.NewRecord()
	defer rec.Release()
	for range maxAttempts {
		snap, err := t.Snapshot(ctx)
		if err != nil {
			return 0, err
		}
		there, err := recorded(ctx, snap, run)
		if err != nil || there || rec.NumRows() == 0 {
			return snap.Version(), err
		}
		current, _ := snap.Txn(app)
		next := current + 1
		if next%2 == 0 {
			next++ // odd versions mean done
		}
		res, err := deltaio.Append(ctx, t, deltaio.AppendOptions{Base: snap, Step: &deltaio.Step{AppID: app, Version: next}}, func(yield func(arrow.Record, error) bool) { yield(rec, nil) })
		var conflict *deltaio.ConflictError
		switch {
		case errors.As(err, &conflict):
		case err != nil:
			return 0, err
		case res.Outcome == deltaio.Committed:
			return res.Version, nil
		}
		// The txn version was taken: by another writer, or by ourselves with a lost
		// answer; the rows tell.
	}
	return 0, fmt.Errorf("%s: other writers were faster %d times; try again", s.URL(), maxAttempts)
}

// recorded says whether rows of the run and attempt are there.
func recorded(ctx context.Context, snap *deltaio.Snapshot, run RunRef) (bool, error) {
	where, err := expr.Parse("run_id = " + calendar.QuoteString(run.RunID) + fmt.Sprintf(" AND attempt = %d", run.Attempt))
	if err != nil {
		return false, err
	}
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Columns: []string{"run_id"}, Where: where}) {
		if err != nil {
			return false, err
		}
		n := rec.NumRows()
		rec.Release()
		if n > 0 {
			return true, nil
		}
	}
	return false, nil
}

// ensure opens a table of results, creating it first, and adds columns that one of
// an older shape lacks.
func ensure(ctx context.Context, s storage.Store, env deltaio.Env, what string, sc *schema.Struct) (*deltaio.Table, error) {
	t, err := deltaio.OpenOrCreate(ctx, s, env, deltaio.CreateOptions{Schema: sc, Properties: map[string]string{"delta.appendOnly": "true"}, Description: what})
	if err != nil {
		return nil, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range sc.Fields {
		if have, ok := snap.Schema().Field(f.Name); ok {
			if !schema.Equal(have.Type, f.Type) {
				return nil, fmt.Errorf("%s: column %s is %s, wanted %s: this is not a table of results; name another one in record", s.URL(), f.Name, have.Type, f.Type)
			}
			continue
		}
		if _, err := deltaio.AddColumn(ctx, t, deltaio.AddColumnOptions{Name: f.Name, Type: f.Type}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// History reads the newest statistics of a target's partitions; none where there
// is no table yet.
func History(ctx context.Context, s storage.Store, env deltaio.Env, target string) ([]StatRow, error) {
	t, err := deltaio.Open(ctx, s, env)
	if errors.Is(err, deltaio.ErrNotATable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	where, err := expr.Parse("target = " + calendar.QuoteString(target))
	if err != nil {
		return nil, err
	}
	var out []StatRow
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Columns: []string{"partition", "column", "measured_at", "bytes", "rows", "mean", "distinct_approx"}, Where: where}) {
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			out = append(out, statOf(rec, i))
		}
		rec.Release()
	}
	return out, nil
}

func statOf(rec arrow.Record, i int) StatRow {
	text := func(c int) string {
		if rec.Column(c).IsNull(i) {
			return ""
		}
		return string([]byte(rec.Column(c).(*array.String).Value(i)))
	}
	long := func(c int) *int64 {
		if rec.Column(c).IsNull(i) {
			return nil
		}
		v := rec.Column(c).(*array.Int64).Value(i)
		return &v
	}
	r := StatRow{Partition: text(0), Column: text(1), Bytes: long(3), Rows: long(4), Distinct: long(6)}
	if !rec.Column(2).IsNull(i) {
		r.At = time.UnixMicro(int64(rec.Column(2).(*array.Timestamp).Value(i))).UTC()
	}
	if !rec.Column(5).IsNull(i) {
		v := rec.Column(5).(*array.Float64).Value(i)
		r.Mean = &v
	}
	return r
}

// remember keeps the newest figures of each partition and column.
func (j *judge) remember(r StatRow) {
	if j.history[r.Partition] == nil {
		j.history[r.Partition] = map[string]StatRow{}
	}
	if have, ok := j.history[r.Partition][r.Column]; !ok || r.At.After(have.At) {
		j.history[r.Partition][r.Column] = r
	}
}

// remembered is a partition's value as an earlier run took it.
func (j *judge) remembered(key calendar.Key, r spec.PartitionRule) (float64, bool) {
	h, ok := j.history[string(key)][r.Column]
	if !ok {
		return 0, false
	}
	var n *int64
	switch plainOf[r.Metric] {
	case spec.RowCount:
		n = h.Rows
	case spec.Bytes:
		n = h.Bytes
	case spec.DistinctValues:
		n = h.Distinct
	case spec.MeanValue:
		if h.Mean != nil {
			return *h.Mean, true
		}
	}
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}
