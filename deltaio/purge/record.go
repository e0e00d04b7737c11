package purge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Records are what a run keeps of its steps, in its run folder. A commit names
// the record of its step (commitInfo.lakewarden.result), so that only records of
// steps that happened are ever read back.

// LostRecordError: the log shows a step of the run, and the run folder no longer
// holds what it did.
type LostRecordError struct {
	Run, Step, Record, Folder string
	Err                       error
}

func (e *LostRecordError) Error() string {
	return fmt.Sprintf("run %s: step %s is committed, but its record %q cannot be read from %s: %v; bring the run folder back",
		e.Run, e.Step, e.Record, e.Folder, e.Err)
}

func (e *LostRecordError) Unwrap() error { return e.Err }

// planRecord is a plan in full.
type planRecord struct {
	Criteria string     `json:"criteria"` // digest of what is frozen
	Match    string     `json:"match,omitempty"`
	Hold     string     `json:"hold,omitempty"`
	Undated  string     `json:"undated,omitempty"`
	Result   PlanResult `json:"result"` // without Record and Digest
	Files    []planFile `json:"files"`
}

// Verdicts of a planned file.
const (
	keepFile   = "keep"
	wholeFile  = "whole"  // every row is due
	splitFile  = "split"  // some rows are due
	hiddenFile = "hidden" // no live row is due, rows behind the deletion vector are
	emptyFile  = "empty"  // no row at all, in a partition that is due
)

type planFile struct {
	Path    string `json:"path"` // decoded
	DV      string `json:"dv,omitempty"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Bytes   int64  `json:"bytes"`
	Rows    int64  `json:"rows"` // live
	Due     int64  `json:"due,omitempty"`
	Held    int64  `json:"held,omitempty"`
	Undated int64  `json:"undated,omitempty"`
	Hidden  int64  `json:"hidden,omitempty"`
}

func (f planFile) key() deltaio.FileKey { return deltaio.FileKey{Path: f.Path, DV: f.DV} }

// markRecord is a mark in full.
type markRecord struct {
	Criteria string            `json:"criteria"`
	Schema   string            `json:"schema"` // without the marker: what the sums cover
	Result   MarkResult        `json:"result"` // without Outcome, Version, VersionBefore
	Files    []markedFile      `json:"files"`
	Changes  []*log.AddCDCFile `json:"changes,omitempty"`
}

// markedFile is one source file and what marking made of it.
type markedFile struct {
	Verdict  string      `json:"verdict"`
	Original *log.Add    `json:"original"`
	Marked   *log.Add    `json:"marked,omitempty"`
	Kept     *log.Add    `json:"kept,omitempty"`
	Rows     int64       `json:"rows"` // marked
	RowsKept int64       `json:"rows_kept"`
	Sum      rowhash.Sum `json:"sum"` // of the marked rows, marker column excluded
}

// unmarkRecord is the way back in full.
type unmarkRecord struct {
	Result   UnmarkResult      `json:"result"`
	Restored []markedFile      `json:"restored,omitempty"` // Original is live again
	Removed  []*log.Add        `json:"removed,omitempty"`
	Added    []*log.Add        `json:"added,omitempty"`
	Changes  []*log.AddCDCFile `json:"changes,omitempty"`
	// Superseded is never written: a later round replaced this one.
	Superseded bool `json:"-"`
}

// archiveRecord is an archived set of rows in full.
type archiveRecord struct {
	Criteria string         `json:"criteria"`
	Result   ArchiveResult  `json:"result"`    // without Outcome and Version
	SourceID string         `json:"source_id"` // table id
	Schema   string         `json:"schema"`    // of the source without the marker: what Sum covers
	Sources  []archivedFile `json:"sources"`
	Files    []*log.Add     `json:"files"`
}

// archivedFile is one source file and the rows that were archived from it.
type archivedFile struct {
	Path string      `json:"path"`
	DV   string      `json:"dv,omitempty"`
	Mask string      `json:"mask"` // digest of which rows
	Sum  rowhash.Sum `json:"sum"`
}

// deleteRecord is a delete in full.
type deleteRecord struct {
	Result  DeleteResult      `json:"result"` // without Outcome and Version
	At      time.Time         `json:"at"`
	Removed []*log.Add        `json:"removed"`
	Added   []*log.Add        `json:"added"`
	Changes []*log.AddCDCFile `json:"changes,omitempty"`
	// RowsLive are the live rows of each removed file, in order.
	RowsLive []int64 `json:"rows_live"`

	dropped []*dropped // while it is being made
}

// writeRecord puts a record under a new unique name.
func writeRecord(ctx context.Context, r Run, step, id string, v any) (name, digest string, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", "", fmt.Errorf("record of step %s: %w", step, err)
	}
	name = step + "-" + id + ".json"
	if err := r.Journal.Put(ctx, name, data); err != nil {
		return "", "", fmt.Errorf("write %s to run folder %s: %w", name, r.Journal.URL(), err)
	}
	sum := sha256.Sum256(data)
	return name, hex.EncodeToString(sum[:]), nil
}

func readRecord(ctx context.Context, r Run, name string, v any) error {
	if name == "" {
		return errors.New("no record named")
	}
	data, err := r.Journal.Get(ctx, name)
	if err != nil {
		return fmt.Errorf("read %s from run folder %s: %w", name, r.Journal.URL(), err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("record %s in run folder %s is damaged: %w", name, r.Journal.URL(), err)
	}
	return nil
}

// stepInfo is what a commit of a run says about itself in commitInfo.
type stepInfo struct {
	RunID  string `json:"runId"`
	Step   string `json:"step"`
	Result string `json:"result,omitempty"` // record in the run folder
}

const infoKey = "lakewarden"

func (r Run) info(step, record string) map[string]any {
	return map[string]any{infoKey: stepInfo{RunID: r.ID, Step: step, Result: record}}
}

// infoOf reads a commit's word about itself.
func infoOf(actions []log.Action) (info stepInfo, ok bool) {
	for _, a := range actions {
		if a.CommitInfo != nil && a.CommitInfo.Get(infoKey, &info) {
			return info, true
		}
	}
	return stepInfo{}, false
}

// committedRecord reads the record that a step's commit names.
func committedRecord(ctx context.Context, r Run, step string, res deltaio.CommitResult, v any) (name string, err error) {
	info, ok := infoOf(res.Actions)
	if !ok || info.Result == "" {
		return "", &LostRecordError{Run: r.ID, Step: step, Folder: r.Journal.URL(),
			Err: fmt.Errorf("the log no longer holds the commit that names it: %w", storage.ErrNotExist)}
	}
	switch err := readRecord(ctx, r, info.Result, v); {
	case err == nil:
		return info.Result, nil
	case lost(err):
		return "", &LostRecordError{Run: r.ID, Step: step, Record: info.Result, Folder: r.Journal.URL(), Err: err}
	default: // a store that does not answer has lost nothing
		return "", fmt.Errorf("run %s: step %s: %w", r.ID, step, err)
	}
}

// lost says whether reading a record can never succeed: it is not there, or damaged.
func lost(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.Is(err, storage.ErrNotExist) || errors.As(err, &syntax) || errors.As(err, &kind)
}

// done looks up a step that the table shows as done and reads its record.
func done(ctx context.Context, t *deltaio.Table, r Run, step deltaio.Step, v any) (res deltaio.CommitResult, name string, ok bool, err error) {
	res, ok, err = t.FindStep(ctx, step)
	if err != nil || !ok {
		return res, "", ok, err
	}
	_, stepName, _ := ParseAppID(step.AppID)
	name, err = committedRecord(ctx, r, stepName, res, v)
	return res, name, true, err
}

// standing is what a table shows of a step.
type standing int

const (
	pending standing = iota
	committed
	fenced
)

// stands looks a step up in its table, and reads the record of a committed one
// into v. Who committed may have died right after it: what it was still to clean
// up is then the caller's.
func stands(ctx context.Context, t *deltaio.Table, r Run, step deltaio.Step, v any) (at standing, res deltaio.CommitResult, name string, err error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return pending, res, "", err
	}
	switch txn, _ := snap.Txn(step.AppID); {
	case txn < step.Version:
		return pending, res, "", nil
	case txn > step.Version:
		return fenced, res, "", nil
	}
	res, name, _, err = done(ctx, t, r, step, v)
	return committed, res, name, err
}

// pathsOf are the storage keys of data files; nil ones are left out.
func pathsOf(files ...*log.Add) map[string]bool {
	keys := map[string]bool{}
	for _, f := range files {
		if f != nil {
			keys[f.Key().Path] = true
		}
	}
	return keys
}
