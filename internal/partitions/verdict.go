package partitions

import (
	"slices"
	"strconv"

	"github.com/lakewarden/lakewarden/spec"
)

// Outcomes of a validation.
const (
	OutcomePassed      = "passed"
	OutcomeWarned      = "warned"
	OutcomeFailed      = "failed"
	OutcomeCouldNotRun = "could_not_run"
)

// States of a rule.
const (
	RulePassed      = "passed"
	RuleFailed      = "failed"
	RuleCouldNotRun = "could_not_run"
)

// Codes of findings, beside those that are a metric's name in capitals. They are
// stable: reports and alerts are built on them.
const (
	CodeMissing    = "MISSING_PARTITION"
	CodeInvalid    = "INVALID_PARTITION"
	CodeUnexpected = "UNEXPECTED_PARTITION"
	CodeLate       = "LATE_PARTITION"
	CodeThin       = "THIN_PARTITION"
	CodeEmpty      = "EMPTY_PARTITION"
	CodeSmallFile  = "SMALL_FILE"
	CodeSchema     = "SCHEMA_MISMATCH"
	CodeAmbiguous  = "AMBIGUOUS_ZONE"
	CodeNotRun     = "CHECK_NOT_RUN"
	// codeFile begins the code of a damaged file: FILE_TRUNCATED.
	codeFile = "FILE_"
)

// Finding is one thing that is wrong.
type Finding struct {
	Code      string        `json:"code"`
	Severity  spec.Severity `json:"severity"`
	Check     string        `json:"check"` // the rule in words; empty: nobody asked
	Rule      int           `json:"rule"`  // its index; -1: none
	Partition string        `json:"partition,omitempty"`
	File      string        `json:"file,omitempty"`
	Column    string        `json:"column,omitempty"`
	Value     string        `json:"value,omitempty"`
	Limit     string        `json:"limit,omitempty"`
	Message   string        `json:"message"`
}

// RuleResult is how one rule ended.
type RuleResult struct {
	Check     string        `json:"check"`
	Metric    spec.Metric   `json:"metric"`
	Severity  spec.Severity `json:"severity"`
	State     string        `json:"state"`
	Value     string        `json:"value,omitempty"` // of rules per table
	Judged    int           `json:"judged"`
	Unjudged  int           `json:"unjudged,omitempty"`
	Writing   int           `json:"writing,omitempty"` // partitions left out, as they are still written
	Findings  int           `json:"findings"`
	Message   string        `json:"message,omitempty"`
	firstLost string
}

// Verdict is the judgement over a survey and what was read.
type Verdict struct {
	Outcome  string         `json:"outcome"`
	Rules    []RuleResult   `json:"rules"`
	Findings []Finding      `json:"findings"`
	Counts   map[Status]int `json:"counts"`
	Missing  []string       `json:"missing,omitempty"`
	Files    int            `json:"files"` // checked
	Bytes    int64          `json:"bytes"`
	Notes    []string       `json:"notes,omitempty"`
}

// Judge judges. The survey's figures are completed from the bins on the way.
func Judge(c spec.PartitionCheck, s *Survey, bins []*BinResult, history []StatRow) *Verdict {
	j := &judge{c: c, s: s, out: &Verdict{Counts: map[Status]int{}, Notes: slices.Clone(s.Notes), Findings: []Finding{}}, history: map[string]map[string]StatRow{}, series: map[string][]neighbour{}}
	for _, h := range history {
		j.remember(h)
	}
	j.complete(bins)
	for i := range s.Parts {
		p := &s.Parts[i]
		j.out.Counts[p.Status]++
		if p.Status == Missing {
			j.out.Missing = append(j.out.Missing, string(p.Key))
		}
	}
	for i, r := range c.Checks {
		j.rule(i, r)
	}
	j.unasked()
	j.out.Outcome = j.outcome()
	return j.out
}

type judge struct {
	c       spec.PartitionCheck
	s       *Survey
	out     *Verdict
	files   []FileFinding
	history map[string]map[string]StatRow // by partition and column
	told    []bool                        // file findings that a rule has told
	series  map[string][]neighbour        // by metric and column
}

// complete adds what was read to the survey's figures.
func (j *judge) complete(bins []*BinResult) {
	rows := map[int]int64{}
	unread := []string{}
	for _, b := range bins {
		j.out.Files += b.Files
		j.out.Bytes += b.Bytes
		j.files = append(j.files, b.Findings...)
		for i, n := range b.Rows {
			rows[i] = n
		}
		for part, columns := range b.Columns {
			for name, c := range columns {
				if have := j.s.Parts[part].Columns[name]; have != nil {
					have.merge(nil, c)
				}
			}
		}
		for _, u := range b.Unread {
			if !slices.Contains(unread, u) {
				unread = append(unread, u)
			}
		}
	}
	for _, u := range unread {
		j.out.Notes = append(j.out.Notes, "pages of column "+u+" have no checksum and a type that is not decoded: they were not read")
	}
	j.files = append(j.files, j.oddShapes(bins)...)
	j.told = make([]bool, len(j.files))
	j.completeRows(rows)
}

// completeRows counts the rows of partitions whose files the log does not count.
func (j *judge) completeRows(rows map[int]int64) {
	if len(rows) == 0 {
		return
	}
	sums, seen, files := map[int]int64{}, map[int]int{}, map[string]int64{}
	for i, n := range rows {
		r := j.s.Reads[i]
		sums[r.Part] += n
		seen[r.Part]++
		files[r.Path] = n
	}
	for part, n := range sums {
		// Partly told by the log is not told at all here: such tables are read
		// whole or not.
		if p := &j.s.Parts[part]; p.Rows == nil && seen[part] == p.Files {
			p.Rows = &n
		}
	}
	for i := range j.s.Files {
		if n, ok := files[j.s.Files[i].Path]; ok && j.s.Files[i].Rows == nil {
			j.s.Files[i].Rows = &n
		}
	}
}

// oddShapes are files of a directory whose columns differ from those of most
// files.
func (j *judge) oddShapes(bins []*BinResult) []FileFinding {
	count, reads := map[string]int{}, map[string][]int{}
	for _, b := range bins {
		for _, s := range b.Shapes {
			count[s.Shape] += len(s.Reads)
			reads[s.Shape] = append(reads[s.Shape], s.Reads...)
		}
	}
	usual := ""
	for shape, n := range count {
		if n > count[usual] || n == count[usual] && (usual == "" || shape < usual) {
			usual = shape
		}
	}
	var out []FileFinding
	for shape, list := range reads {
		if shape == usual {
			continue
		}
		for _, i := range list {
			r := j.s.Reads[i]
			out = append(out, FileFinding{Part: r.Part, Path: r.Path, Kind: FileSchema, Detail: "it has " + shape + "; most files have " + usual})
		}
	}
	slices.SortFunc(out, func(a, b FileFinding) int { return compareText(a.Path, b.Path) })
	return out
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// unasked tells damage that no rule asked for as a warning.
func (j *judge) unasked() {
	for i, f := range j.files {
		if !j.told[i] {
			j.out.Findings = append(j.out.Findings, j.fileFinding(f, -1, "", spec.SeverityWarn))
		}
	}
}

func (j *judge) fileFinding(f FileFinding, rule int, title string, severity spec.Severity) Finding {
	code := codeFile + upper(f.Kind)
	if f.Kind == FileSchema {
		code = CodeSchema
	}
	p := &j.s.Parts[f.Part]
	return Finding{
		Code: code, Severity: severity, Check: title, Rule: rule, Partition: p.Label(), File: f.Path, Value: f.Kind,
		Message: "file " + f.Path + " of partition " + p.Label() + ": " + f.Detail,
	}
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 32
		}
	}
	return string(b)
}

func (j *judge) outcome() string {
	out := OutcomePassed
	rank := map[string]int{OutcomePassed: 0, OutcomeWarned: 1, OutcomeCouldNotRun: 2, OutcomeFailed: 3}
	worse := func(o string) {
		if rank[o] > rank[out] {
			out = o
		}
	}
	for _, r := range j.out.Rules {
		switch {
		case r.State == RuleFailed && r.Severity == spec.SeverityFail:
			worse(OutcomeFailed)
		case r.State == RuleFailed:
			worse(OutcomeWarned)
		case r.State == RuleCouldNotRun:
			worse(OutcomeCouldNotRun)
		}
	}
	if len(j.out.Findings) > 0 {
		worse(OutcomeWarned)
	}
	return out
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
