package deltaio

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// sweep removes unfinished writes older than the cutoff: a writer that died
// leaves rows in them, and no listing shows them. The scratch objects of probes
// that died go with them.
func (v *vacuum) sweep(ctx context.Context) error {
	old, err := storage.Leftovers(ctx, v.t.store, v.res.Cutoff)
	if err != nil {
		return err
	}
	probes, err := storage.StaleProbes(ctx, v.t.store, v.res.Cutoff)
	if err != nil || len(old)+len(probes) == 0 {
		return err
	}
	if err := v.begin(ctx); err != nil { // the store's clock may move the cutoff back
		return err
	}
	removed, err := storage.RemoveLeftovers(ctx, v.t.store, v.res.Cutoff)
	for _, f := range removed {
		v.swept(f)
	}
	if err != nil {
		return err
	}
	return v.sweepProbes(ctx)
}

func (v *vacuum) sweepProbes(ctx context.Context) error {
	probes, err := storage.StaleProbes(ctx, v.t.store, v.res.Cutoff)
	if err != nil {
		return err
	}
	for _, f := range probes {
		switch err := v.t.store.Delete(ctx, f.Key); {
		case err == nil:
			v.swept(f)
		case !isNotExist(err): // absent: another sweep was faster
			return err
		}
	}
	return nil
}

func (v *vacuum) swept(f storage.Info) {
	c := candidate{key: f.Key, size: f.Size}
	v.found(c)
	v.count(fate{candidate: c})
}
