package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func ptr[T any](v T) *T { return &v }

// valid is the example, changed.
func valid(t *testing.T, change func(*RetentionPolicy)) RetentionPolicy {
	t.Helper()
	p := parsed(t, Example())
	if change != nil {
		change(&p)
	}
	return p
}

func TestValidate_each_contradiction_names_its_key(t *testing.T) {
	t.Parallel()
	type policy = RetentionPolicy
	for name, c := range map[string]struct {
		change     func(*policy)
		path, want string
	}{
		"other version":      {func(p *policy) { p.APIVersion = "v2" }, "apiVersion", "allowed: lakewarden/v1"},
		"no kind":            {func(p *policy) { p.Kind = "" }, "kind", "missing"},
		"other kind":         {func(p *policy) { p.Kind = KindPurgeLakehouse }, "kind", "allowed: RetentionPolicy"},
		"no name":            {func(p *policy) { p.Name = "" }, "name", "missing"},
		"name with a slash":  {func(p *policy) { p.Name = "a/b" }, "name", "is not a name"},
		"no owner":           {func(p *policy) { p.Owner = " " }, "owner", "missing"},
		"no legal basis":     {func(p *policy) { p.LegalBasis = "" }, "legal_basis", "missing"},
		"no table":           {func(p *policy) { p.Table = "" }, "table", "missing"},
		"no schema":          {func(p *policy) { p.Table = "vendas" }, "table", "schema.table"},
		"three parts":        {func(p *policy) { p.Table = "lake.bronze.vendas" }, "table", "schema.table"},
		"table that climbs":  {func(p *policy) { p.Table = "../x.y" }, "table", "schema.table"},
		"table with a dash":  {func(p *policy) { p.Table = "-bronze.vendas" }, "table", "schema.table"},
		"table with a quote": {func(p *policy) { p.Table = "bronze.ven`das" }, "table", "schema.table"},
		"table with a break": {func(p *policy) { p.Table = "bronze.vendas\n" }, "table", "schema.table"},

		"no criteria":       {func(p *policy) { p.Criteria = Criteria{} }, "criteria", "every row"},
		"no column":         {func(p *policy) { p.Criteria.OlderThan.Column = "" }, "criteria.older_than.column", "missing"},
		"no age":            {func(p *policy) { p.Criteria.OlderThan.Days = nil }, "criteria.older_than", "no age"},
		"two ages":          {func(p *policy) { p.Criteria.OlderThan.Years = ptr(1) }, "criteria.older_than", "days and years contradict"},
		"age and day":       {func(p *policy) { p.Criteria.OlderThan.Until = "2024-01-01" }, "criteria.older_than", "days and until contradict"},
		"age of nothing":    {func(p *policy) { p.Criteria.OlderThan.Days = ptr(0) }, "criteria.older_than.days", "out of range: 1 to"},
		"negative age":      {func(p *policy) { p.Criteria.OlderThan.Days = ptr(-5) }, "criteria.older_than.days", "out of range"},
		"age beyond reason": {func(p *policy) { p.Criteria.OlderThan.Days = ptr(400_000) }, "criteria.older_than.days", "out of range"},
		"not a day": {func(p *policy) {
			p.Criteria.OlderThan.Days, p.Criteria.OlderThan.Until = nil, "2025-02-30"
		}, "criteria.older_than.until", "not a day"},
		"unknown start": {func(p *policy) { p.Criteria.OlderThan.From = "end_of_month" }, "criteria.older_than.from", "allowed: date, end_of_year"},
		"fixed day from the end of the year": {func(p *policy) {
			o := p.Criteria.OlderThan
			o.Days, o.Until, o.From = nil, "2024-01-01", FromEndOfYear
		}, "criteria.older_than.from", "fixed day"},
		"unknown zone":          {func(p *policy) { p.Criteria.OlderThan.Timezone = "Europe/Lissabon" }, "criteria.older_than.timezone", "not in the time zone database"},
		"the host's zone":       {func(p *policy) { p.Criteria.OlderThan.Timezone = "Local" }, "criteria.older_than.timezone", "worker's own zone"},
		"zone that climbs":      {func(p *policy) { p.Criteria.OlderThan.Timezone = "../etc/passwd" }, "criteria.older_than.timezone", "not in the time zone database"},
		"purged undated":        {func(p *policy) { p.Criteria.OlderThan.Undated = "purge" }, "criteria.older_than.undated", "only reported"},
		"blank where":           {func(p *policy) { p.Criteria.Where = " " }, "criteria.where", "missing"},
		"keys of nothing":       {func(p *policy) { p.Criteria.Keys = &Keys{Columns: []string{"id"}} }, "criteria.keys.from", "missing"},
		"keys without a column": {func(p *policy) { p.Criteria.Keys = &Keys{From: "control.k"} }, "criteria.keys.columns", "missing"},
		"keys of a folder":      {func(p *policy) { p.Criteria.Keys = &Keys{From: "a/b", Columns: []string{"id"}} }, "criteria.keys.from", "load the file into a table"},
		"keys of a file":        {func(p *policy) { p.Criteria.Keys = &Keys{From: "k.CSV", Columns: []string{"id"}} }, "criteria.keys.from", "load the file into a table"},
		"keys elsewhere":        {func(p *policy) { p.Criteria.Keys = &Keys{From: "s3://b/k.parquet", Columns: []string{"id"}} }, "criteria.keys.from", "load the file into a table"},
		"keys without a schema": {func(p *policy) { p.Criteria.Keys = &Keys{From: "k", Columns: []string{"id"}} }, "criteria.keys.from", "schema.table"},
		"key column twice":      {func(p *policy) { p.Criteria.Keys = &Keys{From: "c.k", Columns: []string{"id", "ID"}} }, "criteria.keys.columns[1]", "listed twice"},
		"names of another number": {func(p *policy) {
			p.Criteria.Keys = &Keys{From: "c.k", Columns: []string{"a", "b"}, TargetColumns: []string{"x"}}
		}, "criteria.keys.target_columns", "1 columns, but the key has 2"},

		"hold of nothing":         {func(p *policy) { p.Hold = &Hold{} }, "hold", "holds nothing"},
		"hold table without keys": {func(p *policy) { p.Hold = &Hold{Table: "c.h"} }, "hold.keys", "missing"},
		"hold keys without table": {func(p *policy) { p.Hold = &Hold{Where: "x", Keys: []string{"id"}} }, "hold.keys", "only with hold.table"},
		"hold end without table":  {func(p *policy) { p.Hold = &Hold{Where: "x", UntilColumn: "u"} }, "hold.until_column", "only with hold.table"},
		"hold table is no table":  {func(p *policy) { p.Hold = &Hold{Table: "holds", Keys: []string{"id"}} }, "hold.table", "schema.table"},

		"flag with a space":        {func(p *policy) { p.Mark.Column = "to purge" }, "mark.column", "column name"},
		"flag of the archive":      {func(p *policy) { p.Mark.Column = "RUN_ID" }, "mark.column", "column of the archive"},
		"flag is the date":         {func(p *policy) { p.Mark.Column = "Event_Date" }, "mark.column", "the policy reads"},
		"flag is a key":            {func(p *policy) { p.Mark.Column, p.Delete = "id", Delete{Match: MatchKeys, Keys: []string{"id"}} }, "mark.column", "the policy reads"},
		"unknown approval":         {func(p *policy) { p.Approval.On = "after" }, "approval.on", "allowed: plan, marked, none"},
		"approvers without asking": {func(p *policy) { p.Approval = Approval{On: ApprovalNone, Approvers: []string{"dpo"}} }, "approval.on", "asks nobody"},
		"approve unmarked":         {func(p *policy) { p.Mark.Column, p.Approval.On = None, ApprovalMarked }, "approval.on", "use plan"},
		"approver twice":           {func(p *policy) { p.Approval.Approvers = []string{"dpo", "DPO"} }, "approval.approvers", "listed twice"},
		"blank approver":           {func(p *policy) { p.Approval.Approvers = []string{" "} }, "approval.approvers", "anyone but the requester"},
		"only the requester":       {func(p *policy) { p.RequestedBy, p.Approval.Approvers = "ana", []string{"ana"} }, "approval.approvers", "may not approve"},
		"deadline too late":        {func(p *policy) { p.Approval = Approval{On: ApprovalPlan, Deadline: "85h"} }, "approval.deadline", "more than half of vacuum.retention (168h); at most 84h"},
		"deadline of nothing":      {func(p *policy) { p.Approval = Approval{On: ApprovalPlan, Deadline: "0h"} }, "approval.deadline", "longer than nothing"},
		"deadline without a unit":  {func(p *policy) { p.Approval = Approval{On: ApprovalPlan, Deadline: "72"} }, "approval.deadline", "not a duration"},
		"reminders like rain":      {func(p *policy) { p.Approval = Approval{On: ApprovalPlan, RemindEvery: "1s"} }, "approval.remind_every", "at least 1m"},

		"no archive":              {func(p *policy) { p.Archive = Archive{} }, "archive.table", "none with a reason"},
		"none without a reason":   {func(p *policy) { p.Archive = Archive{Table: None} }, "archive.reason", "needs a reason"},
		"reason with an archive":  {func(p *policy) { p.Archive.Reason = "x" }, "archive.reason", "only with table: none"},
		"archive is no table":     {func(p *policy) { p.Archive.Table = "archive" }, "archive.table", "schema.table"},
		"archive is the table":    {func(p *policy) { p.Archive.Table = "Bronze.Vendas" }, "archive.table", "already the table"},
		"audit is the archive":    {func(p *policy) { p.Audit.Table = p.Archive.Table }, "audit.table", "already the archive.table"},
		"holds in the table":      {func(p *policy) { p.Hold = &Hold{Table: "bronze.vendas", Keys: []string{"id"}} }, "hold.table", "already the table"},
		"keys in the audit":       {func(p *policy) { p.Criteria.Keys = &Keys{From: DefaultAuditTable, Columns: []string{"id"}} }, "criteria.keys.from", "already the audit.table"},
		"unknown match":           {func(p *policy) { p.Delete.Match = "all" }, "delete.match", "allowed: flag, keys"},
		"match keys without keys": {func(p *policy) { p.Delete.Match = MatchKeys }, "delete.keys", "needs the columns"},
		"keys without match":      {func(p *policy) { p.Delete.Keys = []string{"id"} }, "delete.keys", "only with match: keys"},
		"empty delete key":        {func(p *policy) { p.Delete = Delete{Match: MatchKeys, Keys: []string{""}} }, "delete.keys[0]", "needs a name"},

		"share above all":       {func(p *policy) { p.Limits.MaxShareOfRows = "101%" }, "limits.max_share_of_rows", "out of range"},
		"share of nothing":      {func(p *policy) { p.Limits.MaxShareOfRows = "0%" }, "limits.max_share_of_rows", "out of range"},
		"share without a sign":  {func(p *policy) { p.Limits.MaxShareOfRows = "10" }, "limits.max_share_of_rows", "not a percentage"},
		"share in words":        {func(p *policy) { p.Limits.MaxShareOfRows = "ten%" }, "limits.max_share_of_rows", "not a percentage"},
		"share as a fraction":   {func(p *policy) { p.Limits.FirstRun.MaxShareOfRows = "1/2%" }, "limits.first_run.max_share_of_rows", "not a percentage"},
		"rows of nothing":       {func(p *policy) { p.Limits.MaxRows = ptr(int64(0)) }, "limits.max_rows", "at least 1"},
		"first rows of nothing": {func(p *policy) { p.Limits.FirstRun.MaxRows = ptr(int64(-1)) }, "limits.first_run.max_rows", "at least 1"},
		"less than the median":  {func(p *policy) { p.Limits.MaxMultipleOfMedian = ptr(0.5) }, "limits.max_multiple_of_median", "1 to 1000000"},

		"below the floor":       {func(p *policy) { p.Vacuum.Retention = "167h59m" }, "vacuum.retention", "below the floor of 168h"},
		"below, no risk named":  {func(p *policy) { p.Vacuum = Vacuum{Retention: "24h", AllowBelowFloor: &BelowFloor{}} }, "vacuum.allow_below_floor.risk", "missing"},
		"override for nothing":  {func(p *policy) { p.Vacuum = Vacuum{Retention: "7d", AllowBelowFloor: &BelowFloor{Risk: "x"}} }, "vacuum.allow_below_floor", "not below the floor"},
		"no retention at all":   {func(p *policy) { p.Vacuum.Retention = "0h" }, "vacuum.retention", "longer than nothing"},
		"negative retention":    {func(p *policy) { p.Vacuum.Retention = "-168h" }, "vacuum.retention", "not a duration"},
		"audit is no table":     {func(p *policy) { p.Audit.Table = "audit" }, "audit.table", "schema.table"},
		"notify nobody":         {func(p *policy) { p.Notify = &Notify{} }, "notify.webhook", "missing"},
		"address in the policy": {func(p *policy) { p.Notify = &Notify{Webhook: &Webhook{URLEnv: "https://x", SecretEnv: "LAKEWARDEN_S"}} }, "notify.webhook.url_env", "never stand in a policy"},
		"another's secret": {func(p *policy) {
			p.Notify = &Notify{Webhook: &Webhook{URLEnv: "LAKEWARDEN_U", SecretEnv: "AWS_SECRET"}}
		}, "notify.webhook.secret_env", "LAKEWARDEN_"},
		"no secret": {func(p *policy) { p.Notify = &Notify{Webhook: &Webhook{URLEnv: "LAKEWARDEN_U"}} }, "notify.webhook.secret_env", "missing"},
		"unknown event": {func(p *policy) {
			p.Notify = &Notify{Webhook: &Webhook{URLEnv: "LAKEWARDEN_U", SecretEnv: "LAKEWARDEN_S"}, Events: []Event{"done"}}
		}, "notify.events", "allowed: approval_due, failed, completed, erased"},
		"event twice": {func(p *policy) {
			p.Notify = &Notify{Webhook: &Webhook{URLEnv: "LAKEWARDEN_U", SecretEnv: "LAKEWARDEN_S"}, Events: []Event{EventFailed, EventFailed}}
		}, "notify.events", "listed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := valid(t, c.change).Validate(time.LoadLocation)
			require.Len(t, problems, 1, "%v", problems)
			require.Equal(t, c.path, problems[0].Path)
			require.Contains(t, problems[0].Message, c.want)
			if !strings.Contains(c.path, "[") {
				require.NotEmpty(t, problems[0].Example)
			}
			require.Error(t, problems.Err())
		})
	}
}

func TestValidate_what_is_unusual_but_right_passes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*RetentionPolicy){
		"as it is":                func(*RetentionPolicy) {},
		"its own defaults":        func(p *RetentionPolicy) { *p = p.Defaults() },
		"letters of any language": func(p *RetentionPolicy) { p.Table = "prata.março_2024-v2" },
		"only where":              func(p *RetentionPolicy) { p.Criteria = Criteria{Where: "event_date IS NULL"} },
		"only keys": func(p *RetentionPolicy) {
			p.Criteria = Criteria{Keys: &Keys{From: "control.keys", Columns: []string{"id"}}}
		},
		"zone left to a worker": func(p *RetentionPolicy) { p.Criteria.OlderThan.Timezone = "" },
		"anyone may approve":    func(p *RetentionPolicy) { p.Approval.On = ApprovalMarked },
		"longest deadline":      func(p *RetentionPolicy) { p.Approval = Approval{On: ApprovalPlan, Deadline: "84h"} },
		"short vacuum with risk": func(p *RetentionPolicy) {
			p.Vacuum = Vacuum{Retention: "1h", AllowBelowFloor: &BelowFloor{Risk: "nobody reads"}}
			p.Approval.Approvers = []string{"dpo"} // the default deadline follows the retention
		},
		"several archives of none": func(p *RetentionPolicy) { p.Archive = Archive{Table: None, Reason: "personal data"} },
		"a large share":            func(p *RetentionPolicy) { p.Limits.MaxShareOfRows = "100%" },
	} {
		require.Empty(t, valid(t, change).Validate(time.LoadLocation), name)
	}
}

func TestValidate_without_a_loader_the_zone_is_left_to_others(t *testing.T) {
	t.Parallel()
	require.Empty(t, valid(t, func(p *RetentionPolicy) { p.Criteria.OlderThan.Timezone = "Nowhere/Land" }).Validate(nil))
	require.NotEmpty(t, valid(t, func(p *RetentionPolicy) { p.Criteria.OlderThan.Timezone = "Local" }).Validate(nil))
}

func TestValidate_the_empty_document_is_shown_a_right_one(t *testing.T) {
	t.Parallel()
	for want, doc := range map[string]Document{
		"kind: RetentionPolicy": RetentionPolicy{},
		"kind: PurgeLakehouse":  PurgeLakehouse{},
		"kind: RestoreRequest":  RestoreRequest{},
	} {
		problems := doc.Validate(time.LoadLocation)
		require.Len(t, problems, 1)
		require.ErrorContains(t, problems.Err(), "empty")
		require.ErrorContains(t, problems.Err(), want)
	}
}

func TestValidate_all_problems_come_at_once(t *testing.T) {
	t.Parallel()
	p := RetentionPolicy{Table: "x", Vacuum: Vacuum{Retention: "1h"}, Hold: &Hold{}}
	var paths []string
	for _, problem := range p.Validate(time.LoadLocation) {
		paths = append(paths, problem.Path)
	}
	require.Equal(t, []string{"apiVersion", "kind", "name", "owner", "legal_basis", "table", "criteria", "hold", "archive.table", "vacuum.retention"}, paths)
}

func TestValidate_a_list_names_the_policy_that_is_wrong(t *testing.T) {
	t.Parallel()
	list := func(change func(*PurgeLakehouse)) PurgeLakehouse {
		l, err := ParsePurgeLakehouse([]byte(ExamplePurgeLakehouse()))
		require.NoError(t, err)
		second := l.Policies[0]
		second.Name, second.Table, second.Archive.Table = "b", "bronze.b", "archive.b"
		l.Policies = append(l.Policies, second)
		change(&l)
		return l
	}
	require.Empty(t, list(func(*PurgeLakehouse) {}).Validate(time.LoadLocation))
	for path, change := range map[string]func(*PurgeLakehouse){
		"policies[1].table":       func(l *PurgeLakehouse) { l.Policies[1].Table = "Bronze.Vendas" },
		"policies[1].name":        func(l *PurgeLakehouse) { l.Policies[1].Name = l.Policies[0].Name },
		"policies[1].owner":       func(l *PurgeLakehouse) { l.Policies[1].Owner = "" },
		"max_parallel":            func(l *PurgeLakehouse) { l.MaxParallel = ptr(0) },
		"policies":                func(l *PurgeLakehouse) { l.Policies = nil },
		"name":                    func(l *PurgeLakehouse) { l.Name = "a b" },
		"policies[0].audit.table": func(l *PurgeLakehouse) { l.Policies[0].Audit.Table = "a" },
	} {
		problems := list(change).Validate(time.LoadLocation)
		require.Len(t, problems, 1, path)
		require.Equal(t, path, problems[0].Path)
		require.NotEmpty(t, problems[0].Example)
	}
}

func TestValidate_a_restore_request_says_who_why_and_until_when(t *testing.T) {
	t.Parallel()
	request := func(change func(*RestoreRequest)) RestoreRequest {
		r, err := ParseRestoreRequest([]byte(ExampleRestoreRequest()))
		require.NoError(t, err)
		change(&r)
		return r
	}
	require.Empty(t, request(func(*RestoreRequest) {}).Validate(time.LoadLocation))
	for path, change := range map[string]func(*RestoreRequest){
		"run_id":      func(r *RestoreRequest) { r.RunID = "../x" },
		"hold_until":  func(r *RestoreRequest) { r.HoldUntil = "soon" },
		"keys":        func(r *RestoreRequest) { r.Keys = nil },
		"reason":      func(r *RestoreRequest) { r.Reason = "" },
		"keys[1]":     func(r *RestoreRequest) { r.Keys = []string{"id", "id"} },
		"audit.table": func(r *RestoreRequest) { r.Audit.Table = "x" },
		"kind":        func(r *RestoreRequest) { r.Kind = "" },
	} {
		problems := request(change).Validate(time.LoadLocation)
		require.Len(t, problems, 1, path)
		require.Equal(t, path, problems[0].Path)
	}
	holds := request(func(r *RestoreRequest) { r.Audit.Table = HoldTable }).Validate(time.LoadLocation)
	require.Len(t, holds, 1)
	require.Contains(t, holds[0].Message, "is the table of holds")
	require.Empty(t, request(func(r *RestoreRequest) { r.Keys, r.DryRun = nil, true }).Validate(time.LoadLocation), "nothing comes back, so nothing is held")
}
