package deltaio

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

const rowTrackingDomain = "delta.rowTracking"

// finish makes the actions of a version out of the planned ones: commitInfo
// first, then what depends on the version. The planned actions stay untouched,
// since the next attempt starts from them again.
func (c *committer) finish(version int64) ([]log.Action, error) {
	rest := make([]log.Action, 0, len(c.actions)+3)
	rest = append(rest, c.actions...)
	if s := c.opt.Step; s != nil {
		now := c.t.env.nowMillis()
		rest = append(rest, log.Action{Txn: &log.Txn{AppID: s.AppID, Version: s.Version, LastUpdated: &now}})
	}
	preserved := preservesRows(rest) || c.keptRowIDs()
	if c.base.rowTracking() {
		var err error
		if rest, err = assignRowIDs(rest, version, c.seen.watermark); err != nil {
			return nil, err
		}
	}
	info, err := c.info(rest, preserved)
	if err != nil {
		return nil, err
	}
	return append([]log.Action{{CommitInfo: info}}, inOrder(rest)...), nil
}

// inOrder sorts actions by kind, so that a reader meets small ones first.
func inOrder(actions []log.Action) []log.Action {
	rank := func(a log.Action) int {
		switch {
		case a.Protocol != nil:
			return 0
		case a.Metadata != nil:
			return 1
		case a.Domain != nil:
			return 2
		case a.Txn != nil:
			return 3
		case a.Remove != nil:
			return 4
		case a.Add != nil:
			return 5
		}
		return 6
	}
	out := make([]log.Action, 0, len(actions))
	for r := range 7 {
		for _, a := range actions {
			if rank(a) == r {
				out = append(out, a)
			}
		}
	}
	return out
}

func (c *committer) info(actions []log.Action, preserved bool) (*log.CommitInfo, error) {
	now := c.t.env.nowMillis()
	fields := map[string]any{}
	for k, v := range c.opt.Info {
		fields[k] = v
	}
	if c.base.state.InCommitTimestamps() {
		now = max(now, c.seen.timestamp+1)
		fields["inCommitTimestamp"] = now
	}
	fields["timestamp"] = now
	fields["operation"] = c.opt.Operation
	fields["operationParameters"] = encodeParameters(c.opt.Parameters)
	metrics := c.opt.Metrics
	if metrics == nil {
		metrics = countMetrics(actions)
	}
	fields["operationMetrics"] = encodeParameters(metrics)
	fields["engineInfo"] = c.t.env.Engine
	fields["txnId"] = c.txnID
	fields["readVersion"] = c.base.Version()
	fields["isBlindAppend"] = c.opt.BlindAppend
	fields["isolationLevel"] = c.isolation()
	if c.base.rowTracking() {
		fields["tags"] = map[string]string{"delta.rowTracking.preserved": strconv.FormatBool(preserved)}
	}
	info := &log.CommitInfo{}
	for k, v := range fields {
		if err := info.Set(k, v); err != nil {
			return nil, err
		}
	}
	return info, nil
}

func (c *committer) isolation() string {
	if c.opt.IsolationSerializable || c.base.serializable() {
		return "Serializable"
	}
	return "WriteSerializable"
}

// encodeParameters gives every value as a string, which is what readers of
// operationParameters and operationMetrics expect: strings as they are, all else
// as JSON.
func encodeParameters(in map[string]any) map[string]string {
	out := make(map[string]string, len(in))
	for k, v := range in {
		if s, ok := v.(string); ok {
			out[k] = s
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			b = []byte(fmt.Sprintf("%v", v))
		}
		out[k] = string(b)
	}
	return out
}

// countMetrics says what the actions themselves prove. Rows are left out as soon
// as one file does not tell.
func countMetrics(actions []log.Action) map[string]any {
	var added, removed, addedBytes, removedBytes, rows int64
	rowsKnown := true
	for _, a := range actions {
		switch {
		case a.Add != nil:
			added++
			addedBytes += a.Add.Size
			n, ok := liveRows(a.Add)
			rows += n
			rowsKnown = rowsKnown && ok
		case a.Remove != nil:
			removed++
			if a.Remove.Size != nil {
				removedBytes += *a.Remove.Size
			}
		}
	}
	m := map[string]any{}
	if added+removed == 0 {
		return m
	}
	m["numAddedFiles"], m["numAddedBytes"] = added, addedBytes
	m["numRemovedFiles"], m["numRemovedBytes"] = removed, removedBytes
	if rowsKnown && added > 0 {
		m["numOutputRows"] = rows
	}
	return m
}

// liveRows counts the rows of a file that its deletion vector leaves.
func liveRows(a *log.Add) (int64, bool) {
	n, ok := a.NumRecords()
	if ok && a.DeletionVector != nil {
		n -= a.DeletionVector.Cardinality
	}
	return n, ok
}

// assignRowIDs gives fresh base row ids above the watermark to every file that
// has none, and raises the watermark. Files that come back keep theirs.
func assignRowIDs(actions []log.Action, version, watermark int64) ([]log.Action, error) {
	next := watermark
	out := make([]log.Action, len(actions), len(actions)+1)
	for i, a := range actions {
		if a.Add != nil && a.Add.BaseRowID == nil {
			n, ok := a.Add.NumRecords()
			if !ok {
				return nil, fmt.Errorf("file %s: row tracking needs its row count, and its statistics do not tell", a.Add.Path)
			}
			add, base, v := *a.Add, next+1, version
			add.BaseRowID, add.DefaultRowCommitVersion = &base, &v
			a.Add, next = &add, next+n
		}
		out[i] = a
	}
	if next > watermark {
		out = append(out, log.Action{Domain: &log.DomainMetadata{
			Domain:        rowTrackingDomain,
			Configuration: fmt.Sprintf(`{"rowIdHighWaterMark":%d}`, next),
		}})
	}
	return out, nil
}

func rowWatermark(domains map[string]log.DomainMetadata) int64 {
	d, ok := domains[rowTrackingDomain]
	if !ok {
		return -1
	}
	return watermarkOf(d)
}

func watermarkOf(d log.DomainMetadata) int64 {
	v := struct {
		Mark *int64 `json:"rowIdHighWaterMark"`
	}{}
	if json.Unmarshal([]byte(d.Configuration), &v) != nil || v.Mark == nil {
		return -1
	}
	return *v.Mark
}
