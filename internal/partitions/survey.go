package partitions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// Status is what is known of a partition's being there.
type Status string

// Values of Status.
const (
	Present    Status = "present"
	Missing    Status = "missing"
	Accepted   Status = "accepted"    // missing, as the calendar lets it
	Purged     Status = "purged"      // missing, since a recorded purge removed it
	InProgress Status = "in_progress" // its period has not ended
	Pending    Status = "pending"     // missing, and not yet due
	Late       Status = "late"        // there, and came after its deadline
	Invalid    Status = "invalid"     // its name is no period
	Unexpected Status = "unexpected"  // there, off the cadence or in the future
	Outside    Status = "outside"     // there, out of the range that is checked
)

// Part is a partition: all files whose date columns have the same values.
type Part struct {
	Key    calendar.Key `json:"key,omitempty"`
	Name   string       `json:"name,omitempty"` // as directories have it; empty where it is missing
	Status Status       `json:"status"`
	Reason string       `json:"reason,omitempty"`
	Start  *time.Time   `json:"start,omitempty"`
	End    *time.Time   `json:"end,omitempty"`
	Due    *time.Time   `json:"due,omitempty"`
	// Arrived is when its first data was committed, where the log still tells.
	Arrived *time.Time `json:"arrived,omitempty"`
	Files   int        `json:"files"`
	Bytes   int64      `json:"bytes"`
	Rows    *int64     `json:"rows"` // nil: not known
	// Columns are statistics of the columns that rules measure.
	Columns map[string]*Column `json:"columns,omitempty"`
}

// There says whether the partition has files and counts for the rules.
func (p *Part) There() bool {
	switch p.Status {
	case Present, Late, InProgress, Unexpected:
		return p.Files > 0
	}
	return false
}

// Label is how people call the partition.
func (p *Part) Label() string { return cmp.Or(string(p.Key), p.Name) }

// FileStat is a file's figures, kept where a rule is per file.
type FileStat struct {
	Part int    `json:"part"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	Rows *int64 `json:"rows"`
}

// Survey is what a table has and should have, by its log or listing alone.
type Survey struct {
	Source  string     `json:"source"`
	URL     string     `json:"url"`
	TableID string     `json:"table_id,omitempty"`
	Version *int64     `json:"version"`
	Now     time.Time  `json:"now"`
	Scheme  Scheme     `json:"scheme"`
	Parts   []Part     `json:"parts"`
	Files   []FileStat `json:"files,omitempty"`
	// Reads are the files to open, in bins.
	Reads []Read `json:"reads,omitempty"`
	Bins  []Bin  `json:"bins,omitempty"`
	// Impossible are rules that cannot be judged, by index, with the reason.
	Impossible map[int]string `json:"impossible,omitempty"`
	Purges     []string       `json:"purges,omitempty"` // runs whose removals are no gaps
	Notes      []string       `json:"notes,omitempty"`
}

// Ask is what a survey needs to know.
type Ask struct {
	Check spec.PartitionCheck // with its defaults
	Now   time.Time
	// Zones loads a time zone.
	Zones func(string) (*time.Location, error)
	// Except are the entries of the calendar's file.
	Except []string
	// Audit are the rows of the audit table, for purges of this table.
	Audit []evidence.AuditRow
}

// Look surveys the table under a store.
func Look(ctx context.Context, s storage.Store, env deltaio.Env, ask Ask) (*Survey, error) {
	src, err := openSource(ctx, s, env, nil)
	if err != nil {
		return nil, err
	}
	v := &surveyor{ask: ask, src: src, out: &Survey{Source: src.kind, URL: src.url, Now: ask.Now, Impossible: map[int]string{}}}
	if src.snap != nil {
		n := src.snap.Version()
		v.out.Version, v.out.TableID = &n, src.snap.TableID()
	}
	return v.out, v.do(ctx)
}

type surveyor struct {
	ask    Ask
	src    *source
	out    *Survey
	zone   *time.Location // of partitions; UTC where nobody said
	byPart [][]int        // files of each part
}

func (v *surveyor) do(ctx context.Context) error {
	name := v.ask.Check.PartitionZone()
	zone, err := v.ask.Zones(cmp.Or(name, spec.DefaultTimezone))
	if err != nil {
		return fmt.Errorf("time zone %s: %w", name, err)
	}
	v.zone = zone
	scheme, err := DetectScheme(v.ask.Check.Partition, name, zone, v.src.columns)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", v.src.url, ErrScheme, err)
	}
	v.out.Scheme = *scheme
	v.group()
	if err := v.compare(ctx); err != nil {
		return err
	}
	v.span()
	if err := v.purged(ctx); err != nil {
		return err
	}
	if err := v.late(ctx); err != nil {
		return err
	}
	v.measure()
	return nil
}

// ErrScheme: the partitions are not named as the check has it.
var ErrScheme = fmt.Errorf("the partition scheme does not fit")

// group puts the files into partitions.
func (v *surveyor) group() {
	index := map[string]int{}
	s := &v.out.Scheme
	for i, f := range v.src.files {
		values := make([]*string, len(s.Columns))
		for j, c := range s.Columns {
			values[j] = f.values[c]
		}
		raw := rawName(s.Columns, values)
		at, known := index[raw]
		if !known {
			at = len(v.out.Parts)
			index[raw] = at
			p := Part{Name: raw, Status: Outside, Rows: new(int64)}
			var err error
			if p.Key, err = s.Name(values); err != nil {
				p.Status, p.Reason = Invalid, err.Error()
			}
			v.out.Parts = append(v.out.Parts, p)
			v.byPart = append(v.byPart, nil)
		}
		v.byPart[at] = append(v.byPart[at], i)
		v.out.Parts[at].add(f)
	}
	v.spellings()
}

func (p *Part) add(f file) {
	p.Files++
	p.Bytes += f.size
	if f.rows == nil || p.Rows == nil {
		p.Rows = nil
		return
	}
	*p.Rows += *f.rows
}

// spellings marks partitions whose name is a second spelling of another's period,
// such as month=9 beside month=09: the one with fewer bytes is invalid.
func (v *surveyor) spellings() {
	first := map[calendar.Key]int{}
	for i := range v.out.Parts {
		p := &v.out.Parts[i]
		if p.Status == Invalid {
			continue
		}
		j, twice := first[p.Key]
		if !twice {
			first[p.Key] = i
			continue
		}
		keep, drop := &v.out.Parts[j], p
		if drop.Bytes > keep.Bytes {
			keep, drop = drop, keep
			first[p.Key] = i
		}
		drop.Status, drop.Key = Invalid, ""
		drop.Reason = "the same period is also written as " + keep.Name
	}
}

// compare tells what is there from what should be.
func (v *surveyor) compare(context.Context) error {
	if v.ask.Check.Expected == nil {
		for i := range v.out.Parts {
			if p := &v.out.Parts[i]; p.Status != Invalid {
				p.Status = Present
			}
		}
		return nil
	}
	slots, err := v.slots()
	if err != nil {
		return err
	}
	at := make(map[calendar.Key]int, len(v.out.Parts))
	for i := range v.out.Parts {
		if v.out.Parts[i].Status != Invalid {
			at[v.out.Parts[i].Key] = i
		}
	}
	for _, s := range slots {
		i, there := at[s.Key]
		if !there {
			i = len(v.out.Parts)
			v.out.Parts = append(v.out.Parts, Part{Key: s.Key})
			v.byPart = append(v.byPart, nil)
		}
		p := &v.out.Parts[i]
		p.Status = statusOf(s, there, v.ask.Now)
		p.Due = &s.Due
	}
	v.unexpected(slots)
	v.sort()
	return nil
}

func (v *surveyor) slots() ([]calendar.Slot, error) {
	e := *v.ask.Check.Expected
	zone, err := v.ask.Zones(e.Zone())
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", e.Zone(), err)
	}
	c, err := calendar.NewExpected(e, v.ask.Except, zone)
	if err != nil {
		return nil, err
	}
	slots, err := c.Slots(v.ask.Now, v.out.Scheme.Unit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScheme, err)
	}
	return slots, nil
}

func statusOf(s calendar.Slot, there bool, now time.Time) Status {
	switch {
	case !s.Ended(now):
		return InProgress
	case there:
		return Present
	case s.Accepted:
		return Accepted
	case !s.Overdue(now):
		return Pending
	}
	return Missing
}

// unexpected are partitions inside the range that the cadence does not have, and
// those of periods that have not begun.
func (v *surveyor) unexpected(slots []calendar.Slot) {
	for i := range v.out.Parts {
		p := &v.out.Parts[i]
		if p.Status != Outside {
			continue
		}
		start, _, err := p.Key.Span(v.out.Scheme.Unit, v.zone)
		switch {
		case err != nil:
			p.Status, p.Reason = Invalid, err.Error()
		case start.After(v.ask.Now):
			p.Status, p.Reason = Unexpected, "its period has not begun"
		case len(slots) > 0 && p.Key > slots[0].Key && p.Key < slots[len(slots)-1].Key:
			p.Status, p.Reason = Unexpected, "the cadence has no such period"
		}
	}
}

// sort puts partitions in the order of time, invalid ones last.
func (v *surveyor) sort() {
	order := make([]int, len(v.out.Parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &v.out.Parts[i], &v.out.Parts[j]
		if (a.Status == Invalid) != (b.Status == Invalid) {
			return map[bool]int{true: 1, false: -1}[a.Status == Invalid]
		}
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Name, b.Name))
	})
	parts, files := make([]Part, len(order)), make([][]int, len(order))
	for to, from := range order {
		parts[to], files[to] = v.out.Parts[from], v.byPart[from]
	}
	v.out.Parts, v.byPart = parts, files
}

// span gives partitions their instants.
func (v *surveyor) span() {
	for i := range v.out.Parts {
		p := &v.out.Parts[i]
		if p.Key == "" || p.Status == Outside {
			continue
		}
		if start, end, err := p.Key.Span(v.out.Scheme.Unit, v.zone); err == nil {
			p.Start, p.End = &start, &end
		}
	}
}
