package partitions

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/lakewarden/lakewarden/spec"
)

// rule judges one rule.
func (j *judge) rule(i int, r spec.PartitionRule) {
	res := RuleResult{Check: Title(r), Metric: r.Metric, Severity: r.Severity, State: RulePassed}
	before := len(j.out.Findings)
	if why, impossible := j.s.Impossible[i]; impossible {
		res.State, res.Message = RuleCouldNotRun, why
		j.notRun(i, r, &res)
		j.out.Rules = append(j.out.Rules, res)
		return
	}
	switch {
	case counted[r.Metric] != nil:
		j.items(i, r, &res)
	case r.Per == spec.PerFile:
		j.perFile(i, r, &res)
	case r.Per == spec.PerTable:
		j.perTable(i, r, &res)
	default:
		j.perPartition(i, r, &res)
	}
	res.Findings = len(j.out.Findings) - before
	if res.State == RulePassed && (res.Unjudged > 0 || res.Judged == 0 && res.Writing == 0) {
		res.State = RuleCouldNotRun
		if res.Message = res.firstLost; res.Message == "" {
			res.Message = "there is no partition to judge"
		}
		j.notRun(i, r, &res)
	}
	j.out.Rules = append(j.out.Rules, res)
}

func (j *judge) notRun(i int, r spec.PartitionRule, res *RuleResult) {
	j.out.Findings = append(j.out.Findings, Finding{
		Code: CodeNotRun, Severity: r.Severity, Check: res.Check, Rule: i, Column: r.Column, Limit: Limit(r),
		Message: res.Check + " could not be judged: " + res.Message,
	})
	res.Findings++
}

// item is one of the things that a rule counts.
type item struct {
	code, partition, file, message, value string
}

// counted are the metrics that count things which are findings each.
var counted = map[spec.Metric]func(*judge) []item{
	spec.MissingPartitions: func(j *judge) []item {
		return j.withStatus(CodeMissing, Missing, "partition %s is missing")
	},
	spec.InvalidPartitions: func(j *judge) []item {
		return j.withStatus(CodeInvalid, Invalid, "partition %s is no period")
	},
	spec.UnexpectedPartitions: func(j *judge) []item {
		return j.withStatus(CodeUnexpected, Unexpected, "partition %s is not expected")
	},
	spec.LatePartitions: func(j *judge) []item {
		return j.withStatus(CodeLate, Late, "partition %s was late")
	},
	spec.UnreadableFiles: func(j *judge) []item {
		return j.damaged(func(kind string) bool { return kind != FileSchema && kind != FileEmpty })
	},
	spec.SchemaMismatches: func(j *judge) []item { return j.damaged(func(kind string) bool { return kind == FileSchema }) },
}

func (j *judge) withStatus(code string, s Status, words string) (out []item) {
	for i := range j.s.Parts {
		p := &j.s.Parts[i]
		if p.Status != s {
			continue
		}
		x := item{code: code, partition: p.Label(), message: fmt.Sprintf(words, p.Label())}
		if p.Reason != "" {
			x.message += ": " + p.Reason
		}
		if s == Invalid {
			x.value = "unknown rows"
			if p.Rows != nil {
				x.value = count(*p.Rows) + " rows"
			}
			x.message += fmt.Sprintf(" (%s in %d files)", x.value, p.Files)
		}
		out = append(out, x)
	}
	return out
}

func (j *judge) damaged(of func(kind string) bool) (out []item) {
	for i, f := range j.files {
		if of(f.Kind) {
			j.told[i] = true
			x := j.fileFinding(f, 0, "", "")
			out = append(out, item{code: x.Code, partition: x.Partition, file: x.File, message: x.Message, value: x.Value})
		}
	}
	return out
}

func (j *judge) items(i int, r spec.PartitionRule, res *RuleResult) {
	list := counted[r.Metric](j)
	res.Value, res.Judged = strconv.Itoa(len(list)), 1
	ok, err := numberHolds(r, big.NewRat(int64(len(list)), 1))
	if err != nil {
		res.lose(err.Error())
		return
	}
	if ok {
		return
	}
	res.State = RuleFailed
	for _, x := range list {
		j.out.Findings = append(j.out.Findings, Finding{
			Code: x.code, Severity: r.Severity, Check: res.Check, Rule: i, Partition: x.partition, File: x.file,
			Value: x.value, Limit: Limit(r), Message: x.message,
		})
	}
	if len(list) == 0 { // such as must_be_greater_than: 0
		j.found(i, r, res, "", "", "0", res.Check+": there are none")
	}
}

// lose notes that something was not judged.
func (r *RuleResult) lose(why string) {
	r.Unjudged++
	r.Judged = max(0, r.Judged)
	if r.firstLost == "" {
		r.firstLost = why
	}
}

// found adds a finding of a rule that does not hold.
func (j *judge) found(i int, r spec.PartitionRule, res *RuleResult, partition, file, value, message string) {
	res.State = RuleFailed
	j.out.Findings = append(j.out.Findings, Finding{
		Code: codeOf(r, value), Severity: r.Severity, Check: res.Check, Rule: i, Partition: partition, File: file,
		Column: r.Column, Value: value, Limit: Limit(r), Message: message,
	})
}

// codeOf names what is wrong, where people have a word for it.
func codeOf(r spec.PartitionRule, value string) string {
	switch {
	case r.Metric == spec.RowCount && r.Per == spec.PerPartition && value == "0":
		return CodeEmpty
	case r.Metric == spec.RowCount && r.Per == spec.PerFile && value == "0":
		return codeFile + "ZERO_ROWS"
	case r.Metric == spec.RowCountChange && len(value) > 0 && value[0] == '-':
		return CodeThin
	case r.Metric == spec.FileBytes && (r.GreaterThan != nil || r.AtLeast != nil):
		return CodeSmallFile
	}
	return upper(string(r.Metric))
}

func (j *judge) perFile(i int, r spec.PartitionRule, res *RuleResult) {
	for _, f := range j.s.Files {
		p := &j.s.Parts[f.Part]
		n := &f.Size
		if r.Metric == spec.RowCount {
			n = f.Rows
		}
		if n == nil {
			res.lose("the rows of " + f.Path + " are not known")
			continue
		}
		res.Judged++
		ok, err := numberHolds(r, big.NewRat(*n, 1))
		if err != nil {
			res.lose(err.Error())
		} else if !ok {
			if *n == 0 && r.Metric == spec.RowCount {
				j.silence(f.Path, FileEmpty)
			}
			j.found(i, r, res, p.Label(), f.Path, count(*n), fmt.Sprintf("file %s of partition %s: %s is %d, it %s", f.Path, p.Label(), r.Metric, *n, Limit(r)))
		}
	}
}

// silence marks a file finding as told.
func (j *judge) silence(path, kind string) {
	for i, f := range j.files {
		if f.Path == path && f.Kind == kind {
			j.told[i] = true
		}
	}
}

// writing says that a partition may still grow.
func (j *judge) writing(p *Part) bool {
	return p.Status == InProgress || p.Due != nil && j.s.Now.Before(*p.Due)
}

func (j *judge) perPartition(i int, r spec.PartitionRule, res *RuleResult) {
	for at := range j.s.Parts {
		p := &j.s.Parts[at]
		if !p.There() {
			continue
		}
		if r.Metric.Volume() && j.writing(p) {
			res.Writing++
			continue
		}
		m := j.measure(at, r)
		if m.why != "" {
			res.lose("partition " + p.Label() + ": " + m.why)
			continue
		}
		res.Judged++
		j.ambiguous(i, r, res, p)
		ok, err := m.holds(r)
		if err != nil {
			res.lose("partition " + p.Label() + ": " + err.Error())
			res.Judged--
		} else if !ok {
			j.found(i, r, res, p.Label(), "", m.text, fmt.Sprintf("partition %s: %s is %s%s, it %s", p.Label(), words(r), m.text, m.basis, Limit(r)))
		}
	}
}

func words(r spec.PartitionRule) string {
	if r.Column != "" {
		return string(r.Metric) + " of " + r.Column
	}
	return string(r.Metric)
}

// ambiguous tells values that lie outside only if the writer's zone is the one
// that was assumed.
func (j *judge) ambiguous(i int, r spec.PartitionRule, res *RuleResult, p *Part) {
	c := p.Columns[j.columnName(r, p)]
	if r.Metric != spec.ValuesOutside || c == nil || c.Ambiguous == 0 {
		return
	}
	j.out.Findings = append(j.out.Findings, Finding{
		Code: CodeAmbiguous, Severity: spec.SeverityWarn, Check: res.Check, Rule: i, Partition: p.Label(), Column: r.Column, Value: count(c.Ambiguous),
		Message: fmt.Sprintf("partition %s: %d values of %s lie within 14 hours of its boundaries, inside or outside by the writer's time zone; name it with partition.timezone", p.Label(), c.Ambiguous, r.Column),
	})
}

func (j *judge) perTable(i int, r spec.PartitionRule, res *RuleResult) {
	sum := &Part{Rows: new(int64), Columns: map[string]*Column{}}
	for at := range j.s.Parts {
		p := &j.s.Parts[at]
		if !p.There() {
			continue
		}
		sum.Files += p.Files
		sum.Bytes += p.Bytes
		if p.Rows == nil {
			sum.Rows = nil
		} else if sum.Rows != nil {
			*sum.Rows += *p.Rows
		}
		for name, c := range p.Columns {
			if sum.Columns[name] == nil {
				sum.Columns[name] = &Column{}
			}
			sum.Columns[name].merge(nil, c)
		}
	}
	m := j.direct(sum, r)
	if m.why != "" {
		res.lose(m.why)
		return
	}
	res.Judged, res.Value = 1, m.text
	ok, err := m.holds(r)
	if err != nil {
		res.Judged = 0
		res.lose(err.Error())
	} else if !ok {
		j.found(i, r, res, "", "", m.text, fmt.Sprintf("%s of the partitions that were checked is %s, it %s", words(r), m.text, Limit(r)))
	}
}
