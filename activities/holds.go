package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// Restored rows are held by a row in this table: the run they came from, the
// keys they have in its archive, and the last day of the hold. Every purge reads
// it, whatever its policy says. Rows are only added: a hold that a failed restore
// registered is ended by a later row of the same hold_id.
const holdsTable = spec.HoldTable

// hold is one row of the registry.
type hold struct{ id, runID, archive, criteria, keys string }

// restoreHolds reads the keys of restored rows of a table whose hold has not
// ended; nil when there are none.
func (a *Activities) restoreHolds(ctx context.Context, table string, env deltaio.Env) (*purge.KeySet, error) {
	holds, err := a.openHolds(ctx, table, env)
	if err != nil {
		return nil, err
	}
	var all *purge.KeySet
	for _, h := range holds {
		set, err := a.heldKeys(ctx, h, env)
		if err == nil {
			all, err = union(table, all, set)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: hold %s: %w", holdsTable, h.id, err)
		}
	}
	return all, nil
}

// openHolds reads the holds of a table that go on: their last day is not over,
// and no later row ends them.
func (a *Activities) openHolds(ctx context.Context, table string, env deltaio.Env) ([]hold, error) {
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
	ends := "FALSE" // a registry of before holds could end early
	if _, ok := snap.Schema().Field(holdEnded); ok {
		ends = calendar.QuoteColumn(holdEnded) + " IS NOT NULL"
	}
	read := func(where string, each func(rec arrow.Record, i int)) error {
		return a.scanHolds(ctx, snap, "target_table = "+calendar.QuoteString(table)+" AND "+where, each)
	}
	ended := map[string]bool{}
	if err := read(ends, func(rec arrow.Record, i int) { ended[textOf(rec, "hold_id", i)] = true }); err != nil {
		return nil, err
	}
	var holds []hold
	err = read("hold_until >= current_date()", func(rec arrow.Record, i int) {
		h := hold{
			id: textOf(rec, "hold_id", i), runID: textOf(rec, "run_id", i), archive: textOf(rec, "archive_table", i),
			criteria: textOf(rec, "criteria", i), keys: textOf(rec, "key_columns", i),
		}
		if !ended[h.id] {
			holds = append(holds, h)
		}
	})
	return holds, err
}

func (a *Activities) scanHolds(ctx context.Context, snap *deltaio.Snapshot, where string, each func(arrow.Record, int)) error {
	x, err := expr.Parse(where)
	if err != nil {
		return err
	}
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Where: x, Context: expr.Context{Now: a.Now(), Zone: time.UTC}}) {
		if err != nil {
			return err
		}
		for i := range int(rec.NumRows()) {
			each(rec, i)
		}
		rec.Release()
	}
	return nil
}

// textOf reads a cell of a text column; "" where it is null or missing. The text
// outlives the batch.
func textOf(rec arrow.Record, name string, i int) string {
	for j, f := range rec.Schema().Fields() {
		if s, ok := rec.Column(j).(*array.String); ok && f.Name == name && s.IsValid(i) {
			return strings.Clone(s.Value(i))
		}
	}
	return ""
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
func (a *Activities) heldKeys(ctx context.Context, h hold, env deltaio.Env) (*purge.KeySet, error) {
	where := "run_id = " + calendar.QuoteString(h.runID)
	if h.criteria != "" {
		where += " AND (" + h.criteria + ")"
	}
	x, err := expr.Parse(where)
	if err != nil {
		return nil, err
	}
	archive, err := a.open(ctx, h.archive, env)
	if err != nil {
		return nil, err
	}
	snap, err := archive.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	keys := decodeKeys(h.keys)
	return purge.LoadKeysWhere(ctx, snap, keys, keys, x, expr.Context{Now: a.Now(), Zone: time.UTC})
}

// encodeKeys writes the names of key columns as a JSON list: a name may hold any
// sign.
func encodeKeys(keys []string) (string, error) {
	data, err := evidence.CanonicalJSON(keys)
	return string(data), err
}

// decodeKeys reads them; rows of earlier versions hold the names joined by commas.
func decodeKeys(text string) []string {
	var keys []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &keys) == nil {
		return keys
	}
	return strings.Split(text, ",")
}
