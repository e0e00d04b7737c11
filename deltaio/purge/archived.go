package purge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// ArchiveChangedError: the archive does not hold what the run archived. Somebody
// changed, added or removed rows since.
type ArchiveChangedError struct {
	Archive, Run string
	Got, Want    rowhash.Sum
}

func (e *ArchiveChangedError) Error() string {
	return fmt.Sprintf("archive %s: rows of run %s are %s, archived were %s: they were changed since, and none is restored; bring the archive back to a version before the change",
		e.Archive, e.Run, e.Got, e.Want)
}

// ArchiveRecord finds the record of what a run archived: the one that the
// archive's log names, or, when the log no longer holds that commit, the one in
// the run folder that the run's delete rests on.
func ArchiveRecord(ctx context.Context, archive *deltaio.Table, r Run) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	snap, err := archive.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	step := deltaio.Step{AppID: AppID(r.ID, StepArchive)}
	if step.Version, _ = snap.Txn(step.AppID); step.Version%2 == 1 {
		res, ok, err := archive.FindStep(ctx, step)
		if err != nil {
			return "", err
		}
		if info, named := infoOf(res.Actions); ok && named && info.Result != "" {
			return info.Result, nil
		}
	}
	return latestArchive(ctx, r)
}

// latestArchive picks the last attempt's record by the run folder alone. Calls of
// one attempt may have left several; unless the delete decides among different
// ones nobody can.
func latestArchive(ctx context.Context, r Run) (string, error) {
	lost := func(err error) (string, error) {
		return "", &LostRecordError{Run: r.ID, Step: StepArchive, Record: StepArchive + "-*.json", Folder: r.Journal.URL(), Err: err}
	}
	expected, err := deleteExpected(ctx, r)
	if err != nil {
		return "", err
	}
	names, err := recordNames(ctx, r, StepArchive)
	if err != nil {
		return "", err
	}
	best, differ, top := "", false, archiveRecord{}
	for _, name := range names {
		var rec archiveRecord
		if err := readRecord(ctx, r, name, &rec); err != nil {
			return lost(err)
		}
		switch {
		case expected != nil && rec.Result.Sum != *expected, rec.Result.Attempt < top.Result.Attempt:
		case rec.Result.Attempt > top.Result.Attempt:
			best, differ, top = name, false, rec
		default:
			differ = differ || rec.Result.Sum != top.Result.Sum
		}
	}
	if best == "" {
		return lost(errors.New("there is none that the delete rests on"))
	}
	if differ {
		return lost(fmt.Errorf("attempt %d left different ones", top.Result.Attempt))
	}
	return best, nil
}

// deleteExpected is the sum that the run's delete rests on; nil when its records
// are gone or do not agree.
func deleteExpected(ctx context.Context, r Run) (*rowhash.Sum, error) {
	names, err := recordNames(ctx, r, StepDelete)
	if err != nil {
		return nil, err
	}
	var out *rowhash.Sum
	for _, name := range names {
		var rec deleteRecord
		if err := readRecord(ctx, r, name, &rec); lost(err) {
			return nil, &LostRecordError{Run: r.ID, Step: StepDelete, Record: name, Folder: r.Journal.URL(), Err: err}
		} else if err != nil {
			return nil, fmt.Errorf("run %s: step %s: %w", r.ID, StepDelete, err)
		}
		if out != nil && *out != rec.Result.Expected {
			return nil, nil
		}
		out = &rec.Result.Expected
	}
	return out, nil
}

func recordNames(ctx context.Context, r Run, step string) ([]string, error) {
	all, err := r.Journal.List(ctx, step+"-")
	if err != nil {
		return nil, fmt.Errorf("run folder %s: %w", r.Journal.URL(), err)
	}
	var out []string
	for _, name := range all {
		if strings.HasSuffix(name, ".json") && !strings.Contains(name, "/") {
			out = append(out, name)
		}
	}
	return out, nil
}

// unchanged hashes all rows of the purge in the archive and compares them with
// what was archived, whichever of them come back.
func (r *restoring) unchanged(ctx context.Context, archived *deltaio.Snapshot) error {
	run := Run{ID: r.opt.PurgeRunID, Journal: r.opt.PurgeJournal}
	name, err := ArchiveRecord(ctx, r.archive, run)
	if err != nil {
		return err
	}
	var rec archiveRecord
	if err := readRecord(ctx, run, name, &rec); lost(err) {
		return &LostRecordError{Run: run.ID, Step: StepArchive, Record: name, Folder: run.Journal.URL(), Err: err}
	} else if err != nil {
		return fmt.Errorf("run %s: step %s: %w", run.ID, StepArchive, err)
	}
	source, err := schema.Parse(rec.Schema)
	if err != nil {
		return fmt.Errorf("record %s in run folder %s: %w", name, run.Journal.URL(), err)
	}
	files, err := findRunFiles(ctx, r.archive, archived, run.ID)
	if err != nil {
		return err
	}
	got, err := sumArchived(ctx, r.archive, archived, source, files)
	if err != nil {
		return err
	}
	if got != rec.Result.Sum {
		return &ArchiveChangedError{Archive: r.archive.URL(), Run: run.ID, Got: got, Want: rec.Result.Sum}
	}
	return nil
}
