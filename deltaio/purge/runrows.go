package purge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// runRows are the rows of one run in an archive and how to take them out: whole
// files where the run has them alone, rewritten ones where others moved the rows
// together with foreign ones. A nil runRows is empty.
type runRows struct {
	dropped []*dropped
	changes []*log.AddCDCFile
	rows    int64
}

func (r *runRows) files() int {
	if r == nil {
		return 0
	}
	return len(r.dropped)
}

func (r *runRows) actions(now int64) []log.Action {
	if r == nil {
		return nil
	}
	var out []log.Action
	for _, d := range r.dropped {
		out = append(out, d.actions(now)...)
	}
	for _, c := range r.changes {
		out = append(out, log.Action{CDC: c})
	}
	return out
}

// runPredicate is TRUE for the archived rows of a run.
func runPredicate(snap *deltaio.Snapshot, runID string) (*expr.Expr, *expr.Bound, error) {
	f, ok := snap.Schema().Field(RunIDColumn)
	if !ok {
		return nil, nil, fmt.Errorf("%s has no column %s: it is no archive", snap.Table().URL(), RunIDColumn)
	}
	x, err := expr.Parse(fmt.Sprintf("`%s` = '%s'", f.Name, runID)) // Run.check admits no quote
	if err != nil {
		return nil, nil, err
	}
	b, err := x.Bind(snap.Schema(), expr.Context{})
	return x, b, err
}

// runFile is a file of the archive that holds rows of the run.
type runFile struct {
	add  *log.Add
	rows *pq.Bitmap
	n    int64
	lost bool // not in storage; the run alone wrote it
}

// findRunFiles looks where rows of the run lie now, whoever moved them.
func findRunFiles(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, runID string) ([]runFile, error) {
	return findRunFilesBut(ctx, t, snap, runID, nil)
}

// findRunFilesBut is findRunFiles, except that files among own may be missing in
// storage: they are found as lost.
func findRunFilesBut(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, runID string, own map[string]bool) ([]runFile, error) {
	_, bound, err := runPredicate(snap, runID)
	if err != nil {
		return nil, err
	}
	var candidates []*log.Add
	for _, add := range snap.Files() {
		if bound.Prune(snap.Ranges(add)) != expr.None {
			candidates = append(candidates, add)
		}
	}
	found := make([]runFile, len(candidates))
	err = forEach(ctx, t, len(candidates), func(ctx context.Context, i int) error {
		f, err := snap.OpenFile(ctx, candidates[i])
		if errors.Is(err, storage.ErrNotExist) && own[candidates[i].Key().Path] {
			found[i] = runFile{add: candidates[i], lost: true}
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close() // nothing was written
		sel, err := f.Select(ctx, bound)
		if err != nil {
			return err
		}
		found[i] = runFile{add: candidates[i], rows: sel.True, n: int64(sel.True.Count())}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []runFile
	for _, f := range found {
		if f.n > 0 || f.lost {
			out = append(out, f)
		}
	}
	return out, nil
}

// writtenAlone are the keys of the files that hold rows of the run and of nobody
// else: its archive records list them, and their names are those of an attempt.
// The rest of a file that others had put together carries the run's name too, and
// is not listed.
func writtenAlone(ctx context.Context, r Run) (map[string]bool, error) {
	names, err := recordNames(ctx, r, StepArchive)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, name := range names {
		var rec archiveRecord
		if err := readRecord(ctx, r, name, &rec); err != nil {
			return nil, err
		}
		prefix := filePrefix(r.ID, fmt.Sprintf("%s%d", StepArchive, rec.Result.Attempt))
		for _, f := range rec.Files {
			key := f.Key().Path
			own[key] = strings.HasPrefix(key[strings.LastIndexByte(key, '/')+1:], prefix)
		}
	}
	return own, nil
}

// findRunRows prepares to take the run's rows out of the archive.
func findRunRows(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, r Run, step string) (*runRows, error) {
	own, err := writtenAlone(ctx, r)
	if err != nil {
		return nil, err
	}
	files, err := findRunFilesBut(ctx, t, snap, r.ID, own)
	if err != nil {
		return nil, err
	}
	st, err := newStager(ctx, t, r, step+"-rest")
	if err != nil {
		return nil, err
	}
	w := &dropper{snap: snap, content: newContent(snap.Schema(), ""), stager: st}
	out := &runRows{dropped: make([]*dropped, len(files))}
	err = forEach(ctx, t, len(files), func(ctx context.Context, i int) error {
		if files[i].lost {
			out.dropped[i] = &dropped{removed: files[i].add, lost: true}
			return nil
		}
		d, err := w.file(ctx, dropOrder{add: files[i].add, drop: files[i].rows})
		if err != nil {
			return fmt.Errorf("%s: take rows of run %s out of %s: %w", t.URL(), r.ID, files[i].add.Path, err)
		}
		out.dropped[i] = d
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range out.dropped {
		out.rows += d.rows
	}
	out.changes, err = w.changes(ctx, out.dropped)
	return out, err
}
