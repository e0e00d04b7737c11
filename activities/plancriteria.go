package activities

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

// freezeCriteria turns the policy's criteria into SQL with the clock in it.
func (p *planner) freezeCriteria(ctx context.Context) error {
	zone, err := p.freezeAge()
	if err != nil {
		p.refuse("criteria", "Mend criteria.older_than.", "%v", err)
		return nil
	}
	p.plan.Zone = zone.String()
	ec := expr.Context{Now: p.in.Now, Zone: zone}
	if w := p.in.Policy.Criteria.Where; w != "" {
		p.plan.Match = p.freezeSQL("criteria.where", w, p.plan.Match, ec)
	}
	if h := p.in.Policy.Hold; h != nil && h.Where != "" {
		p.plan.Hold = p.freezeSQL("hold.where", h.Where, "", ec)
	}
	if len(p.out.Refusals) > 0 {
		return nil
	}
	p.checkKeyFiles()
	_, err = p.a.criteria(ctx, &p.plan, p.env)
	if kind, retry := classify(err); err != nil && !retry {
		p.refuse("criteria", "Mend the criteria or the hold.", "%v (%s)", err, kind)
		return nil
	}
	if err != nil {
		return err
	}
	p.out.Criteria, p.out.Hold = describe(p.plan.Match, p.in.Policy.Criteria.Keys), describeHold(p.plan.Hold, p.in.Policy.Hold)
	return nil
}

// freezeAge computes the cutoff, and says in which zone days are counted.
func (p *planner) freezeAge() (*time.Location, error) {
	age := p.in.Policy.Criteria.OlderThan
	if age == nil {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(age.Timezone)
	if err != nil {
		return nil, err
	}
	kind, err := calendar.LookupColumn(p.snap.Schema(), age.Column)
	if err != nil {
		return nil, err
	}
	cutoff, err := calendar.Of(*age, p.in.Now, zone)
	if err != nil {
		return nil, err
	}
	if cutoff.Instant.After(p.in.Now) { // today's began already
		p.refuse("cutoff_in_future", "Set criteria.older_than.until to today or an earlier day.",
			"the cutoff %s is later than today: every row dated until then would go, new ones too", cutoff.Date)
	}
	sql, err := cutoff.SQL(age.Column, kind, age.Format)
	if err != nil {
		return nil, err
	}
	p.plan.Match, p.plan.Undated, p.plan.Cutoff = sql.Due, sql.Undated, cutoff.String()
	p.out.Cutoff = p.plan.Cutoff
	return zone, nil
}

// freezeSQL checks a predicate against the schema and replaces its clock; both
// it and also must hold.
func (p *planner) freezeSQL(key, text, also string, ec expr.Context) string {
	x, err := expr.Parse(text)
	if err == nil {
		var b *expr.Bound
		if b, err = x.Bind(p.snap.Schema(), ec); err == nil && b.Type() != schema.Boolean {
			err = fmt.Errorf("%s: the expression is %s, want a condition (boolean)", text, b.Type())
		}
	}
	if err != nil {
		p.refuse("predicate", "Mend "+key+".", "%s: %v", key, err)
		return also
	}
	frozen := x.Freeze(ec).String()
	if also == "" {
		return frozen
	}
	return "(" + also + ") AND (" + frozen + ")"
}

// checkKeyFiles refuses what only tables can give today.
func (p *planner) checkKeyFiles() {
	if k := p.in.Policy.Criteria.Keys; k != nil && strings.ContainsAny(k.From, "/\\") {
		p.refuse("keys_from_file", "Load the keys into a Delta table and name it as schema.table.", "criteria.keys.from: %s is a file; only tables are read yet", k.From)
	}
}

func describe(match string, keys *spec.Keys) string {
	if keys == nil {
		return match
	}
	in := "(" + strings.Join(targetColumns(keys.Columns, keys.TargetColumns), ", ") + ") IN " + keys.From
	if match == "" {
		return in
	}
	return "(" + match + ") AND " + in
}

func describeHold(where string, h *spec.Hold) string {
	if h == nil || h.Table == "" {
		return where
	}
	in := "(" + strings.Join(targetColumns(h.Keys, h.TargetColumns), ", ") + ") IN " + h.Table
	if where == "" {
		return in
	}
	return "(" + where + ") OR " + in
}
