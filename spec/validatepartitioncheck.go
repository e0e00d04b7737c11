package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Validate lists everything that is wrong with the check, judged with its
// defaults. A nil loader leaves out whether time zones exist.
func (p PartitionCheck) Validate(zones ZoneLoader) Problems {
	if p.APIVersion == "" && p.Kind == "" && p.Name == "" && p.Table == "" && p.Path == "" {
		return Problems{{Message: "the partition check is empty; give one as input", Example: ExamplePartitionCheck()}}
	}
	p = p.Defaults()
	c := &checker{keys: partitionKeys, zones: zones}
	c.header(p.APIVersion, p.Kind)
	c.name("name", p.Name)
	c.target(p)
	c.scheme(p.Partition)
	c.expected(p)
	c.rules(p)
	c.oneOf("files.verify", string(p.Files.Verify))
	c.onFailure(p)
	c.table("record.validation", p.Record.Validation)
	c.table("record.stats", p.Record.Stats)
	c.table("audit.table", p.Audit.Table)
	c.resultsApart(p)
	c.notify(p.Notify)
	return c.problems
}

func (c *checker) target(p PartitionCheck) {
	switch {
	case p.Table != "" && p.Path != "":
		c.add("path", "table is given too; keep one of them")
	case p.Table == "" && p.Path == "":
		c.add("table", "missing; name a table, or a directory with path")
	case p.Table != "":
		c.table("table", p.Table)
	}
}

func (c *checker) scheme(s PartitionScheme) {
	c.columns("partition.columns", s.Columns)
	c.oneOf("partition.scheme", string(s.Scheme))
	c.zone("partition.timezone", s.Timezone)
	want, several := map[SchemeKind][]int{
		SchemeDate: {1}, SchemeHour: {1, 2, 4}, SchemeWeek: {1}, SchemeMonth: {1}, SchemeYearMonth: {2}, SchemeYearMonthDay: {3}, SchemeYearWeek: {2},
	}[s.Scheme]
	if several && len(s.Columns) > 0 && !slices.Contains(want, len(s.Columns)) {
		c.add("partition.columns", "%d columns do not make a scheme %s", len(s.Columns), s.Scheme)
	}
	if len(s.Columns) > 4 {
		c.add("partition.columns", "at most year, month, day and hour; further partition columns need no name here")
	}
}

func (c *checker) expected(p PartitionCheck) {
	e := p.Expected
	if e == nil {
		return
	}
	every, unit, everyOK := c.period("expected.every", e.Every)
	_, _, lastOK := c.period("expected.last", e.Last)
	c.day("expected.start", e.Start)
	c.day("expected.end", e.End)
	switch {
	case e.Last == "" && e.Start == "":
		c.add("expected", "no range; give last, or start with or without end")
	case e.Last != "" && (e.Start != "" || e.End != ""):
		c.add("expected.last", "a window and a fixed range exclude each other; keep one")
	case e.Start != "" && e.End != "" && e.End < e.Start:
		c.add("expected.end", "%s is before expected.start %s", e.End, e.Start)
	}
	if everyOK && lastOK {
		c.windowFits(e, every, unit)
	}
	c.zone("expected.timezone", e.Timezone)
	c.form("expected.deadline", e.Deadline, "a time of day such as 09:00 or 09:00+1d")
	for i, x := range e.Except {
		c.except(fmt.Sprintf("expected.except[%d]", i), x)
	}
}

// period checks a Period; ok is false where it is wrong. Not given is fine.
func (c *checker) period(path string, p Period) (n int, unit Unit, ok bool) {
	if p == "" {
		return 0, "", true
	}
	n, unit, err := p.Parts()
	if err != nil {
		c.add(path, "%v", err)
		return 0, "", false
	}
	return n, unit, true
}

// windowFits refuses cadences without an anchor, and windows that hold nothing.
func (c *checker) windowFits(e *Expected, every int, unit Unit) {
	switch {
	case unit == Hour && 24%every != 0:
		c.add("expected.every", "%s does not divide a day; 1, 2, 3, 4, 6, 8 or 12 hours do", e.Every)
	case unit != Hour && every > 1 && e.Start == "":
		c.add("expected.every", "%s needs a first day to count from; give start instead of last", e.Every)
	}
	if e.Last == "" {
		return
	}
	if n, last, err := e.Last.Parts(); err == nil && hours(n, last) < hours(every, unit) {
		c.add("expected.last", "%s is shorter than %s: nothing would be expected", e.Last, e.Every)
	}
}

// hours is about how long a period is.
func hours(n int, unit Unit) int {
	return n * map[Unit]int{Hour: 1, Day: 24, Week: 7 * 24, Month: 31 * 24}[unit]
}

// except checks one entry of the accepted gaps.
func (c *checker) except(path, entry string) {
	if !c.form(path, entry, "a day (2026-12-25), a range (2026-08-01..2026-08-15), a day of every year (--12-25) or a weekday (sunday)") {
		return
	}
	from, to, ranged := strings.Cut(entry, "..")
	switch {
	case strings.HasPrefix(entry, "--"):
		if _, err := time.Parse(time.DateOnly, "2024-"+entry[2:]); err != nil { // a leap year
			c.add(path, "%s is not a day of the year", entry)
		}
	case strings.Contains(entry, "-"):
		c.day(path, from)
		c.day(path, to)
		if ranged && to < from {
			c.add(path, "%s ends before it begins", entry)
		}
	case entry == "":
		c.add(path, "empty; write a day or remove it")
	}
}

func (c *checker) onFailure(p PartitionCheck) {
	f := p.OnFailure
	if f == nil {
		return
	}
	if f.Backfill == nil && f.Rollback == nil && f.Notify == nil {
		c.add("on_failure", "empty; give backfill, rollback or notify, or remove it")
	}
	c.backfill(p)
	if r := f.Rollback; r != nil && p.Path != "" {
		c.add("on_failure.rollback", "only a Delta table, named by table, has versions to go back to")
	} else if r != nil && r.Approval != nil {
		c.columns("on_failure.rollback.approval.approvers", r.Approval.Approvers)
		c.duration("on_failure.rollback.approval.deadline", r.Approval.Deadline)
		if every, ok := c.duration("on_failure.rollback.approval.remind_every", r.Approval.RemindEvery); ok && every < time.Minute {
			c.add("on_failure.rollback.approval.remind_every", "%s is too often; at least 1m", r.Approval.RemindEvery)
		}
	}
	c.prefix = "on_failure."
	c.notify(f.Notify)
	c.prefix = ""
}

// Placeholders that a backfill's input may hold.
var placeholders = []string{"{partition}", "{date}", "{hour}", "{year}", "{month}", "{day}", "{week}", "{start}", "{end}", "{table}", "{run_id}"}

func (c *checker) backfill(p PartitionCheck) {
	b := p.OnFailure.Backfill
	if b == nil {
		return
	}
	const at = "on_failure.backfill"
	ways := 0
	for _, given := range []bool{b.Workflow != "", b.Webhook != nil, b.FabricJob != nil} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		c.add(at, "one of workflow, webhook and fabric_job loads a partition; %d are given", ways)
	}
	if p.Expected == nil {
		c.add(at, "needs expected: without it no partition is missing")
	}
	if b.Workflow != "" && c.required(at+".queue", b.Queue) {
		c.form(at+".workflow", b.Workflow, "the type name of a workflow")
	}
	if b.Queue != "" && b.Workflow == "" {
		c.add(at+".queue", "only with workflow")
	}
	for _, x := range b.Input.Placeholders() {
		if !slices.Contains(placeholders, x) {
			c.add(at+".input", "%s is no placeholder; there are %s", shorten(x), strings.Join(placeholders, ", "))
		}
	}
	if b.Webhook != nil {
		c.env(at+".webhook.url_env", b.Webhook.URLEnv)
		c.env(at+".webhook.secret_env", b.Webhook.SecretEnv)
	}
	c.fabricJob(at+".fabric_job", b.FabricJob)
	if n := *b.MaxParallel; n < 1 || n > 100 {
		c.add(at+".max_parallel", "%d is out of range: 1 to 100", n)
	}
	if n := *b.MaxPartitions; n < 1 || n > 1000 {
		c.add(at+".max_partitions", "%d is out of range: 1 to 1000", n)
	}
	c.duration(at+".timeout", b.Timeout)
}

func (c *checker) fabricJob(at string, j *FabricJob) {
	if j == nil {
		return
	}
	for _, id := range [][2]string{{".workspace", j.Workspace}, {".item", j.Item}, {".job_type", j.JobType}} {
		if c.required(at+id[0], id[1]) {
			c.form(at+id[0], id[1], "an id: letters, digits, dash and underscore")
		}
	}
	c.env(at+".tenant_env", j.TenantEnv)
	c.env(at+".client_id_env", j.ClientIDEnv)
	c.env(at+".client_secret_env", j.ClientSecretEnv)
}

func (c *checker) env(path, name string) {
	if c.required(path, name) {
		c.form(path, name, "the name of an environment variable of the worker: LAKEWARDEN_ and capitals; addresses and secrets never stand in a document")
	}
}

// resultsApart refuses to write results into the table that is checked.
func (c *checker) resultsApart(p PartitionCheck) {
	roles := []struct{ path, table string }{
		{"table", p.Table}, {"record.validation", p.Record.Validation}, {"record.stats", p.Record.Stats}, {"audit.table", p.Audit.Table},
	}
	for i, r := range roles {
		for _, other := range roles[:i] {
			if r.table != "" && strings.EqualFold(r.table, other.table) {
				c.add(r.path, "%s is already the %s of this check; use another table", r.table, other.path)
			}
		}
	}
}
