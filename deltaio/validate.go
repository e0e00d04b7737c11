package deltaio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// checkActions refuses sets of actions that would damage the table: what the
// protocol forbids within a commit, and removes or adds that do not fit the live
// files of the base.
func (s *Snapshot) checkActions(actions []log.Action) error {
	v := validator{s: s, live: map[string][]FileKey{}, seen: map[string]bool{}, removes: map[FileKey]bool{}}
	touched := map[string]bool{}
	for _, a := range actions {
		if a.Add != nil {
			touched[a.Add.Key().Path] = true
		}
		if a.Remove != nil {
			touched[a.Remove.Key().Path] = true
		}
	}
	for _, f := range s.state.Files {
		if k := f.Key(); touched[k.Path] {
			v.live[k.Path] = append(v.live[k.Path], k)
		}
	}
	// Removes first: whether an add fits depends on them.
	for _, a := range actions {
		if a.Remove != nil {
			v.remove(a.Remove)
		}
	}
	for _, a := range actions {
		v.action(a)
	}
	if len(v.bad) == 0 {
		return nil
	}
	return &InvalidActionsError{Reason: strings.Join(v.bad, "; ")}
}

type validator struct {
	s       *Snapshot
	live    map[string][]FileKey
	seen    map[string]bool // kind and identity of each action
	removes map[FileKey]bool
	bad     []string
}

func (v *validator) fail(format string, args ...any) {
	if len(v.bad) < 5 { // one reason is enough to stop; five are enough to understand
		v.bad = append(v.bad, fmt.Sprintf(format, args...))
	}
}

// once fails on the second action of one identity.
func (v *validator) once(what string) {
	if v.seen[what] {
		v.fail("two actions for %s", what)
	}
	v.seen[what] = true
}

func (v *validator) action(a log.Action) {
	switch {
	case a.Add != nil:
		v.add(a.Add)
	case a.Remove != nil: // done before
	case a.CDC != nil:
		v.cdc(a.CDC)
	case a.Metadata != nil:
		v.metadata(a.Metadata)
	case a.Protocol != nil:
		v.protocol(a.Protocol)
	case a.Txn != nil:
		v.once("txn " + a.Txn.AppID)
	case a.Domain != nil:
		v.domain(a.Domain)
	default:
		v.fail("an action that does not belong into a commit's plan")
	}
}

func (v *validator) remove(r *log.Remove) {
	k := r.Key()
	v.once("remove " + k.Path)
	v.removes[k] = true
	if !slices.Contains(v.live[k.Path], k) {
		v.fail("remove %s (deletion vector %q) matches no live file", k.Path, k.DV)
	}
	if r.DeletionTimestamp == nil {
		v.fail("remove %s has no deletionTimestamp", k.Path)
	}
	if r.DataChange && v.s.flag(propAppendOnly) && v.s.supports("appendOnly") {
		v.fail("remove %s from an append-only table", k.Path)
	}
}

func (v *validator) add(a *log.Add) {
	k := a.Key()
	v.once("add " + k.Path)
	if _, err := log.DecodePath(a.Path); err != nil {
		v.fail("add: %v", err)
	}
	if v.removes[k] {
		v.fail("add and remove of the same file %s", k.Path)
	}
	for _, l := range v.live[k.Path] {
		switch {
		case l == k && a.DataChange:
			v.fail("add %s, which is live already", k.Path)
		case l != k && !v.removes[l]:
			v.fail("add %s, which is live with another deletion vector", k.Path)
		}
	}
	if a.Size < 0 {
		v.fail("add %s: size %d", k.Path, a.Size)
	}
	v.partition(k.Path, a.PartitionValues)
	if _, ok := a.NumRecords(); a.DeletionVector != nil && !ok {
		v.fail("add %s: a deletion vector needs numRecords", k.Path)
	}
	if a.DeletionVector != nil && !v.s.supports("deletionVectors") {
		v.fail("add %s: a deletion vector on a table without the feature", k.Path)
	}
}

func (v *validator) cdc(c *log.AddCDCFile) {
	v.once("cdc " + c.Path)
	key, err := log.DecodePath(c.Path)
	if err != nil {
		v.fail("cdc: %v", err)
	} else if !strings.HasPrefix(key, changeDataDir+"/") {
		v.fail("cdc %s lies outside %s", key, changeDataDir)
	}
	if c.DataChange {
		v.fail("cdc %s with dataChange", c.Path)
	}
	v.partition(c.Path, c.PartitionValues)
}

// partition wants a value for exactly the partition columns.
func (v *validator) partition(path string, values map[string]*string) {
	cols := v.s.physicalPartition()
	for _, c := range cols {
		if _, ok := values[c]; !ok {
			v.fail("%s: no value for partition column %s", path, c)
		}
	}
	if len(values) > len(cols) {
		v.fail("%s: values for columns that do not partition the table", path)
	}
}

func (v *validator) metadata(m *log.Metadata) {
	v.once("metaData")
	old := v.s.state.Metadata
	if m.ID != old.ID {
		v.fail("the table's id would change from %s to %s", old.ID, m.ID)
	}
	if !slices.Equal(m.PartitionColumns, old.PartitionColumns) {
		v.fail("the partition columns would change")
	}
	if _, err := schema.Parse(m.SchemaString); err != nil {
		v.fail("%v", err)
	}
}

func (v *validator) protocol(p *log.Protocol) {
	v.once("protocol")
	old := v.s.state.Protocol
	if p.MinReaderVersion < old.MinReaderVersion || p.MinWriterVersion < old.MinWriterVersion {
		v.fail("the protocol would be lowered")
	}
	for _, f := range old.WriterFeatures {
		if !slices.Contains(p.WriterFeatures, f) {
			v.fail("feature %s would be removed", f)
		}
	}
}

func (v *validator) domain(d *log.DomainMetadata) {
	v.once("domain " + d.Domain)
	if strings.HasPrefix(d.Domain, "delta.") {
		v.fail("domain %s belongs to the protocol", d.Domain)
	}
	if !v.s.supports("domainMetadata") {
		v.fail("domain %s on a table without the feature", d.Domain)
	}
}
