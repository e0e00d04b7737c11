package matrix

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// wrong is input that must be refused, with what the error has to say.
type wrong struct {
	name    string
	prepare func(w *world)
	change  func(p *spec.RetentionPolicy)
	says    []string
}

// untouched is every object but what a refused run may write: its own folder and
// its audit row.
func (w *world) untouched() map[string]string {
	w.t.Helper()
	return w.listing("", "_lakewarden/", "control/purge_audit/")
}

func (c wrong) run(t *testing.T) {
	t.Helper()
	w := salesWorld(t)
	if c.prepare != nil {
		c.prepare(w)
	}
	p := policy()
	if c.change != nil {
		c.change(&p)
	}
	before := w.untouched()
	e := w.purge(p, nil)
	require.Error(t, e.err)
	for _, s := range c.says {
		require.ErrorContains(t, e.err, s)
	}
	require.Equal(t, before, w.untouched(), "nothing is touched")
	if e.RunID == "" { // refused before a run began
		require.Empty(t, w.audit(""))
		return
	}
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	if p.Audit.Table != auditName {
		require.ErrorContains(t, e.err, "the audit row could not be written")
		return
	}
	require.Equal(t, []string{evidence.StatusRefused}, w.statuses(e.RunID))
	require.Nil(t, w.audit(e.RunID)[0].RowsDeleted)
	w.verifies(e.RunID)
}

// protocol puts a protocol action into the table's log.
func (w *world) protocol(reader, writer []string) {
	w.t.Helper()
	p := map[string]any{"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": writer}
	if reader != nil {
		p["minReaderVersion"], p["readerFeatures"] = 3, reader
	}
	w.commit(tableName, w.snapshot(tableName).Version()+1, map[string]any{"protocol": p})
}

func field(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

// archiveWith makes an archive of the sales' columns, changed.
func archiveWith(change func(s *schema.Struct)) func(*world) {
	return func(w *world) {
		s := salesSchema()
		change(s)
		w.create(archiveName, deltaio.CreateOptions{Schema: s})
	}
}

func stamped(s *schema.Struct) {
	s.Fields = append(s.Fields, field("run_id", schema.String), field("archived_at", schema.Timestamp))
}

var wrongs = []wrong{
	{name: "empty policy", change: func(p *spec.RetentionPolicy) { *p = spec.RetentionPolicy{} }, says: []string{"for example"}},
	{name: "no criteria", change: func(p *spec.RetentionPolicy) { p.Criteria = spec.Criteria{} }, says: []string{"criteria"}},
	{name: "two ages", change: func(p *spec.RetentionPolicy) { n := 1; p.Criteria.OlderThan.Months = &n }, says: []string{"criteria.older_than", "months"}},
	{name: "archive none without a reason", change: func(p *spec.RetentionPolicy) { p.Archive = spec.Archive{Table: spec.None} }, says: []string{"archive.reason"}},
	{name: "table name without a schema", change: func(p *spec.RetentionPolicy) { p.Table = "sales" }, says: []string{"table"}},
	{name: "table name that is a path", change: func(p *spec.RetentionPolicy) { p.Table = "bronze./../../etc" }, says: []string{"table"}},
	{name: "time zone that is none", change: func(p *spec.RetentionPolicy) { p.Criteria.OlderThan.Timezone = "Europe/Atlantis" }, says: []string{"Europe/Atlantis"}},
	{name: "retention below the floor", change: func(p *spec.RetentionPolicy) { p.Vacuum.Retention = "1h" }, says: []string{"1h", "168h"}},
	{name: "missing table", change: func(p *spec.RetentionPolicy) { p.Table = "bronze.sales2024" }, says: []string{"no Delta table", "bronze/sales2024"}},
	{name: "missing column", change: func(p *spec.RetentionPolicy) { p.Criteria.OlderThan.Column = "dya" }, says: []string{"dya", "day"}},
	{name: "missing column in where", change: func(p *spec.RetentionPolicy) { p.Criteria.Where = "stauts = 'OPEN'" }, says: []string{"criteria.where", "stauts", "status"}},
	{name: "where that is no condition", change: func(p *spec.RetentionPolicy) { p.Criteria.Where = "amount + 1" }, says: []string{"criteria.where", "boolean"}},
	{name: "where that does not parse", change: func(p *spec.RetentionPolicy) { p.Criteria.Where = "amount >> 1" }, says: []string{"criteria.where"}},
	{name: "missing column in hold", change: func(p *spec.RetentionPolicy) { p.Hold.Where = "legal" }, says: []string{"hold.where", "legal"}},
	{name: "missing table of holds", change: func(p *spec.RetentionPolicy) { p.Hold.Table, p.Hold.Keys = holdsName, []string{"id"} }, says: []string{holdsName}},
	{name: "missing table of keys", change: func(p *spec.RetentionPolicy) {
		p.Criteria = spec.Criteria{Keys: &spec.Keys{From: "control.subjects", Columns: []string{"id"}}}
	}, says: []string{"control.subjects"}},
	{name: "age of a column that is no date", change: func(p *spec.RetentionPolicy) { p.Criteria.OlderThan.Column = "amount" }, says: []string{"amount"}},
	{name: "age of a string without a format", change: func(p *spec.RetentionPolicy) { p.Criteria.OlderThan.Column = "name" }, says: []string{"name", "format"}},
	{name: "marker column of another type", change: func(p *spec.RetentionPolicy) { p.Mark.Column = "amount" }, says: []string{"amount", "boolean", "marker_column_type"}},
	{name: "marker column that partitions", prepare: func(w *world) {
		s := salesSchema()
		s.Fields = append(s.Fields, field("flag", schema.Boolean))
		w.create("bronze.flagged", deltaio.CreateOptions{Schema: s, PartitionBy: []string{"flag"}})
	}, change: func(p *spec.RetentionPolicy) { p.Table, p.Mark.Column = "bronze.flagged", "flag" }, says: []string{"partition"}},
	{name: "append-only table", prepare: func(w *world) {
		w.create("bronze.ledger", deltaio.CreateOptions{Properties: map[string]string{"delta.appendOnly": "true"}}, fixture()...)
	}, change: func(p *spec.RetentionPolicy) { p.Table = "bronze.ledger" }, says: []string{"appendOnly", "unset delta.appendOnly"}},
	{name: "catalog-managed table", prepare: func(w *world) {
		w.protocol([]string{"catalogManaged"}, []string{"catalogManaged", "inCommitTimestamp"})
	}, says: []string{"catalogManaged", "catalog"}},
	{name: "unknown writer feature", prepare: func(w *world) { w.protocol(nil, []string{"appendOnly", "timeTravelToTheFuture"}) }, says: []string{"timeTravelToTheFuture"}},
	{name: "unknown reader feature", prepare: func(w *world) {
		w.protocol([]string{"timeTravelToTheFuture"}, []string{"timeTravelToTheFuture"})
	}, says: []string{"timeTravelToTheFuture"}},
	{name: "archive with a column of another type", prepare: archiveWith(func(s *schema.Struct) { s.Fields[0].Type = schema.String; stamped(s) }), says: []string{"archive", "id"}},
	{name: "archive whose run_id is a number", prepare: archiveWith(func(s *schema.Struct) {
		s.Fields = append(s.Fields, field("run_id", schema.Long), field("archived_at", schema.Timestamp))
	}), says: []string{"archive", "run_id"}},
	{name: "archive with a required column of its own", prepare: archiveWith(func(s *schema.Struct) {
		stamped(s)
		s.Fields = append(s.Fields, schema.Field{Name: "signed_by", Type: schema.String})
	}), says: []string{"archive", "signed_by"}},
	{name: "source with a column called run_id", prepare: func(w *world) {
		s := salesSchema()
		s.Fields = append(s.Fields, field("run_id", schema.String))
		w.create("bronze.runs", deltaio.CreateOptions{Schema: s}, fixture()[0])
	}, change: func(p *spec.RetentionPolicy) { p.Table = "bronze.runs" }, says: []string{"run_id"}},
	{name: "archive that is the table", change: func(p *spec.RetentionPolicy) { p.Archive.Table = tableName }, says: []string{"archive"}},
	{name: "archive on a catalog-managed table", prepare: func(w *world) {
		w.create(archiveName, deltaio.CreateOptions{})
		w.commit(archiveName, 1, map[string]any{"protocol": map[string]any{
			"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": []string{"catalogManaged"}, "writerFeatures": []string{"catalogManaged"},
		}})
	}, says: []string{"archive", "catalogManaged"}},
	{name: "audit table that is something else", prepare: func(w *world) { w.create("control.other", deltaio.CreateOptions{}) }, change: func(p *spec.RetentionPolicy) {
		p.Audit.Table = "control.other"
	}, says: []string{"not an audit table"}},
	{name: "everything matches", change: func(p *spec.RetentionPolicy) {
		p.Criteria, p.Limits = spec.Criteria{Where: "TRUE"}, spec.Limits{}
	}, says: []string{"11 of 13 rows are due", "50%", "limit_share"}},
	{name: "more rows than the first run may take", change: func(p *spec.RetentionPolicy) { n := int64(5); p.Limits.FirstRun.MaxRows = &n }, says: []string{"6 rows are due", "5", "limit_rows"}},
	{name: "keys that are no column", change: func(p *spec.RetentionPolicy) { p.Delete = spec.Delete{Match: spec.MatchKeys, Keys: []string{"idd"}} }, says: []string{"idd"}},
	{name: "flags of somebody else", prepare: func(w *world) {
		s := salesSchema()
		s.Fields = append(s.Fields, field(flagColumn, schema.Boolean))
		w.create("bronze.taken", deltaio.CreateOptions{Schema: s}, []sale{flagged(newSale(1, "2025-03-01", "", "OPEN"))})
	}, change: func(p *spec.RetentionPolicy) { p.Table = "bronze.taken" }, says: []string{"foreign_flags", flagColumn}},
}

func TestInput_wrong_input_gets_a_clear_error_before_anything_is_touched(t *testing.T) {
	t.Parallel()
	for _, c := range wrongs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func TestInput_an_unknown_key_is_refused_with_the_key_meant(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	data, err := json.Marshal(policy())
	require.NoError(t, err)
	typo := json.RawMessage(strings.Replace(string(data), `"hold":`, `"holds":`, 1))
	before := w.listing("")
	env := w.execute(workflows.PurgeID(tableName), workflows.TypePurgeTable, typo, nil)
	require.ErrorContains(t, env.GetWorkflowError(), "holds")
	require.ErrorContains(t, env.GetWorkflowError(), "hold")
	require.Equal(t, before, w.listing(""))
}

// denied is a store that gives no right to some calls below a prefix.
func denied(prefix string, err error, kinds ...string) script {
	return func(_ context.Context, _ *attempt, when storage.When, op storage.Op, _ int) error {
		if when != storage.BeforeCall || !strings.HasPrefix(op.Key, prefix) {
			return nil
		}
		for _, k := range kinds {
			if op.Kind == k {
				return err
			}
		}
		return nil
	}
}

func TestInput_rights_that_are_missing_are_named_before_anything_is_touched(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{tablePath, "archive/sales_purged/"} {
		for _, kind := range []string{storage.OpPutIfAbsent, storage.OpCreate, storage.OpDelete, storage.OpList} {
			t.Run(dir+" "+kind, func(t *testing.T) {
				t.Parallel()
				w := salesWorld(t)
				w.worker.play(denied(dir, storage.ErrPermission, kind))
				before := withoutProbes(w.untouched())
				e := w.purge(policy(), nil)
				require.Error(t, e.err)
				require.ErrorContains(t, e.err, storage.ErrPermission.Error())
				require.Equal(t, before, withoutProbes(w.untouched()))
				w.worker.play(nil)
				w.nextPurgeCompletes()
			})
		}
	}
}

// withoutProbes leaves out the scratch objects of a probe that was denied the
// right to remove them.
func withoutProbes(all map[string]string) map[string]string {
	for key := range all {
		if strings.Contains(key, "/.lakewarden-probe-") {
			delete(all, key)
		}
	}
	return all
}

func TestInput_a_full_disk_is_named_before_anything_is_touched(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	w.worker.play(denied(tablePath, storage.ErrNoSpace, storage.OpPutIfAbsent, storage.OpPut, storage.OpCreate))
	before := w.untouched()
	e := w.purge(policy(), nil)
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	require.ErrorContains(t, e.err, "no_space")
	require.Equal(t, before, w.untouched())
}

// full is a disk that fills up in a step's first tries and is freed later.
func full(activity string, tries int) script {
	return func(_ context.Context, a *attempt, when storage.When, op storage.Op, _ int) error {
		if when == storage.BeforeCall && op.Writes() && a.activity == activity && a.try <= tries {
			return storage.ErrNoSpace
		}
		return nil
	}
}

func TestInput_a_disk_that_fills_up_amid_a_step(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"MarkRows", "ArchiveRows", "MergeDelete", "RecordAudit"} {
		t.Run(step+", freed in time", func(t *testing.T) {
			t.Parallel()
			w := salesWorld(t)
			w.worker.play(full(step, 5))
			e := w.purge(policy(), nil)
			require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
			w.agrees(e, flat(fixture()))
		})
	}
	for _, step := range []string{"MarkRows", "ArchiveRows", "MergeDelete"} {
		t.Run(step+", freed too late", func(t *testing.T) {
			t.Parallel()
			w := salesWorld(t)
			w.worker.play(full(step, 1000))
			e := w.purge(policy(), nil)
			require.Equal(t, evidence.StatusRolledBack, e.Outcome, "%v", e.err)
			require.ErrorContains(t, e.err, storage.ErrNoSpace.Error())
			w.agrees(e, flat(fixture()))
		})
	}
}
