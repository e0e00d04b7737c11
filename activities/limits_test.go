package activities

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

func ptr[T any](v T) *T { return &v }

// former writes the audit of completed runs that deleted so many rows, and of
// outcomes that are no completed run of the table.
func (s *site) former(deleted ...int64) {
	s.t.Helper()
	store, err := s.Lake.Table(s.t.Context(), spec.DefaultAuditTable)
	require.NoError(s.t, err)
	log := auditlog.New(store, s.env())
	runs := 0
	add := func(table, status string, n *int64) {
		runs++
		_, err := log.Append(s.t.Context(), evidence.AuditRow{
			RunID: fmt.Sprintf("r-%d", runs), TargetTable: table, ExecTime: today, Criteria: "TRUE", Status: status, RowsDeleted: n,
		})
		require.NoError(s.t, err)
	}
	for _, n := range deleted {
		add(vendas, StatusCompleted, &n)
	}
	add(vendas, StatusRefused, nil)
	add(vendas, StatusCompleted, nil)
	add("bronze.other", StatusCompleted, ptr(int64(1)))
}

func TestCheckLimits_compareWithThePolicyAndFormerRuns(t *testing.T) {
	t.Parallel()
	limits := spec.Limits{
		MaxShareOfRows: "10%", MaxRows: ptr(int64(80)), MaxMultipleOfMedian: ptr(2.0),
		FirstRun: spec.FirstRunLimits{MaxShareOfRows: "50%", MaxRows: ptr(int64(400))},
	}
	for name, c := range map[string]struct {
		former []int64
		change func(*spec.Limits)
		due    int64
		codes  []string
	}{
		"nothing due":                   {[]int64{10}, nil, 0, nil},
		"exactly the median's multiple": {[]int64{9, 30, 1000}, nil, 60, nil},
		"above the median's multiple":   {[]int64{9, 30, 1000}, nil, 61, []string{"limit_median"}},
		"exactly max_rows":              {[]int64{90}, nil, 80, nil},
		"above max_rows":                {[]int64{90}, nil, 81, []string{"limit_rows"}},
		"exactly the share":             {[]int64{90}, func(l *spec.Limits) { l.MaxRows = nil }, 100, nil},
		"above the share":               {[]int64{90}, func(l *spec.Limits) { l.MaxRows = nil }, 101, []string{"limit_share"}},
		"above everything":              {[]int64{10}, nil, 900, []string{"limit_share", "limit_rows", "limit_median"}},
		"former runs of nothing":        {[]int64{0, 0, 0}, nil, 80, nil},
		"first run, exactly its rows":   {nil, nil, 400, nil},
		"first run, above its rows":     {nil, nil, 401, []string{"limit_rows"}},
		"first run, above its share":    {nil, func(l *spec.Limits) { l.FirstRun.MaxRows = nil }, 501, []string{"limit_share"}},
		"no limits":                     {[]int64{1}, func(l *spec.Limits) { *l = spec.Limits{} }, 1000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.former(c.former...)
			l := limits
			if c.change != nil {
				c.change(&l)
			}
			p := s.limits(l, c.due)
			require.NoError(t, p.checkLimits(t.Context()))
			var codes []string
			for _, r := range p.out.Refusals {
				codes = append(codes, r.Code)
				require.NotEmpty(t, r.Do)
			}
			require.Equal(t, c.codes, codes)
			require.Equal(t, len(c.former) == 0, p.out.FirstRun)
		})
	}
}

// limits is a plan of so many rows out of a thousand.
func (s *site) limits(l spec.Limits, due int64) *planner {
	policy := spec.RetentionPolicy{Table: vendas, Limits: l, Audit: spec.Audit{Table: spec.DefaultAuditTable}}
	return &planner{
		a: s.Activities, env: s.env(), in: PlanPurgeInput{Policy: policy}, out: &PlanPurgeResult{},
		counts: &purge.PlanResult{Rows: 1000, RowsDue: due},
	}
}

func TestCheckLimits_withoutAnAuditTable_isTheFirstRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.limits(spec.Limits{MaxShareOfRows: "1%", FirstRun: spec.FirstRunLimits{MaxShareOfRows: "90%"}}, 900)
	require.NoError(t, p.checkLimits(t.Context()))
	require.True(t, p.out.FirstRun)
	require.Empty(t, p.out.Refusals)
}

func TestCheckLimits_anAuditThatCannotBeRead_isNoFirstRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.former(5)
	store, err := s.Lake.Table(t.Context(), spec.DefaultAuditTable)
	require.NoError(t, err)
	require.NoError(t, store.Put(t.Context(), "_delta_log/00000000000000000001.json", []byte("{broken")))
	require.Error(t, s.limits(spec.Limits{}, 1).checkLimits(t.Context()))
}
