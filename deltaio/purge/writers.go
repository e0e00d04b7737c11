package purge

import (
	"context"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// maxWriterVersions bounds the versions listed for each writer.
const maxWriterVersions = 5

// recentWriters names the programs that committed lately, so that the plan says
// who will notice: marking and deleting are changes that streaming readers see
// and that running writers may collide with. Commits of lakewarden are left out.
func recentWriters(ctx context.Context, t *deltaio.Table, commits int) ([]Writer, error) {
	if commits <= 0 {
		commits = 100
	}
	newest, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	byEngine := map[string]*Writer{}
	from := max(0, newest.Version()-int64(commits)+1)
	for c, err := range log.Commits(ctx, t.Store(), from, newest.Version()) {
		if err != nil {
			return nil, err
		}
		engine, ours := engineOf(c.Actions)
		if ours {
			continue
		}
		w := byEngine[engine]
		if w == nil {
			w = &Writer{Engine: engine}
			byEngine[engine] = w
		}
		w.see(c)
	}
	out := make([]Writer, 0, len(byEngine))
	for _, w := range byEngine {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b Writer) int { return strings.Compare(a.Engine, b.Engine) })
	return out, nil
}

func engineOf(actions []log.Action) (engine string, ours bool) {
	if _, ours = infoOf(actions); ours {
		return "", true
	}
	engine = "unknown"
	for _, a := range actions {
		if a.CommitInfo != nil && !a.CommitInfo.Get("engineInfo", &engine) {
			_ = a.CommitInfo.Get("clientVersion", &engine) // delta-rs; absent: unknown
		}
	}
	return engine, false
}

func (w *Writer) see(c log.Commit) {
	w.Commits++
	w.Last = msTime(c.Timestamp)
	w.Versions = append(w.Versions, c.Version)
	if len(w.Versions) > maxWriterVersions {
		w.Versions = w.Versions[1:]
	}
	for _, a := range c.Actions {
		if a.Txn != nil && !slices.Contains(w.Streams, a.Txn.AppID) {
			w.Streams = append(w.Streams, a.Txn.AppID)
		}
	}
}
