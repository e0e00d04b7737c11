package partitions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// need says what the rules ask of one column.
type need struct {
	column  string
	typ     schema.Type // nil: a directory's, known once a file is open
	nulls   bool
	bounds  bool
	outside bool
	format  string // of outside, in a text column
	values  bool   // the values themselves: means, distinct counts
}

// Read is a file to open: to check it, to count its rows, or for its values.
type Read struct {
	Part    int      `json:"part"`
	Path    string   `json:"path"`
	Size    int64    `json:"size"`
	Verify  bool     `json:"verify,omitempty"`
	Columns []string `json:"columns,omitempty"`
	cost    int64
}

// Bin is a run of reads that one worker takes: from From up to, not including, To.
type Bin struct {
	From  int   `json:"from"`
	To    int   `json:"to"`
	Bytes int64 `json:"bytes"`
}

const (
	binBytes = 1 << 30
	binFiles = 2000
	// maxBins bounds a run's history: larger tables get larger bins.
	maxBins = 200
	// footerCost is about what opening a file reads.
	footerCost = 64 << 10
)

// needs gathers what the rules ask of columns; a rule whose column is not there
// cannot be judged.
func needs(c spec.PartitionCheck, src *source, impossible map[int]string) []need {
	var out []need
	for i, r := range c.Checks {
		if !r.Metric.OfColumn() {
			continue
		}
		f, err := src.field(r.Column)
		if err != nil {
			impossible[i] = err.Error()
			continue
		}
		n := need{column: r.Column}
		if f != nil {
			n.column, n.typ = f.Name, f.Type
			if why := unmeasurable(r, f.Type); why != "" {
				impossible[i] = why
				continue
			}
		}
		at := slices.IndexFunc(out, func(o need) bool { return strings.EqualFold(o.column, n.column) })
		if at < 0 {
			at = len(out)
			out = append(out, n)
		}
		out[at].ask(r)
	}
	return out
}

func (n *need) ask(r spec.PartitionRule) {
	switch r.Metric {
	case spec.NullValues, spec.NullShare:
		n.nulls = true
	case spec.MinValue, spec.MaxValue:
		n.bounds = true
	case spec.ValuesOutside:
		n.outside, n.format = true, cmp.Or(n.format, r.Format)
	default:
		n.values = true
	}
}

// unmeasurable says why a metric is not taken of a column of a type.
func unmeasurable(r spec.PartitionRule, t schema.Type) string {
	p, primitive := t.(schema.Primitive)
	_, decimal := t.(schema.Decimal)
	numeric := decimal || slices.Contains([]schema.Primitive{schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Float, schema.Double}, p)
	dated := slices.Contains([]schema.Primitive{schema.Date, schema.Timestamp, schema.TimestampNTZ}, p)
	why := "column " + r.Column + " is " + t.String() + ": " + string(r.Metric)
	switch r.Metric {
	case spec.MeanValue, spec.MeanChange:
		if !numeric {
			return why + " needs numbers"
		}
	case spec.MinValue, spec.MaxValue:
		if !numeric && !dated && p != schema.String && p != schema.Boolean {
			return why + " needs numbers, text or dates"
		}
	case spec.ValuesOutside:
		switch {
		case p == schema.String && r.Format == "":
			return why + " needs to know how dates are written in text: add format: yyyy-MM-dd to the check"
		case p == schema.String:
			if _, err := parseFormat(r.Format); err != nil {
				return why + ": " + err.Error()
			}
		case !dated:
			return why + " needs dates"
		}
	case spec.DistinctValues, spec.DistinctChange:
		if !primitive && !decimal {
			return why + " needs plain values"
		}
	}
	return ""
}

// measure takes what the log tells exactly, and lists what must be read.
func (v *surveyor) measure() {
	c := v.ask.Check
	ns := needs(c, v.src, v.out.Impossible)
	verify := slices.ContainsFunc(c.Checks, func(r spec.PartitionRule) bool {
		return r.Metric == spec.UnreadableFiles || r.Metric == spec.SchemaMismatches
	})
	counts := slices.ContainsFunc(c.Checks, func(r spec.PartitionRule) bool { return strings.HasPrefix(string(r.Metric), "row_count") })
	perFile := slices.ContainsFunc(c.Checks, func(r spec.PartitionRule) bool { return r.Per == spec.PerFile })
	basis := v.basis()
	for i := range v.out.Parts {
		p := &v.out.Parts[i]
		if p.There() && len(ns) > 0 {
			p.Columns = map[string]*Column{}
			for _, n := range ns {
				p.Columns[n.column] = &Column{}
			}
		}
		for _, at := range v.byPart[i] {
			f := &v.src.files[at]
			r := Read{Part: i, Path: f.path, Size: f.size, cost: footerCost}
			if p.There() {
				r.Verify = verify
				r.Columns = v.fromLog(p, f, ns)
				if perFile {
					v.out.Files = append(v.out.Files, FileStat{Part: i, Path: f.path, Size: f.size, Rows: f.rows})
				}
			}
			unknown := counts && f.rows == nil && (p.There() || basis[i])
			if r.Verify || len(r.Columns) > 0 || unknown {
				if r.Verify && c.Files.Verify == spec.VerifyPages || len(r.Columns) > 0 {
					r.cost += f.size
				}
				v.out.Reads = append(v.out.Reads, r)
			}
		}
	}
	v.bin()
}

// basis are partitions outside the range whose rows a baseline needs.
func (v *surveyor) basis() map[int]bool {
	most := 0
	for _, r := range v.ask.Check.Checks {
		if b, err := parseBaseline(r.Baseline); err == nil && r.Metric.Relative() {
			n := b.n
			if b.weekday {
				n *= 7
			}
			most = max(most, n)
		}
	}
	out := map[int]bool{}
	if most == 0 {
		return out
	}
	for i := len(v.out.Parts) - 1; i >= 0 && most > 0; i-- {
		if v.out.Parts[i].Status == Outside {
			out[i] = true
			most--
		}
	}
	return out
}

// fromLog adds what the log tells of a file to the partition's statistics, and
// gives the columns that must be read from the file.
func (v *surveyor) fromLog(p *Part, f *file, ns []need) (read []string) {
	if len(ns) == 0 {
		return nil
	}
	var ranges func(string) (expr.Range, bool)
	if f.ranges != nil {
		ranges = f.ranges()
	}
	for _, n := range ns {
		got, ok := Column{}, false
		if ranges != nil && !n.values && f.rows != nil {
			if r, known := ranges(n.column); known {
				got, ok = v.exact(p, f, n, r)
			}
		}
		if !ok {
			read = append(read, n.column)
			continue
		}
		p.Columns[n.column].merge(n.typ, &got)
	}
	return read
}

// exact turns a range into statistics; ok is false where it is not exact enough.
func (v *surveyor) exact(p *Part, f *file, n need, r expr.Range) (c Column, ok bool) {
	c.Rows = *f.rows
	allNull := r.HasNullCount && r.NullCount == r.NumRows
	switch {
	case allNull:
		c.Nulls = *f.rows
	case r.HasNullCount && (!f.deleted || r.NullCount == 0):
		c.Nulls = r.NullCount
	case n.nulls || n.bounds: // whether there is a value at all is not known
		return c, false
	}
	if allNull || *f.rows == 0 {
		return c, true
	}
	if n.bounds {
		if !r.HasMin || !r.HasMax || r.MinInexact || r.MaxInexact {
			return c, false
		}
		lo, okLo := valueOf(n.typ, r.Min)
		hi, okHi := valueOf(n.typ, r.Max)
		if !okLo || !okHi {
			return c, false
		}
		c.Min, c.Max = &lo, &hi
	}
	return c, !n.outside || v.within(p, n, r)
}

// within says that no value lies outside its partition. Bounds that are not exact
// are wider than the values, but for a millisecond that writers cut off.
func (v *surveyor) within(p *Part, n need, r expr.Range) bool {
	if !r.HasMin || !r.HasMax || p.Start == nil {
		return false
	}
	w := windowOf(p, v.out.Scheme.Unit, v.out.Scheme.Zone)
	switch lo := r.Min.(type) {
	case expr.Date:
		hi, ok := r.Max.(expr.Date)
		return ok && w.day(dayOf(lo)) == inside && w.day(dayOf(hi)) == inside
	case expr.Timestamp:
		hi, ok := r.Max.(expr.Timestamp)
		if !ok {
			return false
		}
		last := time.UnixMicro(int64(hi))
		if r.MaxInexact {
			last = last.Add(time.Millisecond - time.Microsecond)
		}
		return w.at(n.typ, time.UnixMicro(int64(lo))) == inside && w.at(n.typ, last) == inside
	}
	return false
}

// bin cuts the reads into pieces of work.
func (v *surveyor) bin() {
	total := int64(0)
	for _, r := range v.out.Reads {
		total += r.cost
	}
	bytes, files := max(binBytes, total/maxBins+1), max(binFiles, len(v.out.Reads)/maxBins+1)
	b := Bin{}
	for i, r := range v.out.Reads {
		if i > b.From && (b.Bytes+r.cost > bytes || i-b.From >= files) {
			b.To = i
			v.out.Bins = append(v.out.Bins, b)
			b = Bin{From: i}
		}
		b.Bytes += r.cost
	}
	if b.To = len(v.out.Reads); b.To > b.From {
		v.out.Bins = append(v.out.Bins, b)
	}
}

// baseline is what a change is taken from.
type baseline struct {
	how     string // median, mean, previous
	n       int
	weekday bool
}

func parseBaseline(s string) (baseline, error) {
	rest, weekday := strings.CutSuffix(s, " weekday")
	b := baseline{how: rest, n: 1, weekday: weekday}
	if how, n, ok := strings.Cut(rest, " "); ok {
		count, err := strconv.Atoi(n)
		if err != nil {
			return b, err
		}
		b.how, b.n = how, count
	}
	return b, nil
}
