package deltaio

import (
	"context"
	"iter"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// HistoryEntry is one commit.
type HistoryEntry struct {
	Version   int64
	Time      time.Time // in-commit, else the store's time of the commit file
	Operation string
	// Parameters and Metrics are operationParameters and operationMetrics, values
	// that are no strings as JSON.
	Parameters, Metrics map[string]string
	Engine              string
	BlindAppend         *bool // nil: the commit does not say
	TxnID               string
	Info                *log.CommitInfo // nil when the commit has none
	Actions             []log.Action
}

// History gives the newest limit commits, newest first. 0: all that the log
// holds. It needs no snapshot, so that it works on tables of unknown features.
func History(ctx context.Context, t *Table, limit int) ([]HistoryEntry, error) {
	latest, err := log.Latest(ctx, t.store)
	if err != nil {
		return nil, t.wrap(err)
	}
	from := int64(0)
	if limit > 0 {
		from = max(0, latest-int64(limit)+1)
	}
	var out []HistoryEntry
	for c, err := range log.Commits(ctx, t.store, from, latest) {
		if err != nil {
			return nil, t.wrap(err)
		}
		out = append(out, entryOf(c))
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out, nil
}

// Commits yields the commits after a version, oldest first: what happened since.
func (t *Table) Commits(ctx context.Context, after, to int64) iter.Seq2[HistoryEntry, error] {
	return func(yield func(HistoryEntry, error) bool) {
		for c, err := range log.Commits(ctx, t.store, after+1, to) {
			if err != nil {
				yield(HistoryEntry{}, t.wrap(err))
				return
			}
			if !yield(entryOf(c), nil) {
				return
			}
		}
	}
}

func entryOf(c log.Commit) HistoryEntry {
	e := HistoryEntry{Version: c.Version, Time: time.UnixMilli(c.Timestamp).UTC(), Actions: c.Actions}
	for _, a := range c.Actions {
		if a.CommitInfo == nil {
			continue
		}
		e.Info = a.CommitInfo
		e.Operation = a.CommitInfo.Operation()
		e.Parameters = textMap(a.CommitInfo, "operationParameters")
		e.Metrics = textMap(a.CommitInfo, "operationMetrics")
		_ = a.CommitInfo.Get("engineInfo", &e.Engine) // absent stays ""
		_ = a.CommitInfo.Get("txnId", &e.TxnID)
		var blind bool
		if a.CommitInfo.Get("isBlindAppend", &blind) {
			e.BlindAppend = &blind
		}
	}
	return e
}

// textMap reads a map whose values are strings with some writers and raw JSON
// with others.
func textMap(info *log.CommitInfo, field string) map[string]string {
	var raw map[string]jsonRaw
	if !info.Get(field, &raw) {
		return nil
	}
	out := make(map[string]string, len(raw))
	for k, v := range raw {
		out[k] = unquoted(v)
	}
	return out
}
