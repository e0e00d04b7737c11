package deltaio

import (
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// conflict compares our actions with one commit that won meanwhile. The rules
// are those of Spark's ConflictChecker, the stricter reading where it leaves a
// choice: a protocol or metadata change always excludes us, since the gate and
// the data files were made for the old one.
func (c *committer) conflict(version int64, winner []log.Action) error {
	w := summarise(winner)
	e := &ConflictError{Table: c.t.URL(), Version: version, Operation: w.operation}
	switch {
	case w.protocol:
		e.Kind, e.Reason = ProtocolChanged, "it changed the protocol"
	case w.metadata:
		e.Kind, e.Reason = MetadataChanged, "it changed schema or properties"
	case c.domainClash(w, e), c.txnClash(w, e), c.fileClash(w, e):
	case c.deleteClash(w, e), c.appendClash(w, e):
	default:
		return nil
	}
	return e
}

// summary is what a winning commit did.
type summary struct {
	operation          string
	blindAppend        bool
	protocol, metadata bool
	txns, domains      map[string]bool
	added              []*log.Add
	removed            map[string]bool // decoded paths, whatever the deletion vector
}

func summarise(actions []log.Action) summary {
	w := summary{operation: "unknown operation", txns: map[string]bool{}, domains: map[string]bool{}, removed: map[string]bool{}}
	for _, a := range actions {
		switch {
		case a.CommitInfo != nil:
			if op := a.CommitInfo.Operation(); op != "" {
				w.operation = op
			}
			_ = a.CommitInfo.Get("isBlindAppend", &w.blindAppend) // absent: not blind, the stricter reading
		case a.Protocol != nil:
			w.protocol = true
		case a.Metadata != nil:
			w.metadata = true
		case a.Txn != nil:
			w.txns[a.Txn.AppID] = true
		case a.Domain != nil:
			w.domains[a.Domain.Domain] = true
		case a.Add != nil:
			w.added = append(w.added, a.Add)
		case a.Remove != nil:
			w.removed[a.Remove.Key().Path] = true
		}
	}
	return w
}

func (c *committer) domainClash(w summary, e *ConflictError) bool {
	for _, a := range c.actions {
		// The watermark is raised inside the commit loop: it merges.
		if a.Domain == nil || a.Domain.Domain == rowTrackingDomain || !w.domains[a.Domain.Domain] {
			continue
		}
		e.Kind, e.Reason = ConcurrentDomain, fmt.Sprintf("both change domain %s", a.Domain.Domain)
		return true
	}
	return false
}

// txnClash: our own application id moved, and not to where the step wanted it.
func (c *committer) txnClash(w summary, e *ConflictError) bool {
	ids := map[string]bool{}
	if c.opt.Step != nil {
		ids[c.opt.Step.AppID] = true
	}
	for _, a := range c.actions {
		if a.Txn != nil {
			ids[a.Txn.AppID] = true
		}
	}
	for id := range ids {
		if w.txns[id] {
			e.Kind, e.Reason = ConcurrentTxn, fmt.Sprintf("it moved application id %s", id)
			return true
		}
	}
	return false
}

// fileClash: the commit added a file whose name we add as well.
func (c *committer) fileClash(w summary, e *ConflictError) bool {
	mine := map[string]bool{}
	for _, a := range c.actions {
		if a.Add != nil {
			mine[a.Add.Key().Path] = true
		}
	}
	for _, a := range w.added {
		if p := a.Key().Path; mine[p] {
			e.Kind, e.Path, e.Reason = ConcurrentFile, p, "it added the file "+p+", which this commit adds too"
			return true
		}
	}
	return false
}

// deleteClash: a file that we remove or have read is gone, or has another
// deletion vector now.
func (c *committer) deleteClash(w summary, e *ConflictError) bool {
	if len(w.removed) == 0 {
		return false
	}
	for _, a := range c.actions {
		if a.Remove == nil {
			continue
		}
		if p := a.Remove.Key().Path; w.removed[p] {
			e.Kind, e.Path, e.Reason = ConcurrentDelete, p, "it removed the file "+p+", which this commit removes too"
			return true
		}
	}
	for k := range c.opt.Reads.Files {
		if w.removed[k.Path] {
			e.Kind, e.Path, e.Reason = ConcurrentDeleteRead, k.Path, "it removed the file "+k.Path+", which was read"
			return true
		}
	}
	if c.opt.Reads.All {
		e.Kind, e.Reason = ConcurrentDeleteRead, "it removed files, and the whole table was read"
		return true
	}
	return false
}

// appendClash: a file was added that should have been read. Blind appends pass
// under WriteSerializable: they could have come after us. They do not pass when
// we change metadata or ask for Serializable.
func (c *committer) appendClash(w summary, e *ConflictError) bool {
	reads := c.opt.Reads
	if !reads.All && reads.Predicate == nil {
		return false
	}
	strict := c.opt.IsolationSerializable || c.base.serializable() || c.changesMetadata()
	if w.blindAppend && !strict {
		return false
	}
	for _, a := range w.added {
		if reads.Predicate == nil || reads.Predicate(a) {
			e.Kind, e.Path, e.Reason = ConcurrentAppend, a.Key().Path, "it added the file "+a.Key().Path+", which should have been read"
			return true
		}
	}
	return false
}

func (c *committer) changesMetadata() bool {
	for _, a := range c.actions {
		if a.Metadata != nil || a.Protocol != nil {
			return true
		}
	}
	return false
}
