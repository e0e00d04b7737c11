package purge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func ptr[T any](v T) *T { return &v }

func TestPlan_foreign_flags_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{flag: true})
	rows := sample(0, 10)
	rows[3].flag = ptr(true)
	w.append(rows)
	_, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: w.run("run-1")})
	var flags *purge.FlagsError
	require.ErrorAs(t, err, &flags)
	require.EqualValues(t, 1, flags.Rows)
	require.Empty(t, flags.Closed)
	require.Empty(t, flags.Open)
}

func TestPlan_flags_of_another_run_are_named_and_only_a_closed_run_may_be_unmarked(t *testing.T) {
	t.Parallel()
	w, r, _, all := marked(t, setup{})
	_, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: w.run("run-2")})
	var flags *purge.FlagsError
	require.ErrorAs(t, err, &flags)
	require.Equal(t, []string{"run-1"}, flags.Open)

	_, err = purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: w.run("run-2"), ClosedRuns: []string{"run-1"}})
	require.ErrorAs(t, err, &flags)
	require.Equal(t, []string{"run-1"}, flags.Closed)

	w.unmark(r)
	p := w.purge(w.run("run-2"))
	_, gone := split(all, due)
	require.EqualValues(t, len(gone), p.del.RowsDeleted)
}

func TestMark_flags_set_by_others_since_the_plan_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{flag: true})
	w.append(sample(0, 60))
	r := w.run("run-1")
	plan := w.plan(r)
	w.update(func(r *row) { r.flag = ptr(true) }, 45)
	_, err := purge.MarkRows(w.ctx, w.table, purge.MarkOptions{Run: r, Plan: plan.Record})
	var flags *purge.FlagsError
	require.ErrorAs(t, err, &flags)
}

func TestMark_false_markers_of_kept_rows_survive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{flag: true})
	rows := sample(0, 60)
	for i := range rows {
		if i%2 == 0 {
			rows[i].flag = ptr(false)
		}
	}
	w.append(rows)
	w.purge(w.run("run-1"))
	n := 0
	for _, r := range w.rows() {
		if r.flag != nil {
			require.False(t, *r.flag)
			n++
		}
	}
	stay, _ := split(rows, due)
	want := 0
	for _, r := range stay {
		if r.flag != nil {
			want++
		}
	}
	require.Equal(t, want, n)
}

func TestPlan_marker_column_of_another_kind_is_refused_before_anything_is_written(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]schema.Field{
		"other type": {Name: flagColumn, Type: schema.String, Nullable: true},
		"not null":   {Name: flagColumn, Type: schema.Boolean},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &schema.Struct{Fields: append([]schema.Field{}, baseSchema.Fields...)}
			s.Fields = append(s.Fields, f)
			w := newWorld(t, setup{schema: s})
			before := objects(t, w.data)
			_, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: w.run("run-1")})
			var bad *purge.CriteriaError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, before, objects(t, w.data))
			require.Empty(t, objects(t, w.folders))
		})
	}
}

func TestPlan_criteria_without_a_condition_or_on_the_marker_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{flag: true})
	for _, c := range []purge.Criteria{
		{},
		{Match: expr.MustParse("no_such_column = 1")},
		{Match: expr.MustParse("id + 1")},
		{Match: expr.MustParse(flagColumn)},
	} {
		r := w.run("run-1")
		c.Context.Now = start
		r.Criteria = c
		_, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: r})
		var bad *purge.CriteriaError
		require.ErrorAs(t, err, &bad)
	}
}

func TestMark_other_criteria_than_planned_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	plan := w.plan(r)
	r.Criteria.Match = expr.MustParse("event_date < DATE'2025-03-01'")
	_, err := purge.MarkRows(w.ctx, w.table, purge.MarkOptions{Run: r, Plan: plan.Record})
	require.ErrorContains(t, err, "differ")
}

func TestPlan_append_only_table_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{properties: map[string]string{"delta.appendOnly": "true"}})
	_, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: w.run("run-1")})
	require.ErrorContains(t, err, "appendOnly")
}
