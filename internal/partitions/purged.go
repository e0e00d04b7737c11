package partitions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// purged finds out which missing partitions a recorded purge removed: they were
// there in the version before it, and not in the one after.
func (v *surveyor) purged(ctx context.Context) error {
	open := map[calendar.Key]*Part{}
	for i := range v.out.Parts {
		if p := &v.out.Parts[i]; p.Status == Missing {
			open[p.Key] = p
		}
	}
	if len(open) == 0 || v.src.snap == nil {
		return nil
	}
	for i := len(v.ask.Audit) - 1; i >= 0 && len(open) > 0; i-- {
		r := v.ask.Audit[i]
		if r.Status != evidence.StatusCompleted || r.VersionBefore == nil || r.VersionAfter == nil || r.RowsDeleted == nil || *r.RowsDeleted == 0 {
			continue
		}
		gone, err := v.removedBy(ctx, r)
		if err != nil {
			return err
		}
		if gone == nil {
			v.out.Notes = append(v.out.Notes, fmt.Sprintf("purge run %s of %s cannot be compared any more: version %d or %d of the table is no longer readable", r.RunID, r.ExecTime.UTC().Format(time.DateOnly), *r.VersionBefore, *r.VersionAfter))
			continue
		}
		found := false
		for key := range gone {
			if p := open[key]; p != nil {
				p.Status, p.Reason = Purged, "removed by purge run "+r.RunID
				delete(open, key)
				found = true
			}
		}
		if found {
			v.out.Purges = append(v.out.Purges, r.RunID)
		}
	}
	return nil
}

// removedBy gives the partitions that a purge emptied; nil where the log does not
// tell any more.
func (v *surveyor) removedBy(ctx context.Context, r evidence.AuditRow) (map[calendar.Key]bool, error) {
	before, err := v.keysAt(ctx, *r.VersionBefore)
	if err != nil || before == nil {
		return nil, err
	}
	after, err := v.keysAt(ctx, *r.VersionAfter)
	if err != nil || after == nil {
		return nil, err
	}
	for key := range after {
		delete(before, key)
	}
	return before, nil
}

// keysAt lists the partitions of a version; nil where it is not readable.
func (v *surveyor) keysAt(ctx context.Context, version int64) (map[calendar.Key]bool, error) {
	snap, err := v.src.snap.Table().SnapshotAt(ctx, version)
	if errors.Is(err, deltaio.ErrNoVersion) || deltaio.IsUnsupported(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[calendar.Key]bool{}
	for _, f := range fromLog(v.src.store, snap).files {
		values := make([]*string, len(v.out.Scheme.Columns))
		for i, c := range v.out.Scheme.Columns {
			values[i] = f.values[c]
		}
		if key, err := v.out.Scheme.Name(values); err == nil {
			out[key] = true
		}
	}
	return out, nil
}

// late finds out when partitions came, where there is a deadline.
func (v *surveyor) late(ctx context.Context) error {
	if v.ask.Check.Expected == nil || v.ask.Check.Expected.Deadline == "" {
		return nil
	}
	arrived, err := v.arrivals(ctx)
	if err != nil {
		return err
	}
	for i := range v.out.Parts {
		p := &v.out.Parts[i]
		at, known := arrived[i]
		if p.Status != Present || !known {
			continue
		}
		p.Arrived = &at
		if p.Due != nil && at.After(*p.Due) {
			p.Status, p.Reason = Late, "came at "+at.UTC().Format(time.RFC3339)+", due at "+p.Due.UTC().Format(time.RFC3339)
		}
	}
	return nil
}

// arrivals are the times of the first data of each partition. Of a Delta table
// they come from the commits since the first period began; a partition that had
// files before those has come earlier than the log tells, and is left out.
func (v *surveyor) arrivals(ctx context.Context) (map[int]time.Time, error) {
	out := map[int]time.Time{}
	if v.src.snap == nil {
		for i, files := range v.byPart {
			for _, f := range files {
				if at, ok := out[i]; !ok || v.src.files[f].modified.Before(at) {
					out[i] = v.src.files[f].modified
				}
			}
		}
		return out, nil
	}
	index, since := map[calendar.Key]int{}, time.Time{}
	for i := range v.out.Parts {
		if p := &v.out.Parts[i]; p.Status == Present && p.Start != nil {
			index[p.Key] = i
			if since.IsZero() || p.Start.Before(since) {
				since = *p.Start
			}
		}
	}
	if len(index) == 0 {
		return out, nil
	}
	return out, v.fromCommits(ctx, since, index, out)
}

func (v *surveyor) fromCommits(ctx context.Context, since time.Time, index map[calendar.Key]int, out map[int]time.Time) error {
	t := v.src.snap.Table()
	first, err := t.VersionSince(ctx, since)
	if err != nil {
		return err
	}
	early := map[calendar.Key]bool{}
	if first > 0 {
		if early, err = v.keysAt(ctx, first-1); err != nil {
			return err
		}
		if early == nil { // the log begins later: nothing is known of what came before
			v.out.Notes = append(v.out.Notes, "the log does not reach back to the first period: arrivals are not known")
			return nil
		}
	}
	for c, err := range t.Commits(ctx, first-1, v.src.snap.Version()) {
		if err != nil {
			return err
		}
		for _, a := range c.Actions {
			if a.Add == nil || !a.Add.DataChange {
				continue
			}
			if key, ok := v.keyOf(a.Add.PartitionValues); ok && !early[key] {
				if i, wanted := index[key]; wanted {
					early[key], out[i] = true, c.Time
				}
			}
		}
	}
	return nil
}

// keyOf reads the partition values of an action, which have physical names.
func (v *surveyor) keyOf(physical map[string]*string) (calendar.Key, bool) {
	values := make([]*string, len(v.out.Scheme.Columns))
	for i, name := range v.out.Scheme.Columns {
		if f, ok := v.src.snap.Schema().Field(name); ok {
			values[i] = physical[v.src.snap.PhysicalName(f)]
		}
	}
	key, err := v.out.Scheme.Name(values)
	return key, err == nil
}
