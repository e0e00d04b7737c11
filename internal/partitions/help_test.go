package partitions_test

import (
	"bytes"
	"context"
	"iter"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/partitions"
	"github.com/lakewarden/lakewarden/spec"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return v
}

// table is a Delta table silver.ventas, partitioned by dt as text.
type table struct {
	t     *testing.T
	store storage.Store
	delta *deltaio.Table
	now   time.Time
}

func (x *table) env() deltaio.Env { return deltaio.Env{Now: func() time.Time { return x.now }} }

func columns(dt schema.Type) *schema.Struct {
	f := func(name string, typ schema.Type) schema.Field {
		return schema.Field{Name: name, Type: typ, Nullable: true}
	}
	return &schema.Struct{Fields: []schema.Field{f("id", schema.Long), f("importe", schema.Double), f("fecha", schema.Date), f("hora", schema.Timestamp), f("dt", dt)}}
}

func newTable(t *testing.T) *table { return newTableOf(t, schema.String) }

func newTableOf(t *testing.T, dt schema.Type) *table {
	t.Helper()
	x := &table{t: t, store: storage.NewMemory(), now: at(t, "2026-09-12T12:00:00Z")}
	var err error
	x.delta, err = deltaio.Create(t.Context(), x.store, x.env(), deltaio.CreateOptions{Schema: columns(dt), PartitionBy: []string{"dt"}})
	require.NoError(t, err)
	return x
}

// load appends n rows to a partition, in one commit; change adapts each row.
func (x *table) load(dt string, n int, change ...func(i int, r *row)) {
	x.t.Helper()
	rec := record(x.t, x.delta, dt, n, change...)
	defer rec.Release()
	_, err := deltaio.Append(x.t.Context(), x.delta, deltaio.AppendOptions{}, one(rec))
	require.NoError(x.t, err)
}

func one(rec arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) { yield(rec, nil) }
}

// row is what a test may change.
type row struct {
	id      *int64
	importe float64
	fecha   string
	hora    string
}

func record(t *testing.T, d *deltaio.Table, dt string, n int, change ...func(i int, r *row)) arrow.Record {
	t.Helper()
	snap, err := d.Snapshot(t.Context())
	require.NoError(t, err)
	as, err := schema.ArrowSchema(snap.Schema())
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	for i := range n {
		id := int64(i)
		r := row{id: &id, importe: float64(i%100) + 1, fecha: dt, hora: dt + "T10:00:00Z"}
		for _, c := range change {
			c(i, &r)
		}
		if r.id == nil {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(*r.id)
		}
		b.Field(1).(*array.Float64Builder).Append(r.importe)
		if day, err := time.Parse(time.DateOnly, r.fecha); err == nil {
			b.Field(2).(*array.Date32Builder).Append(arrow.Date32FromTime(day))
		} else {
			b.Field(2).AppendNull()
		}
		if hour, err := time.Parse(time.RFC3339, r.hora); err == nil {
			b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(hour.UnixMicro()))
		} else {
			b.Field(3).AppendNull()
		}
		switch p := b.Field(4).(type) {
		case *array.StringBuilder:
			if dt == "null" {
				p.AppendNull()
			} else {
				p.Append(dt)
			}
		case *array.Date32Builder:
			day, err := time.Parse(time.DateOnly, dt)
			require.NoError(t, err)
			p.Append(arrow.Date32FromTime(day))
		}
	}
	return b.NewRecord()
}

// check is a partition check of rules and a range.
func check(t *testing.T, text string) spec.PartitionCheck {
	t.Helper()
	c, err := spec.ParsePartitionCheck([]byte("apiVersion: lakewarden/v1\nkind: PartitionCheck\nname: x\ntable: silver.ventas\n" + text))
	require.NoError(t, err)
	require.Empty(t, c.Validate(time.LoadLocation))
	return c.Defaults()
}

// validate runs the whole of a check without Temporal.
func validate(t *testing.T, s storage.Store, now time.Time, c spec.PartitionCheck, change ...func(*partitions.Ask)) (*partitions.Survey, *partitions.Verdict) {
	t.Helper()
	v, d, err := tryValidate(t.Context(), s, now, c, change...)
	require.NoError(t, err)
	return v, d
}

func tryValidate(ctx context.Context, s storage.Store, now time.Time, c spec.PartitionCheck, change ...func(*partitions.Ask)) (*partitions.Survey, *partitions.Verdict, error) {
	env := deltaio.Env{Now: func() time.Time { return now }}
	ask := partitions.Ask{Check: c, Now: now, Zones: time.LoadLocation}
	for _, f := range change {
		f(&ask)
	}
	v, err := partitions.Look(ctx, s, env, ask)
	if err != nil {
		return nil, nil, err
	}
	var bins []*partitions.BinResult
	for _, b := range v.Bins {
		r, err := partitions.ReadBin(ctx, s, env, v, b, partitions.ReadOptions{Check: c, Lenient: true})
		if err != nil {
			return nil, nil, err
		}
		bins = append(bins, r)
	}
	return v, partitions.Judge(c, v, bins, nil), nil
}

// found lists findings as code and partition (or file).
func found(d *partitions.Verdict) []string {
	out := []string{}
	for _, f := range d.Findings {
		out = append(out, f.Code+" "+f.Partition)
	}
	return out
}

func with(v *partitions.Survey, s partitions.Status) []string {
	out := []string{}
	for _, p := range v.Parts {
		if p.Status == s {
			out = append(out, p.Label())
		}
	}
	return out
}

// parquetFile writes rows as other writers do: without page checksums.
func parquetFile(t *testing.T, rec arrow.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(rec.Schema(), &out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	if rec.NumRows() > 0 {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// plainRecord is rows of id and importe.
func plainRecord(n int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "importe", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil))
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Float64Builder).Append(float64(i))
	}
	return b.NewRecord()
}

// version is the newest one.
func (x *table) version() int64 {
	x.t.Helper()
	snap, err := x.delta.Snapshot(x.t.Context())
	require.NoError(x.t, err)
	return snap.Version()
}

// back removes what was loaded after a version.
func (x *table) back(version int64) {
	x.t.Helper()
	_, err := deltaio.Restore(x.t.Context(), x.delta, deltaio.RestoreOptions{Version: version})
	require.NoError(x.t, err)
}
