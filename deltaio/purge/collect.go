package purge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// leaving is the set of rows that would leave the table at one version: flagged
// (in mode none: in the planned files), due by the frozen criteria, not held.
// Archiving and deleting both ask here, so that they mean the same rows.
type leaving struct {
	snap    *deltaio.Snapshot
	judge   *judge
	content *content
	files   []*leavingFile // by path; only those with something to do

	rows     int64 // that leave
	held     int64 // flagged and due, but held
	released int64 // flagged, but to stay (held ones among them)
}

// leavingFile is one live file with rows that leave, or with flags to clear, or
// with due rows behind its deletion vector.
type leavingFile struct {
	add      *log.Add
	mask     *pq.Bitmap // rows that leave; nil: every live row
	flagged  *pq.Bitmap // nil: exactly those of mask
	rows     int64      // that leave
	live     int64
	flags    int64 // flagged rows; in mode none those of rows
	held     int64
	hidden   int64
	empty    bool
	plain    int64        // rows whose marker is FALSE
	expected *rowhash.Sum // of the marked rows, when the file is one of ours as it was written
}

// all says whether every live row leaves.
func (f *leavingFile) all() bool { return f.rows == f.live }

// maskDigest tells which rows of the file leave.
func (f *leavingFile) maskDigest() string {
	if f.all() {
		return "all"
	}
	return maskDigest(f.mask)
}

// source is where a run's rows may lie: the marked files, or in mode none the
// planned ones.
type source struct {
	run         Run
	plan        *planRecord // mode none
	mark        *markRecord
	markVersion int64
}

// loadSource reads what the run did so far. fenced: its mark was undone.
func loadSource(ctx context.Context, t *deltaio.Table, r Run, plan string) (s *source, fenced bool, err error) {
	s = &source{run: r}
	if r.Column == "" {
		s.plan, err = loadPlan(ctx, r, plan)
		return s, false, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, false, err
	}
	step := stepOf(r.ID, StepMark, 1)
	switch v, _ := snap.Txn(step.AppID); {
	case v > step.Version:
		return nil, true, nil
	case v < step.Version:
		return nil, false, fmt.Errorf("%s: run %s has not marked any rows: mark first", t.URL(), r.ID)
	}
	s.mark = &markRecord{}
	res, _, _, err := done(ctx, t, r, step, s.mark)
	if err != nil {
		return nil, false, err
	}
	if s.mark.Criteria != r.digest() {
		return nil, false, fmt.Errorf("run %s: criteria, clock, keys or marker column differ from those it marked with", r.ID)
	}
	s.markVersion = res.Version
	return s, false, nil
}

// candidates are the live files that may hold rows of the run. ours are those
// marked files that nobody touched.
func (s *source) candidates(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot) (files []*log.Add, ours map[deltaio.FileKey]*markedFile, err error) {
	if s.plan != nil {
		touched, kept := fileSet{}, fileSet{}
		for _, f := range s.plan.Files {
			if f.Verdict == keepFile {
				kept.add(f.key())
			} else {
				touched.add(f.key())
			}
		}
		files, _, err = inScope(ctx, t, snap, touched, kept, s.plan.Result.Version)
		return files, nil, err
	}
	added, whole, err := addedSince(ctx, t, s.markVersion, snap.Version())
	if err != nil {
		return nil, nil, err
	}
	ours = map[deltaio.FileKey]*markedFile{}
	for i := range s.mark.Files {
		if m := s.mark.Files[i].Marked; m != nil {
			ours[m.Key()] = &s.mark.Files[i]
		}
	}
	for _, add := range snap.Files() {
		k := add.Key()
		if _, ok := ours[k]; ok || added.has(k) || !whole {
			files = append(files, add)
		}
	}
	return files, ours, nil
}

// collect finds the rows that would leave at the snapshot.
func (s *source) collect(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, phase string) (*leaving, error) {
	if s.plan != nil {
		if err := sameTable(snap, s.plan.Result.TableID); err != nil {
			return nil, err
		}
	}
	j, err := newJudge(snap, s.run, true)
	if err != nil {
		return nil, err
	}
	if s.run.Column != "" && j.marker == "" {
		return nil, &CriteriaError{Table: t.URL(), Part: "marker column", Err: fmt.Errorf("column %s was dropped by another writer", s.run.Column)}
	}
	files, ours, err := s.candidates(ctx, t, snap)
	if err != nil {
		return nil, err
	}
	l := &leaving{snap: snap, judge: j, content: newContent(snap.Schema(), j.marker)}
	sameSchema := s.mark == nil || l.content.covers(s.mark.Schema)
	found := make([]*leavingFile, len(files))
	m := newMeter(t, phase, len(files), 0)
	err = forEach(ctx, t, len(files), func(ctx context.Context, i int) error {
		var err error
		if found[i], err = s.file(ctx, j, files[i], ours[files[i].Key()]); err != nil {
			return fmt.Errorf("%s: %s of version %d: %w", t.URL(), files[i].Path, snap.Version(), err)
		}
		if !sameSchema { // the sums of marking cover other columns
			found[i].expected = nil
		}
		m.file(0, 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		l.rows += f.rows
		l.released += f.flags - f.rows
		l.held += f.held
		if f.flags > 0 || f.hidden > 0 || f.empty {
			l.files = append(l.files, f)
		}
	}
	slices.SortFunc(l.files, func(a, b *leavingFile) int { return strings.Compare(a.add.Path, b.add.Path) })
	return l, nil
}

// file judges one candidate.
func (s *source) file(ctx context.Context, j *judge, add *log.Add, ours *markedFile) (*leavingFile, error) {
	if ours != nil && j.hold == nil && j.holdKeys == nil {
		// Written by our own mark and untouched: all of it is flagged and due, and
		// nothing can have changed that.
		return &leavingFile{add: add, rows: ours.Rows, live: ours.Rows, flags: ours.Rows, expected: &ours.Sum}, nil
	}
	v, err := j.classify(ctx, add)
	if err != nil {
		return nil, err
	}
	f := &leavingFile{add: add, live: v.live, hidden: v.nHidden, plain: v.nPlain}
	if ours != nil {
		f.expected = &ours.Sum
	}
	switch {
	case s.run.Column == "":
		f.mask, f.rows, f.flags, f.held, f.empty = v.due, v.nDue, v.nDue, v.nHeld, v.empty
	case v.nFlagged > 0: // then the rows were read, and the masks are there
		f.flagged, f.flags = v.flagged, v.nFlagged
		f.mask = both(v.due, v.flagged)
		f.rows = int64(f.mask.Count())
		f.held = int64(both(v.held, v.flagged).Count())
	}
	return f, nil
}

func both(a, b *pq.Bitmap) *pq.Bitmap {
	out := a.Clone()
	out.And(b)
	return out
}
