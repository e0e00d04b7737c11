package activities

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// stepHold is the step of a restore that registers its hold; its next version
// ends it.
const stepHold = "hold"

// holdEnded is the column of a row that ends a hold.
const holdEnded = "ended_at"

// holdSchema is the table of holds. Names are what people see in their engines.
func holdSchema() *schema.Struct {
	s := &schema.Struct{}
	for _, name := range []string{"hold_id", "target_table", "run_id", "archive_table", "criteria", "key_columns", "reason", "requested_by"} {
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: schema.String, Nullable: true})
	}
	return &schema.Struct{Fields: append(s.Fields,
		schema.Field{Name: "registered_at", Type: schema.Timestamp, Nullable: true},
		schema.Field{Name: "hold_until", Type: schema.Date, Nullable: true},
		schema.Field{Name: holdEnded, Type: schema.Timestamp, Nullable: true})}
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
	keys, err := encodeKeys(in.Request.Keys)
	if err != nil {
		return err
	}
	outcome, err := a.appendHold(ctx, in.RestoreID, 1, env, []any{
		in.RestoreID, found.Run.Table, in.Request.RunID, found.ArchiveTable, in.Request.Where, keys,
		in.Request.Reason, in.Request.RequestedBy, in.Now, until, nil,
	})
	if err == nil && outcome == deltaio.Fenced {
		return fenced("restore", Run{RunID: in.RestoreID})
	}
	return err
}

// endHold ends the hold of a restore whose rows do not come back any more, and
// makes sure that a late attempt registers none.
func (a *Activities) endHold(ctx context.Context, in RestoreRowsInput, found *FindRunResult, env deltaio.Env) error {
	_, err := a.appendHold(ctx, in.RestoreID, 2, env, []any{
		in.RestoreID, found.Run.Table, in.Request.RunID, nil, nil, nil,
		"nothing was restored: the hold has ended", in.Request.RequestedBy, in.Now, nil, a.Now(),
	})
	return err
}

// appendHold adds one row, of values in the order of holdSchema, exactly once.
func (a *Activities) appendHold(ctx context.Context, restoreID string, version int64, env deltaio.Env, values []any) (deltaio.Outcome, error) {
	t, err := a.holdRegistry(ctx, env)
	if err != nil {
		return 0, err
	}
	rec, err := holdRecord(values)
	if err != nil {
		return 0, err
	}
	defer rec.Release()
	res, err := deltaio.Append(ctx, t, deltaio.AppendOptions{
		Step: &deltaio.Step{AppID: purge.AppID(restoreID, stepHold), Version: version}, FilePrefix: "hold",
	}, iter.Seq2[arrow.Record, error](func(yield func(arrow.Record, error) bool) { yield(rec, nil) }))
	if err != nil {
		return 0, err
	}
	return res.Outcome, nil
}

// holdRegistry opens the table of holds, creating it or adding what it lacks.
func (a *Activities) holdRegistry(ctx context.Context, env deltaio.Env) (*deltaio.Table, error) {
	store, err := a.Lake.Table(ctx, holdsTable)
	if err != nil {
		return nil, err
	}
	t, err := deltaio.OpenOrCreate(ctx, store, env, deltaio.CreateOptions{Schema: holdSchema(), Description: "Rows that purges must not take again"})
	if err != nil {
		return nil, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := snap.Schema().Field(holdEnded); !ok {
		_, err = deltaio.AddColumn(ctx, t, deltaio.AddColumnOptions{Name: holdEnded, Type: schema.Timestamp})
	}
	return t, err
}

func holdRecord(values []any) (arrow.Record, error) {
	sc, err := schema.ArrowSchema(holdSchema())
	if err != nil {
		return nil, err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for i, v := range values {
		at, isTime := v.(time.Time)
		switch f := b.Field(i).(type) {
		case *array.StringBuilder:
			if text, ok := v.(string); ok {
				f.Append(text)
				continue
			}
		case *array.TimestampBuilder:
			if isTime {
				f.Append(arrow.Timestamp(at.UnixMicro()))
				continue
			}
		case *array.Date32Builder:
			if isTime {
				f.Append(arrow.Date32FromTime(at))
				continue
			}
		}
		b.Field(i).AppendNull()
	}
	return b.NewRecord(), nil
}
