package spec

import (
	"fmt"
	"slices"
	"strings"
)

func (c *checker) rules(p PartitionCheck) {
	if len(p.Checks) == 0 {
		c.add("checks", "no checks; without one nothing could ever be wrong")
	}
	for i, r := range p.Checks {
		c.prefix = fmt.Sprintf("checks[%d].", i)
		c.rule(r, p)
	}
	c.prefix = ""
}

func (c *checker) rule(r PartitionRule, p PartitionCheck) {
	if !c.required("metric", string(r.Metric)) {
		return
	}
	m, known := metricRules[r.Metric]
	if !known {
		if near := nearest(string(r.Metric), metricNames()); near != "" {
			c.add("metric", "%q is unknown; did you mean %s?", shorten(string(r.Metric)), near)
			return
		}
		c.oneOf("metric", string(r.Metric))
		return
	}
	c.oneOf("per", string(r.Per))
	c.oneOf("severity", string(r.Severity))
	if !slices.Contains(m.per, r.Per) {
		c.add("per", "%s is not taken per %s; allowed: %s", r.Metric, r.Per, joined(m.per))
	}
	c.ruleColumn(r, m)
	switch {
	case m.baseline && r.Baseline == "":
		c.add("baseline", "missing; %s is taken against one", r.Metric)
	case !m.baseline && r.Baseline != "":
		c.add("baseline", "%s is taken as it is; remove the baseline, or use one of %s", r.Metric, strings.Join(relative(), ", "))
	default:
		c.form("baseline", r.Baseline, "median N, mean N or previous, with weekday behind it where only that weekday counts")
	}
	if slices.Contains([]Metric{MissingPartitions, LatePartitions}, r.Metric) && p.Expected == nil {
		c.add("metric", "%s needs expected: which partitions must be there, and when", r.Metric)
	}
	if r.Metric == LatePartitions && p.Expected != nil && p.Expected.Deadline == "" {
		c.add("metric", "late_partitions needs expected.deadline: until when a partition may come")
	}
	c.bounds(r, m)
}

func (c *checker) ruleColumn(r PartitionRule, m metricRule) {
	if m.column {
		c.required("column", r.Column)
	} else if r.Column != "" {
		c.add("column", "%s is of no column; remove it", r.Metric)
	}
	if r.Format != "" && r.Metric != ValuesOutside {
		c.add("format", "only with values_outside_partition")
	}
}

// bounds checks that a rule says once, and in the metric's own unit, what must
// be.
func (c *checker) bounds(r PartitionRule, m metricRule) {
	given := r.Bounds()
	switch {
	case len(given) == 0:
		c.add("must_be", "missing; say what %s must be: must_be, must_not_be, must_be_greater_than, must_be_at_least, must_be_less_than, must_be_at_most or must_be_between", r.Metric)
		return
	case len(given) > 1:
		c.add(given[1].Key, "%s is given too; keep one, or write must_be_between", given[0].Key)
		return
	}
	g := given[0]
	for _, b := range g.Values {
		c.bound(g.Key, r.Metric, m, b)
	}
	if g.Key != "must_be_between" {
		return
	}
	if len(g.Values) != 2 {
		c.add(g.Key, "%d values; want the least and the most", len(g.Values))
		return
	}
	lo, okLo := g.Values[0].Number()
	hi, okHi := g.Values[1].Number()
	if okLo && okHi && lo.Cmp(hi) > 0 || okLo != okHi || !okLo && g.Values[0] > g.Values[1] {
		c.add(g.Key, "%s is not below %s", g.Values[0], g.Values[1])
	}
}

func (c *checker) bound(key string, metric Metric, m metricRule, b Bound) {
	switch {
	case m.percent && !b.IsPercent():
		c.add(key, "%s is a share: write a percentage with its sign, such as 50%%", metric)
	case !m.percent && b.IsPercent():
		c.add(key, "%s is a number, not a share; %s is no number", metric, b)
	case !m.text && !b.IsNumber() && !b.IsPercent():
		c.add(key, "%q is not a number", shorten(string(b)))
	}
}

// Bounds is one must key with its values.
type Bounds struct {
	Key    string
	Values []Bound
}

// Bounds lists the must keys that are given; a valid rule has one.
func (r PartitionRule) Bounds() []Bounds {
	var out []Bounds
	for _, x := range []struct {
		key string
		b   *Bound
	}{
		{"must_be", r.MustBe},
		{"must_not_be", r.MustNotBe},
		{"must_be_greater_than", r.GreaterThan},
		{"must_be_at_least", r.AtLeast},
		{"must_be_less_than", r.LessThan},
		{"must_be_at_most", r.AtMost},
	} {
		if x.b != nil {
			out = append(out, Bounds{x.key, []Bound{*x.b}})
		}
	}
	if r.Between != nil {
		out = append(out, Bounds{"must_be_between", r.Between})
	}
	return out
}

func joined[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return strings.Join(out, ", ")
}

// relative lists the metrics that are taken against a baseline.
func relative() []string {
	var out []string
	for _, m := range metrics {
		if metricRules[m].baseline {
			out = append(out, string(m))
		}
	}
	return out
}
