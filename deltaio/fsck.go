package deltaio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// FindingKind is what is wrong with an object of a table.
type FindingKind string

// Kinds of findings. All but FindingUnreferenced are damage.
const (
	FindingLog          FindingKind = "log"             // a commit or checkpoint does not read, or they disagree
	FindingHint         FindingKind = "hint"            // _last_checkpoint names what is not there
	FindingMissing      FindingKind = "missing"         // a live file is not in storage
	FindingTruncated    FindingKind = "truncated"       // an object is shorter than the log says
	FindingSize         FindingKind = "wrong-size"      // an object is longer than the log says
	FindingUnreadable   FindingKind = "unreadable"      // a data file's footer does not read
	FindingRows         FindingKind = "wrong-rows"      // the log's numRecords is not the file's
	FindingVector       FindingKind = "deletion-vector" // missing, damaged, or not of this file
	FindingPage         FindingKind = "damaged-page"    // a page fails its CRC or does not decode (deep)
	FindingOutside      FindingKind = "outside"         // a path leads out of the table
	FindingChange       FindingKind = "missing-change"  // a young commit's change file is gone
	FindingChecksum     FindingKind = "checksum"        // a .crc file disagrees with the log
	FindingUnreferenced FindingKind = "unreferenced"    // nothing in the log names the object
)

// Finding is one thing that log and storage disagree on.
type Finding struct {
	Kind   FindingKind `json:"kind"`
	Path   string      `json:"path"`
	Detail string      `json:"detail"`
	// Of unreferenced objects: their age, and whether it exceeds the retention, so
	// that a vacuum takes them. A young one may belong to a writer at work.
	Age     string `json:"age,omitempty"`
	Expired *bool  `json:"expired,omitempty"`
}

// FsckOptions say how closely to look.
type FsckOptions struct {
	// Deep reads every page of every live file, checking CRCs, replays the log
	// between checkpoints, and compares every .crc file with its version.
	Deep bool
	// Limit bounds the findings listed per kind; all are counted. 0: 1,000.
	Limit int
}

// FsckReport is what a check found. What it could not look at is an error of
// Fsck instead.
type FsckReport struct {
	URL       string        `json:"url"`
	Version   int64         `json:"version"`
	Deep      bool          `json:"deep"`
	Retention time.Duration `json:"-"`
	RetainFor string        `json:"retention"`
	// What was looked at.
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	Objects     int   `json:"objects"`
	Commits     int   `json:"commits"`
	Checkpoints int   `json:"checkpoints"`
	Checksums   int   `json:"checksums"`
	// ChecksumsSkipped were not compared: only Deep looks at all of them.
	ChecksumsSkipped int `json:"checksums_skipped"`
	// Removed counts objects of removed files that are kept for time travel, Due
	// those of them that the next vacuum takes.
	Removed  int                 `json:"removed"`
	Due      int                 `json:"due"`
	Counts   map[FindingKind]int `json:"counts"`
	Findings []Finding           `json:"findings"`
}

// Clean: nothing was found.
func (r *FsckReport) Clean() bool { return len(r.Findings) == 0 }

// Fsck compares a version's log with storage. Damage of the table is a finding;
// an error means that it could not look.
func Fsck(ctx context.Context, s *Snapshot, opt FsckOptions) (*FsckReport, error) {
	retention, err := s.FileRetention()
	if err != nil {
		return nil, err
	}
	f := &fsck{s: s, opt: opt, now: s.table.env.Now(), report: newFsckReport(s.table, opt)}
	f.report.Version, f.report.Retention, f.report.RetainFor = s.Version(), retention, retention.String()
	for _, step := range []func(context.Context) error{f.log, f.objects, f.files} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("%s: fsck: %w", s.table.URL(), err)
		}
	}
	return f.done(), nil
}

// FsckDamaged is the report on a table that does not load because its log is
// damaged; nil when err tells of something else.
func FsckDamaged(t *Table, opt FsckOptions, err error) *FsckReport {
	if !IsDamaged(err) {
		return nil
	}
	f := &fsck{opt: opt, report: newFsckReport(t, opt)}
	f.report.Version = -1
	key := "_delta_log"
	var damage *log.CorruptError
	if errors.As(err, &damage) && damage.Key != "" {
		key = damage.Key
	}
	kind := FindingLog
	if wrong := (*log.ChecksumError)(nil); errors.As(err, &wrong) {
		kind = FindingChecksum
	}
	f.found(kind, key, "the table cannot be loaded, and nothing else was compared: %v", err)
	return f.done()
}

func newFsckReport(t *Table, opt FsckOptions) *FsckReport {
	return &FsckReport{URL: t.URL(), Deep: opt.Deep, Counts: map[FindingKind]int{}, Findings: []Finding{}}
}

// fsck is a check under way.
type fsck struct {
	s      *Snapshot
	opt    FsckOptions
	now    time.Time
	report *FsckReport
}

func (f *fsck) found(kind FindingKind, path, format string, args ...any) {
	f.record(Finding{Kind: kind, Path: path, Detail: fmt.Sprintf(format, args...)})
}

func (f *fsck) record(x Finding) {
	if f.report.Counts[x.Kind]++; f.report.Counts[x.Kind] <= cmp.Or(f.opt.Limit, 1000) {
		f.report.Findings = append(f.report.Findings, x)
	}
}

func (f *fsck) done() *FsckReport {
	slices.SortStableFunc(f.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path))
	})
	return f.report
}

// log looks at what Load gets around.
func (f *fsck) log(ctx context.Context) error {
	in, err := log.Inspect(ctx, f.s.table.store, f.opt.Deep)
	if err != nil {
		return err
	}
	f.report.Commits, f.report.Checkpoints = in.Commits, in.Checkpoints
	for _, d := range in.Damage {
		kind := FindingLog
		if d.Key == logDir+"/_last_checkpoint" {
			kind = FindingHint
		}
		f.found(kind, d.Key, "%v", d.Err)
	}
	return f.compareChecksums(ctx, in)
}

// compareChecksums compares the .crc of the snapshot's version, or, where it
// looks deep, of every version that can still be loaded.
func (f *fsck) compareChecksums(ctx context.Context, in *log.Inspection) error {
	st := f.s.state
	var at *log.State
	for _, v := range in.Checksums {
		switch {
		case v == st.Version:
			at = st
		case !f.opt.Deep || v < in.First || v > in.Latest:
			f.report.ChecksumsSkipped++
			continue
		default:
			next, err := f.version(ctx, at, v)
			if wrong := (*log.ChecksumError)(nil); errors.As(err, &wrong) {
				f.report.Checksums++
				f.found(FindingChecksum, log.ChecksumKey(v), "%v", wrong)
				continue
			}
			if err != nil && IsDamaged(err) {
				f.found(FindingLog, log.CommitKey(v), "the version does not load: %v", err)
				continue
			}
			if err != nil {
				return fmt.Errorf("version %d: %w", v, err)
			}
			at = next
		}
		if err := f.compareChecksum(ctx, v, at); err != nil {
			return err
		}
	}
	return nil
}

// version goes on from an older state where there is one.
func (f *fsck) version(ctx context.Context, from *log.State, v int64) (*log.State, error) {
	if from == nil || from.Version > v {
		return log.Load(ctx, f.s.table.store, v)
	}
	return from.Advance(ctx, f.s.table.store, v)
}

func (f *fsck) compareChecksum(ctx context.Context, v int64, at *log.State) error {
	key := log.ChecksumKey(v)
	sum, err := log.ReadChecksum(ctx, f.s.table.store, v)
	switch {
	case isNotExist(err): // a cleaner was here
		return nil
	case err != nil && IsDamaged(err):
		f.found(FindingChecksum, key, "it does not parse: %v", err)
		return nil
	case err != nil:
		return err
	}
	f.report.Checksums++
	for _, d := range sum.Differs(at) {
		f.found(FindingChecksum, key, "%s", d)
	}
	return nil
}
