package deltaio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// hiveName is a column name as partition directories spell it.
func hiveName(column string) string {
	name, _, _ := strings.Cut(log.PartitionDir([]string{column}, nil), "=")
	return name
}

// fate is what became of a candidate.
type fate struct {
	candidate
	absent  bool
	pending string // why it is not deleted, "" when it is
}

// flush looks candidates up, then deletes those that may still go, and records
// the cursor.
func (v *vacuum) flush(ctx context.Context, batch []candidate) error {
	if len(batch) == 0 {
		return nil
	}
	last := batch[len(batch)-1]
	there, err := v.lookUp(ctx, batch)
	if err != nil {
		return err
	}
	if len(there) > 0 && !v.opt.DryRun {
		if err := v.begin(ctx); err != nil {
			return err
		}
		if err := v.refresh(ctx, false); err != nil {
			return err
		}
	}
	var todo []candidate
	for _, c := range there {
		if v.eligible(c) {
			todo = append(todo, c)
		} else {
			v.res.KeptReferenced++
		}
	}
	if err := v.announce(ctx, todo); err != nil {
		return err
	}
	for _, c := range todo {
		v.found(c)
	}
	if v.opt.DryRun {
		return nil
	}
	for _, f := range v.deleteAll(ctx, todo) {
		v.count(f)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	v.t.env.Progress(Progress{Phase: "vacuum", FilesDone: int(v.res.Deleted + v.res.Absent + v.res.Pending), BytesDone: v.res.BytesDeleted})
	v.cur.Listing, v.cur.After, v.cur.Deleting = last.unknown, last.key, nil
	return v.save(ctx, v.cur)
}

// announce records what is about to be deleted, before its first deletion.
func (v *vacuum) announce(ctx context.Context, todo []candidate) error {
	if len(todo) == 0 {
		return nil
	}
	v.cur.Deleting = make([]PendingFile, len(todo))
	for i, c := range todo {
		v.cur.Deleting[i] = PendingFile{Key: c.key, Size: c.size}
	}
	return v.save(ctx, v.cur)
}

func (v *vacuum) found(c candidate) {
	v.res.Found++
	v.res.BytesFound += c.size
	if len(v.res.Sample) < maxVacuumSample {
		v.res.Sample = append(v.res.Sample, c.key)
	}
}

func (v *vacuum) count(f fate) {
	switch {
	case f.absent:
		v.res.Absent++
	case f.pending != "":
		v.res.Pending++
		v.res.BytesPending += f.size
		if len(v.res.PendingFiles) < maxPendingFiles {
			v.res.PendingFiles = append(v.res.PendingFiles, PendingFile{f.key, f.size, f.pending})
		}
	default:
		v.res.Deleted++
		v.res.BytesDeleted += f.size
	}
}

// lookUp finds out size and existence of the files that tombstones name.
func (v *vacuum) lookUp(ctx context.Context, batch []candidate) ([]candidate, error) {
	infos := make([]storage.Info, len(batch))
	errs := v.inParallel(ctx, len(batch), func(i int) (err error) {
		if batch[i].size < 0 {
			infos[i], err = v.t.store.Stat(ctx, batch[i].key)
		}
		return err
	}, func(err error) bool { return !isNotExist(err) })
	var there []candidate
	for i, c := range batch {
		switch {
		case isNotExist(errs[i]):
			v.res.Absent++
		case errs[i] != nil:
			return nil, errs[i]
		default:
			if c.size < 0 {
				c.size = infos[i].Size
			}
			there = append(there, c)
		}
	}
	return there, nil
}

// inParallel calls do for 0 to n-1, a few at a time. What failed for a reason
// that may pass is tried once more, one by one: a store that was pressed too
// hard gets room.
func (v *vacuum) inParallel(ctx context.Context, n int, do func(int) error, mayPass func(error) bool) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(v.t.env.Parallel, 8))
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	wg.Wait()
	for i := range n {
		if errs[i] != nil && mayPass(errs[i]) && ctx.Err() == nil {
			errs[i] = do(i)
		}
	}
	return errs
}

// Errors of one deletion, as reasons in PendingFile.
var (
	errStillThere = errors.New("still there after its deletion")
	errDenied     = errors.New("permission denied")
)

func (v *vacuum) deleteAll(ctx context.Context, todo []candidate) []fate {
	tried := make([]bool, len(todo))
	errs := v.inParallel(ctx, len(todo), func(i int) error { return v.delete(ctx, todo[i].key, &tried[i]) },
		func(err error) bool { return !isNotExist(err) && !errors.Is(err, errDenied) })
	fates := make([]fate, len(todo))
	for i, err := range errs {
		fates[i] = fate{candidate: todo[i], absent: isNotExist(err)}
		if err != nil && !fates[i].absent {
			fates[i].pending = err.Error()
		}
	}
	return fates
}

// delete removes one object and proves it: nil when it was there and is gone,
// storage.ErrNotExist when it was not there. tried: an earlier call may have
// deleted it, its answer being lost, so that its absence is our doing.
func (v *vacuum) delete(ctx context.Context, key string, tried *bool) error {
	switch err := v.t.store.Delete(ctx, key); {
	case isNotExist(err) && *tried:
	case isNotExist(err):
		return err
	case errors.Is(err, storage.ErrPermission):
		return errDenied
	case err != nil:
		*tried = true
		return err
	}
	*tried = true
	switch _, err := v.t.store.Stat(ctx, key); {
	case isNotExist(err):
		return nil
	case err != nil:
		return fmt.Errorf("deleted, and the proof failed: %w", err)
	}
	return errStillThere
}
