package log

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A delta is what a run of commits changes: for each key of reconciliation the
// newest action (PROTOCOL.md, "Action Reconciliation").
type delta struct {
	protocol *Protocol
	metadata *Metadata
	txns     map[string]Txn
	domains  map[string]DomainMetadata // removed ones too
	files    map[FileKey]fileAction
}

// A fileAction is the newest action on a logical file, and the commit it is of.
type fileAction struct {
	add     *Add
	remove  *Remove
	version int64
	torn    bool // the commit both adds and removes the file
}

func newDelta() *delta {
	return &delta{
		txns: map[string]Txn{}, domains: map[string]DomainMetadata{}, files: map[FileKey]fileAction{},
	}
}

// A commitDelta applies the actions of one commit; commits come oldest first. It
// owns the actions and changes them.
type commitDelta struct {
	*delta
	version   int64
	timestamp int64 // of the commit's file, for tombstones that carry none
	protocols int
	metadatas int
}

func (d *commitDelta) apply(a *Action) error {
	switch {
	case a.Add != nil:
		a.Add.DataChange = false // says something of its commit, nothing of the state
		d.file(a.Add.Key(), fileAction{add: a.Add, version: d.version})
	case a.Remove != nil:
		a.Remove.DataChange = false
		if a.Remove.DeletionTimestamp == nil {
			a.Remove.DeletionTimestamp = &d.timestamp
		}
		d.file(a.Remove.Key(), fileAction{remove: a.Remove, version: d.version})
	case a.Protocol != nil:
		d.protocol = a.Protocol
		d.protocols++
	case a.Metadata != nil:
		d.metadata = a.Metadata
		d.metadatas++
	case a.Txn != nil:
		d.txns[a.Txn.AppID] = *a.Txn
	case a.Domain != nil:
		d.domains[a.Domain.Domain] = *a.Domain
	}
	if d.protocols > 1 || d.metadatas > 1 {
		return d.corrupt("two protocol or two metaData actions in one commit: which one holds is undefined")
	}
	return nil
}

func (d *commitDelta) corrupt(reason string) error {
	return &CorruptError{Key: CommitKey(d.version), Reason: reason}
}

// file records the newest action on a file. Adding and removing one logical
// file in one commit has no order: implementations disagree on what it means.
func (d *commitDelta) file(k FileKey, a fileAction) {
	if old, ok := d.files[k]; ok && old.version == a.version {
		a.torn = old.torn || (old.add == nil) != (a.add == nil)
	}
	d.files[k] = a
}

// check finds the files whose state the commits leave undefined.
func (d *delta) check() error {
	for k, a := range d.files {
		if a.torn {
			return &CorruptError{Key: CommitKey(a.version), Reason: fmt.Sprintf(
				"it both adds and removes %s (deletion vector %q)", k.Path, k.DV)}
		}
	}
	return nil
}

// merge lays the changes over a base, which stays as it is. Version and
// Timestamp are the caller's to set.
func (d *delta) merge(base *State) (*State, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	st := &State{
		Protocol: cmp.Or(d.protocol, base.Protocol), Metadata: cmp.Or(d.metadata, base.Metadata),
		Txns: base.Txns, Domains: base.Domains, Files: base.Files, Tombstones: base.Tombstones,
	}
	if len(d.txns) > 0 {
		st.Txns = overlay(base.Txns, d.txns)
	}
	if len(d.domains) > 0 {
		st.Domains = overlay(base.Domains, d.domains)
		maps.DeleteFunc(st.Domains, func(_ string, m DomainMetadata) bool { return m.Removed })
	}
	if len(d.files) > 0 {
		if err := d.mergeFiles(st, base); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func overlay[V any](base, over map[string]V) map[string]V {
	m := make(map[string]V, len(base)+len(over))
	maps.Copy(m, base)
	maps.Copy(m, over)
	return m
}

// mergeFiles replaces what the commits touched. The base is sorted and large,
// the changes are few: they are sorted alone and merged in.
func (d *delta) mergeFiles(st, base *State) error {
	var added []*Add
	var removed []*Remove
	live := map[string]*Add{}
	for k, a := range d.files {
		if a.add == nil {
			removed = append(removed, a.remove)
			continue
		}
		if b, ok := live[k.Path]; ok {
			return liveTwice(a.add, b)
		}
		live[k.Path] = a.add
		added = append(added, a.add)
	}
	files := make([]*Add, 0, len(base.Files)+len(added))
	for _, a := range base.Files {
		k := a.Key()
		if _, ok := d.files[k]; ok {
			continue
		}
		if b, ok := live[k.Path]; ok {
			return liveTwice(a, b)
		}
		files = append(files, a)
	}
	tombstones := make([]*Remove, 0, len(base.Tombstones)+len(removed))
	for _, r := range base.Tombstones {
		if _, ok := d.files[r.Key()]; !ok {
			tombstones = append(tombstones, r)
		}
	}
	st.Files = mergeSorted(files, added, compareAdds)
	st.Tombstones = mergeSorted(tombstones, removed, compareRemoves)
	return nil
}

// mergeSorted merges the unsorted b into the sorted a.
func mergeSorted[T any](a, b []T, compare func(x, y T) int) []T {
	slices.SortFunc(b, compare)
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]T, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

func compareAdds(a, b *Add) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return strings.Compare(a.DeletionVector.ID(), b.DeletionVector.ID())
}

func compareRemoves(a, b *Remove) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return strings.Compare(a.DeletionVector.ID(), b.DeletionVector.ID())
}

// liveTwice: the rows of such a file would count twice.
func liveTwice(a, b *Add) error {
	return &CorruptError{Reason: fmt.Sprintf("data file %s is live twice, with deletion vectors %q and %q",
		a.Path, a.DeletionVector.ID(), b.DeletionVector.ID())}
}

// A base collects the actions of one checkpoint, whose rows have no order.
type base struct {
	st       *State
	sidecars []*Sidecar
	v2       *CheckpointMetadata
}

func newBase() *base {
	return &base{st: &State{Txns: map[string]Txn{}, Domains: map[string]DomainMetadata{}}}
}

func (b *base) apply(a *Action) error {
	switch {
	case a.Add != nil:
		a.Add.DataChange = false
		b.st.Files = append(b.st.Files, a.Add)
	case a.Remove != nil:
		a.Remove.DataChange = false
		b.st.Tombstones = append(b.st.Tombstones, a.Remove)
	case a.Protocol != nil:
		if b.st.Protocol != nil {
			return fmt.Errorf("two protocol actions")
		}
		b.st.Protocol = a.Protocol
	case a.Metadata != nil:
		if b.st.Metadata != nil {
			return fmt.Errorf("two metaData actions")
		}
		b.st.Metadata = a.Metadata
	case a.Txn != nil:
		if old, ok := b.st.Txns[a.Txn.AppID]; ok && old.Version != a.Txn.Version {
			return fmt.Errorf("two versions of txn %q", a.Txn.AppID)
		}
		b.st.Txns[a.Txn.AppID] = *a.Txn
	case a.Domain != nil:
		b.st.Domains[a.Domain.Domain] = *a.Domain
	case a.Sidecar != nil:
		b.sidecars = append(b.sidecars, a.Sidecar)
	case a.CheckpointMetadata != nil:
		b.v2 = a.CheckpointMetadata
	}
	return nil
}

// finish turns the collected actions into a state, or says what makes them no
// complete one.
func (b *base) finish(version int64) (*State, error) {
	st := b.st
	switch {
	case st.Protocol == nil:
		return nil, fmt.Errorf("no protocol")
	case st.Metadata == nil:
		return nil, fmt.Errorf("no metaData")
	case b.v2 != nil && b.v2.Version != version:
		return nil, fmt.Errorf("checkpointMetadata is of version %d", b.v2.Version)
	}
	st.Version = version
	maps.DeleteFunc(st.Domains, func(_ string, m DomainMetadata) bool { return m.Removed })
	slices.SortFunc(st.Files, compareAdds)
	live := make(map[string]*Add, len(st.Files))
	for _, a := range st.Files {
		p := reconcilePath(a.Path)
		if b, ok := live[p]; ok {
			return nil, liveTwice(a, b)
		}
		live[p] = a
	}
	st.Tombstones = b.tombstones(live)
	return st, nil
}

// tombstones drops those of live files, which some writers leave in, and
// repeated ones.
func (b *base) tombstones(live map[string]*Add) []*Remove {
	kept := slices.DeleteFunc(b.st.Tombstones, func(r *Remove) bool {
		a, ok := live[reconcilePath(r.Path)]
		return ok && a.Key() == r.Key()
	})
	slices.SortFunc(kept, compareRemoves)
	return slices.CompactFunc(kept, func(a, b *Remove) bool { return a.Key() == b.Key() })
}

// validate holds what every state must satisfy.
func (st *State) validate() error {
	switch {
	case st.Protocol == nil:
		return &CorruptError{Reason: fmt.Sprintf("version %d has no protocol action", st.Version)}
	case st.Metadata == nil:
		return &CorruptError{Reason: fmt.Sprintf("version %d has no metaData action", st.Version)}
	case st.Protocol.MinReaderVersion > 3:
		return &ProtocolError{MinReaderVersion: st.Protocol.MinReaderVersion, Reason: "this version of the protocol is not known here"}
	case st.Protocol.MinReaderVersion == 3 && st.Protocol.ReaderFeatures == nil:
		return &ProtocolError{MinReaderVersion: 3, Reason: "the protocol action lists no readerFeatures, which version 3 demands"}
	}
	// The catalog alone knows the newest commits of such a table.
	for _, f := range []string{"catalogManaged", "catalogOwned-preview"} {
		if st.Protocol.HasReaderFeature(f) {
			return &ProtocolError{MinReaderVersion: 3, Feature: f, Reason: "its catalog keeps the commits, the log in storage is not the whole truth"}
		}
	}
	return nil
}
