package deltaio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

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
	infos := make([]*storage.Info, len(batch))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(v.t.env.Parallel, 8))
	for i, c := range batch {
		if c.size >= 0 {
			continue
		}
		g.Go(func() error {
			info, err := v.t.store.Stat(gctx, c.key)
			if isNotExist(err) {
				return nil
			}
			infos[i] = &info
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var there []candidate
	for i, c := range batch {
		switch {
		case c.size >= 0:
			there = append(there, c)
		case infos[i] == nil:
			v.res.Absent++
		default:
			c.size = infos[i].Size
			there = append(there, c)
		}
	}
	return there, nil
}

// deleteAll deletes in parallel. What failed for a reason that may pass is tried
// once more, one by one: a store that was pressed too hard gets room.
func (v *vacuum) deleteAll(ctx context.Context, todo []candidate) []fate {
	fates := make([]fate, len(todo))
	again := make([]bool, len(todo))
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(v.t.env.Parallel, 8))
	for i, c := range todo {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			fates[i], again[i] = v.delete(ctx, c)
		}()
	}
	wg.Wait()
	for i := range fates {
		if again[i] && ctx.Err() == nil {
			fates[i], _ = v.delete(ctx, todo[i])
		}
	}
	return fates
}

// delete removes one object and proves it. again: the failure may pass.
func (v *vacuum) delete(ctx context.Context, c candidate) (f fate, again bool) {
	f = fate{candidate: c}
	err := v.t.store.Delete(ctx, c.key)
	switch {
	case isNotExist(err):
		f.absent = true
		return f, false
	case errors.Is(err, storage.ErrPermission):
		f.pending = "permission denied"
		return f, false
	case err != nil:
		f.pending = err.Error()
		return f, true
	}
	switch _, err := v.t.store.Stat(ctx, c.key); {
	case isNotExist(err):
		return f, false
	case err != nil:
		f.pending = fmt.Sprintf("deleted, and the proof failed: %v", err)
	default:
		f.pending = "still there after its deletion"
	}
	return f, true
}
