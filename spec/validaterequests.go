package spec

import (
	"fmt"
	"strings"
)

// Validate lists everything that is wrong with the list and its policies, judged
// with their defaults. A nil loader leaves out whether time zones exist.
func (l PurgeLakehouse) Validate(zones ZoneLoader) Problems {
	if l.APIVersion == "" && l.Kind == "" && l.Name == "" && len(l.Policies) == 0 {
		return Problems{{Message: "the list of policies is empty; give one as input", Example: ExamplePurgeLakehouse()}}
	}
	l = l.Defaults()
	c := &checker{keys: lakehouseKeys, zones: zones}
	c.header(l.APIVersion, l.Kind)
	c.name("name", l.Name)
	if n := *l.MaxParallel; n < 1 || n > 100 {
		c.add("max_parallel", "%d is out of range: 1 to 100", n)
	}
	if len(l.Policies) == 0 {
		c.add("policies", "no policies")
	}
	for i, p := range l.Policies {
		c.prefix = fmt.Sprintf("policies[%d].", i)
		c.policy(p)
		c.distinct(l.Policies[:i], p)
	}
	return c.problems
}

// distinct refuses two policies of one name, or for one table: a table is purged
// by one run at a time.
func (c *checker) distinct(before []RetentionPolicy, p RetentionPolicy) {
	for j, other := range before {
		if p.Name != "" && strings.EqualFold(other.Name, p.Name) {
			c.add("name", "%s is also the name of policies[%d]", p.Name, j)
		}
		if p.Table != "" && strings.EqualFold(other.Table, p.Table) {
			c.add("table", "policies[%d] purges %s too, and one purge runs per table; join them, or run them one after the other", j, p.Table)
		}
	}
}

// Validate lists everything that is wrong with the request.
func (r RestoreRequest) Validate(zones ZoneLoader) Problems {
	if r.APIVersion == "" && r.Kind == "" && r.RunID == "" {
		return Problems{{Message: "the request is empty; give one as input", Example: ExampleRestoreRequest()}}
	}
	r = r.Defaults()
	c := &checker{keys: restoreKeys, zones: zones}
	c.header(r.APIVersion, r.Kind)
	if c.required("run_id", r.RunID) {
		c.form("run_id", r.RunID, "a run id")
	}
	if len(r.Keys) == 0 && !r.DryRun {
		c.add("keys", "missing; name the columns that identify a row: by them the next purge is held off the restored rows")
	}
	c.columns("keys", r.Keys)
	if c.required("hold_until", r.HoldUntil) {
		c.day("hold_until", r.HoldUntil)
	}
	c.required("reason", r.Reason)
	c.table("audit.table", r.Audit.Table)
	if strings.EqualFold(r.Audit.Table, HoldTable) {
		c.add("audit.table", "%s is the table of holds; name the table that the run was recorded in", r.Audit.Table)
	}
	return c.problems
}
