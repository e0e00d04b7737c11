package spec

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDefaults_fill_what_is_left_open_as_documented(t *testing.T) {
	t.Parallel()
	p := valid(t, nil).Defaults()
	require.Equal(t, FromDate, p.Criteria.OlderThan.From)
	require.Equal(t, UndatedReport, p.Criteria.OlderThan.Undated)
	require.Equal(t, "_lakewarden_due", p.Mark.Column)
	require.Equal(t, Approval{On: ApprovalNone}, p.Approval)
	require.Equal(t, MatchFlag, p.Delete.Match)
	require.Equal(t, Limits{MaxShareOfRows: "10%", MaxMultipleOfMedian: ptr(10.0), FirstRun: FirstRunLimits{MaxShareOfRows: "50%"}}, p.Limits)
	require.Equal(t, Duration("168h"), p.Vacuum.Retention)
	require.True(t, p.Erasure.On())
	require.Equal(t, "control.expurgo_audit", p.Audit.Table)
	require.Nil(t, p.Notify)
	require.Equal(t, "UTC", valid(t, func(p *RetentionPolicy) { p.Criteria.OlderThan.Timezone = "" }).Defaults().Criteria.OlderThan.Timezone)
}

func TestDefaults_depend_on_what_is_given(t *testing.T) {
	t.Parallel()
	approvers := []string{"dpo"}
	for name, c := range map[string]struct {
		given Approval
		mark  string
		keep  Duration
		want  Approval
	}{
		"no section asks nobody":       {Approval{}, "", "", Approval{On: ApprovalNone}},
		"approvers mean marked":        {Approval{Approvers: approvers}, "", "", Approval{On: ApprovalMarked, Approvers: approvers, Deadline: "72h", RemindEvery: "24h"}},
		"nothing marked means plan":    {Approval{Approvers: approvers}, None, "", Approval{On: ApprovalPlan, Approvers: approvers, Deadline: "72h", RemindEvery: "24h"}},
		"a deadline means marked":      {Approval{Deadline: "1h"}, "", "", Approval{On: ApprovalMarked, Deadline: "1h", RemindEvery: "24h"}},
		"short retention, short wait":  {Approval{On: ApprovalPlan}, "", "36h", Approval{On: ApprovalPlan, Deadline: "18h", RemindEvery: "24h"}},
		"long retention, default wait": {Approval{On: ApprovalPlan}, "", "90d", Approval{On: ApprovalPlan, Deadline: "72h", RemindEvery: "24h"}},
	} {
		p := valid(t, func(p *RetentionPolicy) { p.Approval, p.Mark.Column, p.Vacuum.Retention = c.given, c.mark, c.keep })
		require.Equal(t, c.want, p.Defaults().Approval, name)
	}
	require.Equal(t, Percent("75%"), Limits{MaxShareOfRows: "75%"}.defaults().FirstRun.MaxShareOfRows)
	require.Equal(t, Percent("50%"), Limits{MaxShareOfRows: "20%"}.defaults().FirstRun.MaxShareOfRows)
	n := Notify{}
	require.Len(t, n.defaults().Events, 4)
}

func TestDefaults_are_idempotent_and_leave_the_original_alone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{Example(), everything} {
		p, again := parsed(t, text), parsed(t, text)
		d := p.Defaults()
		require.Equal(t, d, d.Defaults())
		d.Criteria.OlderThan.Column = "changed"
		*d.Erasure.Prove = !*d.Erasure.Prove
		*d.Limits.MaxMultipleOfMedian = 77
		if d.Hold != nil {
			d.Hold.Where = "changed"
			d.Notify.Webhook.URLEnv, d.Notify.Events[0] = "changed", "changed"
			d.Approval.Approvers[0], d.Delete.Keys[0] = "changed", "changed"
			d.Vacuum.AllowBelowFloor.Risk = "changed"
			*d.Limits.MaxRows, *d.Limits.FirstRun.MaxRows = 77, 77
			d.Criteria.Keys.From = "changed"
		}
		require.Equal(t, again, p)
	}
}

func TestDefaults_of_a_list_reach_its_policies(t *testing.T) {
	t.Parallel()
	l, err := ParsePurgeLakehouse([]byte(ExamplePurgeLakehouse()))
	require.NoError(t, err)
	l.DryRun, l.RequestedBy, l.MaxParallel = true, "ana", nil
	d := l.Defaults()
	require.Equal(t, 4, *d.MaxParallel)
	require.True(t, *d.ContinueOnFailure)
	require.True(t, d.Policies[0].DryRun)
	require.Equal(t, "ana", d.Policies[0].RequestedBy)
	require.Equal(t, MatchFlag, d.Policies[0].Delete.Match)
	require.False(t, l.Policies[0].DryRun, "the original is left alone")
	require.Equal(t, d, d.Defaults())
}

func TestDuration_is_read_as_people_write_it(t *testing.T) {
	t.Parallel()
	for text, want := range map[Duration]time.Duration{
		"": 0, "168h": 168 * time.Hour, "30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute,
		"72h30m": 72*time.Hour + 30*time.Minute, "106751d": 106751 * 24 * time.Hour,
	} {
		got, err := text.Value()
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []Duration{"168", "h", "d", "-1h", "+1h", "1 h", "1w", "d1h", "1d-1h", "1h1d", "106752d", "99999999d", "9999999999h", "1d1d", "7D", "one"} {
		_, err := text.Value()
		require.Error(t, err, text)
		require.Equal(t, time.Minute, text.Or(time.Minute), text)
	}
	require.Equal(t, time.Hour, Duration("1h").Or(time.Minute))
	require.Equal(t, time.Minute, Duration("").Or(time.Minute))
}

func TestDurationOf_reads_back(t *testing.T) {
	t.Parallel()
	for v, want := range map[time.Duration]Duration{
		168 * time.Hour: "168h", 84 * time.Hour: "84h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 20*time.Hour + 30*time.Second: "20h0m30s", 0: "0s",
	} {
		require.Equal(t, want, DurationOf(v))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "seconds")%9_000_000_000) * time.Second
		got, err := DurationOf(v).Value()
		require.NoError(t, err)
		require.Equal(t, v, got)
	})
}

func TestPercent_limits_are_exact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p           Percent
		part, total int64
		want        bool
	}{
		{"10%", 10, 100, false}, {"10%", 11, 100, true}, {"0.1%", 1, 1000, false}, {"0.1%", 2, 1000, true},
		{"33.3%", 333, 1000, false}, {"100%", 1 << 60, 1 << 60, false}, {"99.9999999999%", 1 << 60, 1 << 60, true},
		{"10%", 0, 0, false}, {"10%", 1, 0, true}, {"", 0, 100, true}, {"x%", 0, 100, true},
	} {
		require.Equal(t, c.want, c.p.Exceeded(c.part, c.total), "%v", c)
	}
	share, err := Percent("12.5%").Share()
	require.NoError(t, err)
	require.InDelta(t, 0.125, share, 0)
	for _, p := range []Percent{"", "%", "10", "10 %", "1e9%", "1/2%", "-1%", "+1%", ".%", "1.2.3%", "99999999999999999999999%"} {
		_, err := p.Share()
		require.Error(t, err, p)
	}
}

func TestNearest_finds_what_was_meant_and_nothing_else(t *testing.T) {
	t.Parallel()
	names := fieldsOf(reflect.TypeFor[RetentionPolicy]()).names
	for wrong, want := range map[string]string{
		"nmae": "name", "Owner": "owner", "legalBasis": "legal_basis", "critera": "criteria", "holds": "hold", "approvals": "approval",
		"archiv": "archive", "dryrun": "dry_run", "api_version": "apiVersion", "xyz": "", "": "", "schedule": "", "retention": "",
	} {
		require.Equal(t, want, nearest(wrong, names), wrong)
	}
}
