package activities

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// residueLines bounds what history shows of a residue.
const residueLines = 10

// ProveErased accounts for every object under the table's root and writes the
// certificate.
func (a *Activities) ProveErased(ctx context.Context, in ProveErasedInput) (*ProveErasedResult, error) {
	env, stop := a.beat(ctx, "prove")
	defer stop()
	l, run, err := a.loadRun(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.ProveErased(ctx, l.table, purge.ProveOptions{Run: run, ScanLive: true})
	if err != nil {
		return nil, fail(ctx, err)
	}
	out := &ProveErasedResult{
		Erased: r.Erased, PathsKnown: int64(r.Known), PathsGone: int64(r.KnownGone), PathsLeft: int64(r.Known - r.KnownGone),
		UnknownFiles: int64(r.Unknown.Count), LogEntries: int64(r.LogEntries), LogExpires: r.LogExpires, NextDue: r.FilesDue,
		Residue: r.Residue[:min(residueLines, len(r.Residue))], Record: r.Record,
	}
	return out, fail(ctx, l.certify(ctx, in, r, out, a.Now()))
}
