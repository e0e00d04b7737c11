package activities

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

// Restored rows are held by a row in this table: the run they came from, the
// keys they have in its archive, and the last day of the hold. Every purge reads
// it, whatever its policy says.
const holdsTable = spec.HoldTable

// holdSchema is the table of holds. Names are what people see in their engines.
func holdSchema() *schema.Struct {
	s := &schema.Struct{}
	for _, name := range []string{"hold_id", "target_table", "run_id", "archive_table", "criteria", "key_columns", "reason", "requested_by"} {
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: schema.String, Nullable: true})
	}
	return &schema.Struct{Fields: append(s.Fields,
		schema.Field{Name: "registered_at", Type: schema.Timestamp, Nullable: true},
		schema.Field{Name: "hold_until", Type: schema.Date, Nullable: true})}
}

// registerHold writes the hold of a restore, exactly once, unless the table has
// holds that go on by other keys.
func (a *Activities) registerHold(ctx context.Context, in RestoreRowsInput, found *FindRunResult, until time.Time, env deltaio.Env) error {
	if err := a.sameHoldKeys(ctx, found.Run.Table, in.Request.Keys, env); err != nil {
		return err
	}
	return a.writeHold(ctx, in, found, until, env)
}

func (a *Activities) writeHold(ctx context.Context, in RestoreRowsInput, found *FindRunResult, until time.Time, env deltaio.Env) error {
	store, err := a.Lake.Table(ctx, holdsTable)
	if err != nil {
		return err
	}
	t, err := deltaio.Open(ctx, store, env)
	if errors.Is(err, deltaio.ErrNotATable) {
		t, err = deltaio.Create(ctx, store, env, deltaio.CreateOptions{Schema: holdSchema(), Description: "Rows that purges must not take again"})
		if errors.Is(err, deltaio.ErrExists) {
			t, err = deltaio.Open(ctx, store, env)
		}
	}
	if err != nil {
		return err
	}
	rec, err := holdRecord(in, found, until)
	if err != nil {
		return err
	}
	defer rec.Release()
	_, err = deltaio.Append(ctx, t, deltaio.AppendOptions{
		Step: &deltaio.Step{AppID: purge.AppID(in.RestoreID, "hold"), Version: 1}, FilePrefix: "hold",
	}, iter.Seq2[arrow.Record, error](func(yield func(arrow.Record, error) bool) { yield(rec, nil) }))
	return err
}

func holdRecord(in RestoreRowsInput, found *FindRunResult, until time.Time) (arrow.Record, error) {
	sc, err := schema.ArrowSchema(holdSchema())
	if err != nil {
		return nil, err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for i, v := range []string{
		in.RestoreID, found.Run.Table, in.Request.RunID, found.ArchiveTable, in.Request.Where, strings.Join(in.Request.Keys, ","),
		in.Request.Reason, in.Request.RequestedBy,
	} {
		b.Field(i).(*array.StringBuilder).Append(v)
	}
	b.Field(8).(*array.TimestampBuilder).Append(arrow.Timestamp(in.Now.UnixMicro()))
	b.Field(9).(*array.Date32Builder).Append(arrow.Date32FromTime(until))
	return b.NewRecord(), nil
}

// restoreHolds reads the keys of restored rows of a table whose hold has not
// ended; nil when there are none.
func (a *Activities) restoreHolds(ctx context.Context, table string, env deltaio.Env) (*purge.KeySet, error) {
	t, err := a.open(ctx, holdsTable, env)
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
	where, err := expr.Parse("target_table = " + calendar.QuoteString(table) + " AND hold_until >= current_date()")
	if err != nil {
		return nil, err
	}
	var all *purge.KeySet
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Where: where, Context: expr.Context{Now: a.Now(), Zone: time.UTC}}) {
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			set, err := a.heldKeys(ctx, rec, i, env)
			if err == nil {
				all, err = union(table, all, set)
			}
			if err != nil {
				rec.Release()
				return nil, fmt.Errorf("%s: %w", holdsTable, err)
			}
		}
		rec.Release()
	}
	return all, nil
}

// union joins two sets of held keys. Sets over other columns are no matter of
// trying again.
func union(table string, a, b *purge.KeySet) (*purge.KeySet, error) {
	u, err := purge.Union(a, b)
	if err != nil {
		return nil, &purge.CriteriaError{Table: table, Part: "hold keys", Err: err}
	}
	return u, nil
}

// sameHoldKeys refuses a hold by other columns than those of a hold of the table
// that goes on: the next purge could not read the two together.
func (a *Activities) sameHoldKeys(ctx context.Context, table string, keys []string, env deltaio.Env) error {
	held, err := a.restoreHolds(ctx, table, env)
	if err != nil || held == nil || slices.EqualFunc(held.Columns(), keys, strings.EqualFold) {
		return err
	}
	return refused("rows of %s are held by the keys (%s) already; restore by these keys too, not by (%s)", table, strings.Join(held.Columns(), ", "), strings.Join(keys, ", "))
}

// heldKeys reads one hold's keys from the archive the rows came from.
func (a *Activities) heldKeys(ctx context.Context, rec arrow.Record, i int, env deltaio.Env) (*purge.KeySet, error) {
	text := func(name string) string {
		for j, f := range rec.Schema().Fields() {
			if s, ok := rec.Column(j).(*array.String); ok && f.Name == name && s.IsValid(i) {
				return s.Value(i)
			}
		}
		return ""
	}
	where := "run_id = " + calendar.QuoteString(text("run_id"))
	if c := text("criteria"); c != "" {
		where += " AND (" + c + ")"
	}
	x, err := expr.Parse(where)
	if err != nil {
		return nil, err
	}
	archive, err := a.open(ctx, text("archive_table"), env)
	if err != nil {
		return nil, err
	}
	snap, err := archive.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	keys := strings.Split(text("key_columns"), ",")
	return purge.LoadKeysWhere(ctx, snap, keys, keys, x, expr.Context{Now: a.Now(), Zone: time.UTC})
}
