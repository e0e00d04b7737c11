package spec

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Validate lists everything that is wrong with the policy, judged with its
// defaults. A nil loader leaves out whether the time zone exists.
func (p RetentionPolicy) Validate(zones ZoneLoader) Problems {
	if p.empty() {
		return Problems{{Message: "the policy is empty; give one as input", Example: Example()}}
	}
	c := &checker{keys: policyKeys, zones: zones}
	c.policy(p.Defaults())
	return c.problems
}

// empty reports the zero policy: what a workflow receives that was started
// without input.
func (p RetentionPolicy) empty() bool {
	return p.APIVersion == "" && p.Kind == "" && p.Name == "" && p.Table == ""
}

func (c *checker) policy(p RetentionPolicy) {
	c.header(p.APIVersion, p.Kind)
	c.name("name", p.Name)
	c.required("owner", p.Owner)
	c.required("legal_basis", p.LegalBasis)
	c.required("table", p.Table)
	c.table("table", p.Table)
	c.criteria(p.Criteria)
	c.hold(p.Hold)
	c.mark(p)
	c.approval(p)
	c.archive(p.Archive)
	c.deletion(p)
	c.limits(p.Limits)
	c.vacuum(p.Vacuum)
	c.required("audit.table", p.Audit.Table)
	c.table("audit.table", p.Audit.Table)
	c.tablesApart(p)
	c.notify(p.Notify)
}

func (c *checker) criteria(k Criteria) {
	if k.OlderThan == nil && strings.TrimSpace(k.Where) == "" && k.Keys == nil {
		c.add("criteria", "no criterion, which would be every row; give older_than, where or keys")
		return
	}
	if k.OlderThan != nil {
		c.olderThan(*k.OlderThan)
	}
	if k.Where != "" {
		c.required("criteria.where", k.Where)
	}
	if k.Keys != nil {
		c.keysFrom(*k.Keys)
	}
}

// Bounds of ages: longer ones are typing errors, and reach before any calendar.
const (
	maxYears  = 1000
	maxMonths = 12 * maxYears
	maxDays   = 365 * maxYears
)

func (c *checker) olderThan(o OlderThan) {
	const at = "criteria.older_than"
	c.required(at+".column", o.Column)
	given := []string{}
	for _, age := range []struct {
		name string
		n    *int
		most int
	}{{"days", o.Days, maxDays}, {"months", o.Months, maxMonths}, {"years", o.Years, maxYears}} {
		if age.n == nil {
			continue
		}
		given = append(given, age.name)
		if *age.n < 1 || *age.n > age.most {
			c.add(at+"."+age.name, "%d is out of range: 1 to %d", *age.n, age.most)
		}
	}
	if o.Until != "" {
		given = append(given, "until")
		c.day(at+".until", o.Until)
	}
	switch {
	case len(given) == 0:
		c.add(at, "no age; give one of days, months, years, until")
	case len(given) > 1:
		c.add(at, "%s contradict each other; give one", strings.Join(given, " and "))
	}
	c.oneOf(at+".from", string(o.From))
	if o.From == FromEndOfYear && o.Until != "" {
		c.add(at+".from", "end_of_year moves the start of an age; until is a fixed day; give one")
	}
	c.zone(at+".timezone", o.Timezone)
	if o.Undated != UndatedReport {
		c.add(at+".undated", "%q is not possible: rows without a readable date are only reported; to purge them, write a policy with where, such as \"event_date IS NULL\"", o.Undated)
	}
}

func (c *checker) keysFrom(k Keys) {
	const at = "criteria.keys"
	if c.required(at+".from", k.From) {
		c.keySource(at+".from", k.From)
	}
	if len(k.Columns) == 0 {
		c.add(at+".columns", "missing; name the columns of the key")
	}
	c.columns(at+".columns", k.Columns)
	c.renamed(at+".target_columns", k.TargetColumns, k.Columns)
}

// keySource checks the name of a table of keys. Keys are read at the version of
// the table that the plan was made with; a file has no versions.
func (c *checker) keySource(path, from string) {
	if keyFile.MatchString(from) {
		c.add(path, "%q is a file; keys are read from a Delta table only: load the file into a table and name that as schema.table", shorten(from))
		return
	}
	c.table(path, from)
}

// keyFile tells paths and addresses of files from names of tables.
var keyFile = regexp.MustCompile(`(?i)[/\\]|\.(csv|jsonl?|txt|parquet)$`)

func (c *checker) hold(h *Hold) {
	if h == nil {
		return
	}
	if strings.TrimSpace(h.Where) == "" && h.Table == "" {
		c.add("hold", "holds nothing; give where, table with keys, or both, or remove it")
	}
	c.table("hold.table", h.Table)
	if h.Table != "" && len(h.Keys) == 0 {
		c.add("hold.keys", "missing; name the columns of the key in %s", h.Table)
	}
	if h.Table == "" {
		c.onlyWithTable("hold.keys", len(h.Keys) > 0)
		c.onlyWithTable("hold.target_columns", len(h.TargetColumns) > 0)
		c.onlyWithTable("hold.until_column", h.UntilColumn != "")
	}
	c.columns("hold.keys", h.Keys)
	c.renamed("hold.target_columns", h.TargetColumns, h.Keys)
}

func (c *checker) onlyWithTable(path string, given bool) {
	if given {
		c.add(path, "only with hold.table")
	}
}

// reservedColumns are what the archive adds to each row.
var reservedColumns = []string{"run_id", "archived_at"}

func (c *checker) mark(p RetentionPolicy) {
	const at = "mark.column"
	flag := p.Mark.Column
	if !p.Mark.On() || !c.form(at, flag, "a column name without spaces, quotes and any of ,;{}()=") {
		return
	}
	if containsFold(reservedColumns, flag) {
		c.add(at, "%s is a column of the archive; choose another name", flag)
	}
	for _, used := range p.targetColumns() {
		if strings.EqualFold(used, flag) {
			c.add(at, "%s is a column the policy reads; the flag needs a column of its own", flag)
			return
		}
	}
}

// targetColumns are the columns of the purged table that the policy names.
func (p RetentionPolicy) targetColumns() []string {
	var out []string
	if o := p.Criteria.OlderThan; o != nil {
		out = append(out, o.Column)
	}
	if k := p.Criteria.Keys; k != nil {
		out = append(out, k.Target()...)
	}
	if h := p.Hold; h != nil {
		out = append(out, h.Target()...)
	}
	return append(out, p.Delete.Keys...)
}

// Target gives the key's columns by their names in the purged table.
func (k Keys) Target() []string { return targetOr(k.TargetColumns, k.Columns) }

// Target gives the key's columns by their names in the purged table.
func (h Hold) Target() []string { return targetOr(h.TargetColumns, h.Keys) }

func targetOr(target, same []string) []string {
	if len(target) > 0 {
		return target
	}
	return same
}

func (c *checker) approval(p RetentionPolicy) {
	a := p.Approval
	c.oneOf("approval.on", string(a.On))
	if a.On == ApprovalNone && (len(a.Approvers) > 0 || a.Deadline != "" || a.RemindEvery != "") {
		c.add("approval.on", "none asks nobody, but approvers or times are given; use plan or marked, or remove them")
	}
	if a.On == ApprovalMarked && !p.Mark.On() {
		c.add("approval.on", "marked contradicts mark.column: none, which marks nothing; use plan")
	}
	for i, who := range a.Approvers {
		if strings.TrimSpace(who) == "" || containsFold(a.Approvers[:i], who) {
			c.add("approval.approvers", "%q is empty or listed twice; without approvers anyone but the requester may approve", who)
		}
	}
	if len(a.Approvers) == 1 && a.Approvers[0] == p.RequestedBy {
		c.add("approval.approvers", "%s asks for the purge and may not approve it; name somebody else", p.RequestedBy)
	}
	c.approvalTimes(a, p.Vacuum.Retention)
}

func (c *checker) approvalTimes(a Approval, vacuum Duration) {
	deadline, ok := c.duration("approval.deadline", a.Deadline)
	// The undo needs the files from before: they must outlive the wait twice.
	if half := vacuum.Or(VacuumFloor) / 2; ok && deadline > half {
		c.add("approval.deadline", "%s is more than half of vacuum.retention (%s); at most %s", a.Deadline, vacuum, DurationOf(half))
	}
	if every, given := c.duration("approval.remind_every", a.RemindEvery); given && every < time.Minute {
		c.add("approval.remind_every", "%s is too often; at least 1m", a.RemindEvery)
	}
}

func (c *checker) archive(a Archive) {
	switch {
	case a.Table == "":
		c.add("archive.table", "missing; name the table that keeps purged rows, or write none with a reason")
	case a.On():
		c.table("archive.table", a.Table)
		if a.Reason != "" {
			c.add("archive.reason", "only with table: none; rows go to %s", a.Table)
		}
	case strings.TrimSpace(a.Reason) == "":
		c.add("archive.reason", "missing; keeping nothing of the purged rows needs a reason")
	}
}

func (c *checker) deletion(p RetentionPolicy) {
	d := p.Delete
	c.oneOf("delete.match", string(d.Match))
	switch {
	case d.Match == MatchKeys && len(d.Keys) == 0:
		c.add("delete.keys", "missing; match: keys needs the columns of the key")
	case d.Match == MatchFlag && len(d.Keys) > 0:
		c.add("delete.keys", "only with match: keys")
	}
	c.columns("delete.keys", d.Keys)
}

func (c *checker) limits(l Limits) {
	c.percent("limits.max_share_of_rows", l.MaxShareOfRows)
	c.percent("limits.first_run.max_share_of_rows", l.FirstRun.MaxShareOfRows)
	c.atLeastOne("limits.max_rows", l.MaxRows)
	c.atLeastOne("limits.first_run.max_rows", l.FirstRun.MaxRows)
	if m := l.MaxMultipleOfMedian; m != nil && (*m < 1 || *m > 1e6) {
		c.add("limits.max_multiple_of_median", "%g is out of range: 1 to 1000000", *m)
	}
}

func (c *checker) atLeastOne(path string, n *int64) {
	if n != nil && *n < 1 {
		c.add(path, "%d is out of range: at least 1", *n)
	}
}

func (c *checker) vacuum(v Vacuum) {
	retention, ok := c.duration("vacuum.retention", v.Retention)
	below := ok && retention < VacuumFloor
	if v.AllowBelowFloor == nil {
		if below {
			c.add("vacuum.retention", "%s is below the floor of %s: files that readers and other writers still use would go; raise it, or name the risk in vacuum.allow_below_floor", v.Retention, DurationOf(VacuumFloor))
		}
		return
	}
	if ok && !below {
		c.add("vacuum.allow_below_floor", "%s is not below the floor of %s; remove the override", v.Retention, DurationOf(VacuumFloor))
	}
	c.required("vacuum.allow_below_floor.risk", v.AllowBelowFloor.Risk)
}

// tablesApart refuses roles that share a table: an archive that is also the
// purged table, for one, would purge itself.
func (c *checker) tablesApart(p RetentionPolicy) {
	roles := []struct{ path, table string }{{"table", p.Table}, {"archive.table", p.Archive.Table}, {"audit.table", p.Audit.Table}}
	if p.Hold != nil {
		roles = append(roles, struct{ path, table string }{"hold.table", p.Hold.Table})
	}
	if p.Criteria.Keys != nil {
		roles = append(roles, struct{ path, table string }{"criteria.keys.from", p.Criteria.Keys.From})
	}
	for i, r := range roles {
		for _, other := range roles[:i] {
			if r.table != "" && r.table != None && strings.EqualFold(r.table, other.table) {
				c.add(r.path, "%s is already the %s of this policy; use another table", r.table, other.path)
			}
		}
	}
}

func (c *checker) notify(n *Notify) {
	if n == nil {
		return
	}
	for i, e := range n.Events {
		c.oneOf("notify.events", string(e))
		if slices.Contains(n.Events[:i], e) {
			c.add("notify.events", "%s is listed twice", e)
		}
	}
	if n.Webhook == nil {
		c.add("notify.webhook", "missing; name where to send notifications, or remove notify")
		return
	}
	const want = "the name of an environment variable of the worker: LAKEWARDEN_ and capitals; addresses and secrets never stand in a policy"
	if c.required("notify.webhook.url_env", n.Webhook.URLEnv) {
		c.form("notify.webhook.url_env", n.Webhook.URLEnv, want)
	}
	if c.required("notify.webhook.secret_env", n.Webhook.SecretEnv) {
		c.form("notify.webhook.secret_env", n.Webhook.SecretEnv, want)
	}
}
