package partitions

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

// measured is a metric's value of one partition.
type measured struct {
	number *big.Rat
	value  *Value // of min and max
	none   bool   // there is no value to compare, which is right
	text   string
	basis  string // what a change is taken from, in words
	why    string // it has no value
}

func (m measured) holds(r spec.PartitionRule) (bool, error) {
	switch {
	case m.none:
		return true, nil
	case m.value != nil:
		return holds(r, m.value.against)
	}
	return numberHolds(r, m.number)
}

// measure takes a metric of a partition.
func (j *judge) measure(at int, r spec.PartitionRule) measured {
	if !r.Metric.Relative() {
		return j.direct(&j.s.Parts[at], r)
	}
	now := j.plain(&j.s.Parts[at], r)
	if now.why != "" {
		return now
	}
	return j.relative(at, r, now)
}

// plainOf is the metric that a change is a change of.
var plainOf = map[spec.Metric]spec.Metric{
	spec.RowCountChange: spec.RowCount, spec.RowCountDeviation: spec.RowCount, spec.BytesChange: spec.Bytes,
	spec.MeanChange: spec.MeanValue, spec.DistinctChange: spec.DistinctValues,
}

func (j *judge) plain(p *Part, r spec.PartitionRule) measured {
	r.Metric = plainOf[r.Metric]
	return j.direct(p, r)
}

// direct takes a metric that needs no baseline.
func (j *judge) direct(p *Part, r spec.PartitionRule) measured {
	switch r.Metric {
	case spec.RowCount:
		if p.Rows == nil {
			return measured{why: "its rows are not known"}
		}
		return whole(*p.Rows)
	case spec.FileCount:
		return whole(int64(p.Files))
	case spec.Bytes:
		return whole(p.Bytes)
	}
	c := p.Columns[j.columnName(r, p)]
	switch {
	case c == nil:
		return measured{why: "column " + r.Column + " was not read"}
	case c.Unread > 0:
		return measured{why: c.Why}
	}
	return ofColumn(c, r)
}

// columnName is a rule's column as the statistics name it.
func (j *judge) columnName(r spec.PartitionRule, p *Part) string {
	if _, exact := p.Columns[r.Column]; exact {
		return r.Column
	}
	for name := range p.Columns {
		if strings.EqualFold(name, r.Column) {
			return name
		}
	}
	return r.Column
}

func ofColumn(c *Column, r spec.PartitionRule) measured {
	switch r.Metric {
	case spec.NullValues:
		return whole(c.Nulls)
	case spec.NullShare:
		if c.Rows == 0 {
			return measured{none: true, text: "of no rows"}
		}
		return share(big.NewRat(c.Nulls, c.Rows))
	case spec.MinValue, spec.MaxValue:
		v := c.Min
		if r.Metric == spec.MaxValue {
			v = c.Max
		}
		if v == nil {
			return measured{none: true, text: "of no values"}
		}
		return measured{value: v, text: v.Text}
	case spec.ValuesOutside:
		return whole(c.Outside + c.Undated)
	case spec.DistinctValues:
		return whole(c.Sketch.Distinct())
	case spec.MeanValue:
		mean, ok := c.Mean()
		if !ok {
			return measured{none: true, text: "of no values"}
		}
		return measured{number: ratio(mean), text: fmt.Sprintf("%.6g", mean)}
	}
	return measured{why: string(r.Metric) + " is not taken of a column"}
}

func whole(n int64) measured { return measured{number: big.NewRat(n, 1), text: count(n)} }

func share(r *big.Rat) measured {
	f, _ := new(big.Rat).Mul(r, big.NewRat(100, 1)).Float64() // for people
	return measured{number: r, text: fmt.Sprintf("%.4g%%", f)}
}

// relative compares with the partitions around.
func (j *judge) relative(at int, r spec.PartitionRule, now measured) measured {
	if now.none {
		return now
	}
	b, err := parseBaseline(r.Baseline)
	if err != nil {
		return measured{why: "the baseline does not read"}
	}
	values := j.around(at, r, b)
	if len(values) == 0 {
		return measured{why: "there is no other partition to compare it with"}
	}
	x, _ := now.number.Float64()
	base := median(values)
	if b.how == "mean" {
		base = mean(values)
	}
	what := fmt.Sprintf(" (%s against %.6g, the %s of %d others)", now.text, base, strings.Fields(strings.Replace(b.how, "previous", "value", 1))[0], len(values))
	if r.Metric == spec.RowCountDeviation {
		dev := make([]float64, len(values))
		for i, v := range values {
			dev[i] = math.Abs(v - base)
		}
		d := math.Abs(x-base) / max(1.4826*median(dev), 0.01*math.Abs(base), 1)
		return measured{number: ratio(d), text: fmt.Sprintf("%.1f", d), basis: what}
	}
	if base == 0 {
		if x == 0 {
			return measured{none: true, text: "0%"}
		}
		return measured{why: "the others have none, of which no share can be taken"}
	}
	m := share(ratio((x - base) / base))
	m.basis = what
	return m
}

// around gives the values of the n partitions before one, nearest first. Where
// there are fewer than three (or n), those behind it stand in, so that both edges
// of a table are judged. Partitions of earlier runs that are gone count too.
func (j *judge) around(at int, r spec.PartitionRule, b baseline) []float64 {
	me := j.s.Parts[at].Key
	all := j.others(r)
	pos, _ := slices.BinarySearchFunc(all, me, func(n neighbour, k calendar.Key) int { return strings.Compare(string(n.key), string(k)) })
	var out []float64
	for i := pos - 1; i >= 0 && len(out) < b.n; i-- {
		if j.sameWeekday(me, all[i].key, b) {
			out = append(out, all[i].v)
		}
	}
	if len(out) >= min(b.n, 3) {
		return out
	}
	for i := pos; i < len(all) && len(out) < b.n; i++ {
		if all[i].key != me && j.sameWeekday(me, all[i].key, b) {
			out = append(out, all[i].v)
		}
	}
	return out
}

// neighbour is another partition's value.
type neighbour struct {
	key calendar.Key
	v   float64
}

// others gives the values of all partitions that are written, in the order of
// time; they are the same for every partition that is compared.
func (j *judge) others(r spec.PartitionRule) []neighbour {
	name := string(plainOf[r.Metric]) + "\x00" + r.Column
	if have, ok := j.series[name]; ok {
		return have
	}
	all := []neighbour{}
	seen := map[calendar.Key]bool{}
	for i := range j.s.Parts {
		p := &j.s.Parts[i]
		seen[p.Key] = p.Files > 0
		if p.Key == "" || p.Files == 0 || j.writing(p) {
			continue
		}
		if m := j.plain(p, r); m.number != nil {
			f, _ := m.number.Float64()
			all = append(all, neighbour{p.Key, f})
		} else if h, ok := j.remembered(p.Key, r); ok {
			all = append(all, neighbour{p.Key, h})
		}
	}
	for key := range j.history {
		k := calendar.Key(key)
		if h, ok := j.remembered(k, r); ok && !seen[k] {
			all = append(all, neighbour{k, h})
		}
	}
	slices.SortFunc(all, func(x, y neighbour) int { return strings.Compare(string(x.key), string(y.key)) })
	j.series[name] = all
	return all
}

func (j *judge) sameWeekday(a, b calendar.Key, base baseline) bool {
	if !base.weekday {
		return true
	}
	x, errX := a.Wall(j.s.Scheme.Unit)
	y, errY := b.Wall(j.s.Scheme.Unit)
	return errX == nil && errY == nil && x.Weekday() == y.Weekday() && x.Hour() == y.Hour()
}

func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
