package deltaio

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// Step makes a commit exactly once: a txn action whose version only rises. Odd
// versions mean done, even ones undone (fenced).
type Step struct {
	AppID   string
	Version int64
}

// Outcome is how a commit ended; all of them are values, not errors.
type Outcome int

// Outcomes of a commit.
const (
	Committed   Outcome = iota + 1 // this call wrote the version
	AlreadyDone                    // the table already holds the step's txn entry at this version
	Fenced                         // the step's txn entry has moved past this version: it was undone
	NothingToDo                    // build returned no actions
)

func (o Outcome) String() string {
	switch o {
	case Committed:
		return "committed"
	case AlreadyDone:
		return "already done"
	case Fenced:
		return "fenced"
	case NothingToDo:
		return "nothing to do"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// FileKey identifies a logical file: decoded path and deletion vector id ("" for
// none).
type FileKey = log.FileKey

// ReadSet is what a commit's decisions rest on.
type ReadSet struct {
	// All: every file of the table was read.
	All bool
	// Files that were read, beyond those the commit removes.
	Files map[FileKey]struct{}
	// Predicate says whether a file added meanwhile should have been read. Nil:
	// none (with All: every one).
	Predicate func(*log.Add) bool
}

// CommitOptions describe a commit.
type CommitOptions struct {
	Operation  string         // Delta's name of the operation, such as DELETE
	Parameters map[string]any // commitInfo.operationParameters; values are JSON-encoded into strings
	Metrics    map[string]any // commitInfo.operationMetrics; nil: counted from the actions
	Step       *Step
	Info       map[string]any // further members of commitInfo
	Reads      ReadSet
	// BlindAppend: the commit adds files and has read nothing.
	BlindAppend bool
	// IsolationSerializable: appends that won meanwhile conflict with Reads as
	// well. The table property delta.isolationLevel=Serializable implies it.
	IsolationSerializable bool
	// Rebuild: on a conflict load the newest version and call build again, up to
	// this many times. 0: return the ConflictError.
	Rebuild int
	// AllowEmpty commits a version that holds commitInfo alone when build returns
	// no actions.
	AllowEmpty bool
	// Rewritten: every file that the commit adds was made by DataFile.Rewrite, or
	// holds new rows alone. It decides what is said of row tracking.
	Rewritten bool
	// Guard is asked right before each try to write the version, after lost races
	// too: an error stops the commit, and nothing is written. It is for what the
	// decision rests on and the table's log does not hold. Nil: nothing.
	Guard func(context.Context) error
	// Want is what the gate judges before anything is written. 0 (WantRead):
	// WantAppend for a blind append, else WantRewrite.
	Want Want
}

// CommitResult is how the commit ended.
type CommitResult struct {
	Outcome Outcome
	Version int64        // the version that holds the commit (Committed, AlreadyDone)
	Actions []log.Action // that version's actions, as written; nil when the log has lost them
	Time    int64        // its timestamp in ms: in-commit, or commitInfo.timestamp
	// Warning is a failed checkpoint after the commit: the commit stands.
	Warning error
}

// Build makes a commit's file, metadata and domain actions for a base version;
// commitInfo, txn, row tracking and timestamps are added by Commit. attempt
// counts from 0. No actions: nothing to do, unless the commit has a Step or
// AllowEmpty.
type Build func(ctx context.Context, base *Snapshot, attempt int) ([]log.Action, error)

// Commit writes one version on top of base, or on top of later versions that do
// not conflict with it. Before it writes it judges the gate, checks the actions
// against the base, and looks for the step's txn entry. Base nil: the newest.
func (t *Table) Commit(ctx context.Context, base *Snapshot, opt CommitOptions, build Build) (CommitResult, error) {
	opt = opt.withDefaults()
	for rebuilds := 0; ; rebuilds++ {
		if base == nil || rebuilds > 0 {
			var err error
			if base, err = t.Snapshot(ctx); err != nil {
				return CommitResult{}, err
			}
		}
		res, err := t.commitOn(ctx, base, opt, rebuilds, build)
		if !isConflict(err) || rebuilds >= opt.Rebuild {
			return res, err
		}
	}
}

func (o CommitOptions) withDefaults() CommitOptions {
	if o.Want == WantRead {
		o.Want = WantRewrite
		if o.BlindAppend {
			o.Want = WantAppend
		}
	}
	return o
}

// commitOn plans on base and writes at the first free version behind it.
func (t *Table) commitOn(ctx context.Context, base *Snapshot, opt CommitOptions, attempt int, build Build) (CommitResult, error) {
	if err := base.Check(opt.Want); err != nil {
		return CommitResult{}, err
	}
	if done, err := t.stepState(ctx, base, opt.Step); err != nil || done.Outcome != 0 {
		return done, err
	}
	actions, err := build(ctx, base, attempt)
	if err != nil {
		return CommitResult{}, err
	}
	if len(actions) == 0 && opt.Step == nil && !opt.AllowEmpty {
		return CommitResult{Outcome: NothingToDo, Version: base.Version()}, nil
	}
	if err := base.checkActions(actions); err != nil {
		return CommitResult{}, fmt.Errorf("%s: %s: %w", t.URL(), opt.Operation, err)
	}
	c := &committer{t: t, base: base, opt: opt, actions: actions, txnID: t.env.NewID()}
	return c.run(ctx)
}

// stepState answers from the base alone: done already, or fenced. A zero Outcome
// means go on.
func (t *Table) stepState(ctx context.Context, base *Snapshot, step *Step) (CommitResult, error) {
	if step == nil {
		return CommitResult{}, nil
	}
	if step.AppID == "" {
		return CommitResult{}, fmt.Errorf("%s: step without an application id", t.URL())
	}
	current, ok := base.Txn(step.AppID)
	switch {
	case !ok || current < step.Version:
		return CommitResult{}, nil
	case current > step.Version:
		return CommitResult{Outcome: Fenced, Version: base.Version()}, nil
	}
	return t.findStep(ctx, base.Version(), *step)
}

// findStep looks backwards for the commit that holds the step's txn entry. When
// the log has been cleaned up behind it, Version is -1 and Actions is nil: the
// step is done all the same.
func (t *Table) findStep(ctx context.Context, newest int64, step Step) (CommitResult, error) {
	for v := newest; v >= 0; v-- {
		actions, err := log.ReadCommit(ctx, t.store, v)
		if isNotExist(err) {
			break
		}
		if err != nil {
			return CommitResult{}, t.wrap(err)
		}
		for _, a := range actions {
			if a.Txn != nil && a.Txn.AppID == step.AppID && a.Txn.Version == step.Version {
				return CommitResult{Outcome: AlreadyDone, Version: v, Actions: actions, Time: commitTime(actions)}, nil
			}
		}
	}
	return CommitResult{Outcome: AlreadyDone, Version: -1}, nil
}

// FindStep looks for the commit of a step: ok is false when the newest version
// has no txn entry of exactly the step's version.
func (t *Table) FindStep(ctx context.Context, step Step) (res CommitResult, ok bool, err error) {
	st, err := t.newest(ctx)
	if err != nil {
		return CommitResult{}, false, err
	}
	if cur, found := st.Txns[step.AppID]; !found || cur.Version != step.Version {
		return CommitResult{}, false, nil
	}
	res, err = t.findStep(ctx, st.Version, step)
	return res, err == nil, err
}

func commitTime(actions []log.Action) int64 {
	for _, a := range actions {
		if a.CommitInfo == nil {
			continue
		}
		if ms, ok := a.CommitInfo.InCommitTimestamp(); ok {
			return ms
		}
		var ms int64
		if a.CommitInfo.Get("timestamp", &ms) {
			return ms
		}
	}
	return 0
}
