package purge

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

type fileSet map[deltaio.FileKey]struct{}

func (s fileSet) has(k deltaio.FileKey) bool { _, ok := s[k]; return ok }

func (s fileSet) add(k deltaio.FileKey) { s[k] = struct{}{} }

// follow finds where the rows of files may lie after the commits from+1 to to:
// each commit that removes one of them may have put its rows into any file that
// it adds. Pure appends are no part of it. whole is false when the log no longer
// holds all of these commits: then the answer may miss files.
func follow(ctx context.Context, t *deltaio.Table, files fileSet, from, to int64) (line fileSet, whole bool, err error) {
	line = fileSet{}
	for k := range files {
		line.add(k)
	}
	next := from + 1
	if next > to {
		return line, true, nil
	}
	for c, err := range log.Commits(ctx, t.Store(), next, to) {
		if err != nil {
			return nil, false, err
		}
		if c.Version != next {
			return line, false, nil
		}
		next++
		if !removesAny(c.Actions, line) {
			continue
		}
		for _, a := range c.Actions {
			if a.Add != nil {
				line.add(a.Add.Key())
			}
		}
	}
	return line, next == to+1, nil
}

func removesAny(actions []log.Action, files fileSet) bool {
	for _, a := range actions {
		if a.Remove != nil && files.has(a.Remove.Key()) {
			return true
		}
	}
	return false
}

// addedSince gives the files that commits from+1 to to added, whatever else they
// did. whole is as for follow.
func addedSince(ctx context.Context, t *deltaio.Table, from, to int64) (added fileSet, whole bool, err error) {
	added = fileSet{}
	next := from + 1
	if next > to {
		return added, true, nil
	}
	for c, err := range log.Commits(ctx, t.Store(), next, to) {
		if err != nil {
			return nil, false, err
		}
		if c.Version != next {
			return added, false, nil
		}
		next++
		for _, a := range c.Actions {
			if a.Add != nil {
				added.add(a.Add.Key())
			}
		}
	}
	return added, next == to+1, nil
}
