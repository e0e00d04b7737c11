package deltaio

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// A commit is written by this loop: encode for the next version, put if absent,
// and when another writer was there first, examine what it wrote and try the
// version behind it. Three things make it exactly once:
//
//  1. After any error that leaves the outcome open, the log is read for our own
//     txnId before anything else happens. The same bytes are then put again at
//     the same version, so that an answer lost once or a late arrival of the
//     first put cannot make two commits.
//  2. A version is left only after somebody else's commit was seen there; an
//     in-flight put of ours for it can then no longer succeed.
//  3. A winning commit that carries our Step's application id decides the step:
//     done when it holds our version, fenced when it holds a higher one.
//
// What depends on the version is made inside the loop: in-commit timestamp,
// base row ids with their watermark, default row commit versions.

const (
	// putAttempts bounds how often the same version is put after open outcomes.
	putAttempts = 3
	// lookupTimeout bounds the look into the log after the caller's context ended.
	lookupTimeout = 10 * time.Second
)

type committer struct {
	t       *Table
	base    *Snapshot
	opt     CommitOptions
	actions []log.Action
	txnID   string

	seen progressOfLog
}

// progressOfLog is what the loop must know of the versions it has passed.
type progressOfLog struct {
	version   int64
	timestamp int64 // in-commit timestamp of version, 0 without
	watermark int64 // highest row id given out; -1: none
}

func (c *committer) run(ctx context.Context) (CommitResult, error) {
	c.seen = progressOfLog{version: c.base.Version(), watermark: rowWatermark(c.base.state.Domains)}
	if c.base.state.InCommitTimestamps() {
		c.seen.timestamp = c.base.state.Timestamp
	}
	for {
		if err := ctx.Err(); err != nil {
			return CommitResult{}, fmt.Errorf("%s: %s: %w", c.t.URL(), c.opt.Operation, err)
		}
		version := c.seen.version + 1
		actions, err := c.finish(version)
		if err != nil {
			return CommitResult{}, fmt.Errorf("%s: %s: %w", c.t.URL(), c.opt.Operation, err)
		}
		if guard := c.opt.Guard; guard != nil {
			if err := guard(ctx); err != nil {
				return CommitResult{}, fmt.Errorf("%s: %s: %w", c.t.URL(), c.opt.Operation, err)
			}
		}
		won, winner, err := c.put(ctx, version, actions)
		if err != nil {
			return CommitResult{}, err
		}
		if won {
			res := CommitResult{Outcome: Committed, Version: version, Actions: actions, Time: commitTime(actions)}
			res.Warning = c.conclude(ctx, version)
			return res, nil
		}
		if res, done, err := c.examine(version, winner); done || err != nil {
			return res, err
		}
		if res, done, err := c.catchUp(ctx); done || err != nil {
			return res, err
		}
	}
}

// catchUp examines what else has been committed, by reading alone: on an old
// base most versions are taken, and putting each of them would send the commit's
// bytes in vain.
func (c *committer) catchUp(ctx context.Context) (CommitResult, bool, error) {
	for {
		version := c.seen.version + 1
		winner, err := log.ReadCommit(ctx, c.t.store, version)
		if isNotExist(err) {
			return CommitResult{}, false, nil
		}
		if err != nil {
			return CommitResult{}, false, fmt.Errorf("%s: %s: %w", c.t.URL(), c.opt.Operation, err)
		}
		if res, done, err := c.examine(version, winner); done || err != nil {
			return res, done, err
		}
	}
}

// put writes the version. It returns true when the version is ours, else the
// actions of the commit that is there.
func (c *committer) put(ctx context.Context, version int64, actions []log.Action) (bool, []log.Action, error) {
	data, err := log.EncodeCommit(actions)
	if err != nil {
		return false, nil, fmt.Errorf("%s: version %d: %w", c.t.URL(), version, err)
	}
	var putErr error
	for range putAttempts {
		putErr = c.t.store.PutIfAbsent(ctx, log.CommitKey(version), data)
		if putErr == nil {
			return true, nil, nil
		}
		if definite(putErr) {
			return false, nil, fmt.Errorf("%s: version %d: %w", c.t.URL(), version, putErr)
		}
		// Either somebody was first or the answer is lost: the log knows.
		there, err := c.lookup(ctx, version)
		switch {
		case err == nil && carriesTxnID(there, c.txnID):
			return true, nil, nil
		case err == nil:
			return false, there, nil
		case !isNotExist(err):
			return false, nil, c.uncertain(version, errors.Join(putErr, err))
		case ctx.Err() != nil:
			return false, nil, c.uncertain(version, putErr)
		}
	}
	return false, nil, c.uncertain(version, putErr)
}

// definite errors mean that nothing was written and a retry is useless.
func definite(err error) bool {
	for _, sentinel := range []error{storage.ErrPermission, storage.ErrNoSpace, storage.ErrUnsupported, storage.ErrInvalidKey} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

func (c *committer) uncertain(version int64, err error) error {
	return &UncertainError{Table: c.t.URL(), Version: version, Err: err}
}

// lookup reads a version even when the caller's context has ended: a cancelled
// commit may stand, and the caller must know.
func (c *committer) lookup(ctx context.Context, version int64) ([]log.Action, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	defer cancel()
	return log.ReadCommit(ctx, c.t.store, version)
}

func carriesTxnID(actions []log.Action, id string) bool {
	for _, a := range actions {
		var got string
		if a.CommitInfo != nil && a.CommitInfo.Get("txnId", &got) && got == id {
			return true
		}
	}
	return false
}

// examine judges a commit that was first. done: the step is decided by it.
func (c *committer) examine(version int64, winner []log.Action) (res CommitResult, done bool, err error) {
	if s := c.opt.Step; s != nil {
		for _, a := range winner {
			if a.Txn == nil || a.Txn.AppID != s.AppID || a.Txn.Version < s.Version {
				continue
			}
			if a.Txn.Version > s.Version {
				return CommitResult{Outcome: Fenced, Version: version}, true, nil
			}
			return CommitResult{Outcome: AlreadyDone, Version: version, Actions: winner, Time: commitTime(winner)}, true, nil
		}
	}
	if conflict := c.conflict(version, winner); conflict != nil {
		return CommitResult{}, false, conflict
	}
	c.pass(version, winner)
	return CommitResult{}, false, nil
}

// pass moves behind a commit that does not conflict.
func (c *committer) pass(version int64, winner []log.Action) {
	c.seen.version = version
	for _, a := range winner {
		switch {
		case a.CommitInfo != nil:
			if ms, ok := a.CommitInfo.InCommitTimestamp(); ok {
				c.seen.timestamp = max(c.seen.timestamp, ms)
			}
		case a.Domain != nil && a.Domain.Domain == rowTrackingDomain && !a.Domain.Removed:
			c.seen.watermark = max(c.seen.watermark, watermarkOf(*a.Domain))
		}
	}
}
