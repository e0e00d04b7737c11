package log

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// appendAction writes an action as one line of JSON, with its line break.
func appendAction(b []byte, a *Action) ([]byte, error) {
	name, write, err := a.encoder()
	if err != nil {
		return nil, err
	}
	o := openObject(b)
	o.key(name)
	if a.Unknown != nil {
		o.b = append(o.b, oneLine(a.Unknown.Raw)...)
	} else {
		in := openObject(o.b)
		write(in)
		o.b = in.close()
	}
	return append(o.close(), '\n'), nil
}

// encoder gives the name of the action that is set and the function that writes
// its members. None or several is an error.
func (a *Action) encoder() (name string, write func(*object), err error) {
	n := 0
	put := func(set bool, action string, w func(*object)) {
		if set {
			n, name, write = n+1, action, w
		}
	}
	put(a.CommitInfo != nil, "commitInfo", a.CommitInfo.encode)
	put(a.Protocol != nil, "protocol", a.Protocol.encode)
	put(a.Metadata != nil, "metaData", a.Metadata.encode)
	put(a.Add != nil, "add", a.Add.encode)
	put(a.Remove != nil, "remove", a.Remove.encode)
	put(a.CDC != nil, "cdc", a.CDC.encode)
	put(a.Txn != nil, "txn", a.Txn.encode)
	put(a.Domain != nil, "domainMetadata", a.Domain.encode)
	put(a.Sidecar != nil, "sidecar", a.Sidecar.encode)
	put(a.CheckpointMetadata != nil, "checkpointMetadata", a.CheckpointMetadata.encode)
	if a.Unknown != nil {
		put(true, a.Unknown.Name, nil)
	}
	if n != 1 {
		return "", nil, fmt.Errorf("an action must hold exactly one member, this one holds %d", n)
	}
	return name, write, nil
}

func (a *Add) encode(o *object) {
	o.str("path", a.Path)
	values := a.PartitionValues
	if values == nil {
		values = map[string]*string{}
	}
	o.partitionValues(values)
	o.int("size", a.Size)
	o.int("modificationTime", a.ModificationTime)
	o.bool("dataChange", a.DataChange)
	if a.Stats != "" {
		o.str("stats", a.Stats)
	}
	o.strMap("tags", a.Tags)
	o.deletionVector(a.DeletionVector)
	o.optInt("baseRowId", a.BaseRowID)
	o.optInt("defaultRowCommitVersion", a.DefaultRowCommitVersion)
	o.optStr("clusteringProvider", a.ClusteringProvider)
	o.extra(a.Extra)
}

func (r *Remove) encode(o *object) {
	o.str("path", r.Path)
	o.optInt("deletionTimestamp", r.DeletionTimestamp)
	o.bool("dataChange", r.DataChange)
	if r.ExtendedFileMetadata != nil {
		o.bool("extendedFileMetadata", *r.ExtendedFileMetadata)
	}
	o.partitionValues(r.PartitionValues)
	o.optInt("size", r.Size)
	if r.Stats != "" {
		o.str("stats", r.Stats)
	}
	o.strMap("tags", r.Tags)
	o.deletionVector(r.DeletionVector)
	o.optInt("baseRowId", r.BaseRowID)
	o.optInt("defaultRowCommitVersion", r.DefaultRowCommitVersion)
	o.extra(r.Extra)
}

func (f *AddCDCFile) encode(o *object) {
	o.str("path", f.Path)
	values := f.PartitionValues
	if values == nil {
		values = map[string]*string{}
	}
	o.partitionValues(values)
	o.int("size", f.Size)
	o.bool("dataChange", f.DataChange)
	o.strMap("tags", f.Tags)
	o.extra(f.Extra)
}

func (o *object) deletionVector(v *DeletionVector) {
	if v == nil {
		return
	}
	o.key("deletionVector")
	in := openObject(o.b)
	in.str("storageType", v.StorageType)
	in.str("pathOrInlineDv", v.PathOrInlineDv)
	if v.Offset != nil {
		in.int("offset", int64(*v.Offset))
	}
	in.int("sizeInBytes", int64(v.SizeInBytes))
	in.int("cardinality", v.Cardinality)
	in.extra(v.Extra)
	o.b = in.close()
}

func (m *Metadata) encode(o *object) {
	o.str("id", m.ID)
	o.optStr("name", m.Name)
	o.optStr("description", m.Description)
	o.key("format")
	in := openObject(o.b)
	provider := m.Format.Provider
	if provider == "" {
		provider = "parquet"
	}
	in.str("provider", provider)
	in.strMap("options", orEmpty(m.Format.Options))
	o.b = in.close()
	o.str("schemaString", m.SchemaString)
	cols := m.PartitionColumns
	if cols == nil {
		cols = []string{}
	}
	o.strings("partitionColumns", cols)
	o.strMap("configuration", orEmpty(m.Configuration))
	o.optInt("createdTime", m.CreatedTime)
	o.extra(m.Extra)
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func (p *Protocol) encode(o *object) {
	o.int("minReaderVersion", int64(p.MinReaderVersion))
	o.int("minWriterVersion", int64(p.MinWriterVersion))
	o.strings("readerFeatures", p.ReaderFeatures)
	o.strings("writerFeatures", p.WriterFeatures)
	o.extra(p.Extra)
}

func (t *Txn) encode(o *object) {
	o.str("appId", t.AppID)
	o.int("version", t.Version)
	o.optInt("lastUpdated", t.LastUpdated)
	o.extra(t.Extra)
}

func (d *DomainMetadata) encode(o *object) {
	o.str("domain", d.Domain)
	o.str("configuration", d.Configuration)
	o.bool("removed", d.Removed)
	o.extra(d.Extra)
}

func (s *Sidecar) encode(o *object) {
	o.str("path", s.Path)
	o.int("sizeInBytes", s.SizeInBytes)
	o.int("modificationTime", s.ModificationTime)
	o.strMap("tags", s.Tags)
	o.extra(s.Extra)
}

func (m *CheckpointMetadata) encode(o *object) {
	o.int("version", m.Version)
	o.strMap("tags", m.Tags)
	o.extra(m.Extra)
}

// EncodeCommit gives the bytes of a commit. It refuses what the protocol forbids
// within one commit: two actions that reconcile with each other, actions that
// belong to checkpoints, a commitInfo that is not first, and paths or partition
// values that are not UTF-8, which JSON cannot hold.
func EncodeCommit(actions []Action) ([]byte, error) {
	if len(actions) == 0 {
		return nil, errors.New("encode commit: no actions")
	}
	if err := checkCommit(actions); err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	var b []byte
	for i := range actions {
		var err error
		if b, err = appendAction(b, &actions[i]); err != nil {
			return nil, fmt.Errorf("encode commit: action %d: %w", i+1, err)
		}
	}
	return b, nil
}

// checkCommit holds PROTOCOL.md, "Delta Log Entries" of the writer requirements.
func checkCommit(actions []Action) error {
	seen := map[[2]string]bool{}
	once := func(kind, key string) error {
		if seen[[2]string{kind, key}] {
			return fmt.Errorf("two %s actions for %q in one commit", kind, key)
		}
		seen[[2]string{kind, key}] = true
		return nil
	}
	for i := range actions {
		if err := checkAction(&actions[i], i == 0, once); err != nil {
			return err
		}
	}
	return nil
}

func checkAction(a *Action, first bool, once func(kind, key string) error) error {
	switch {
	case a.Add != nil:
		if err := checkText(a.Add.Path, a.Add.PartitionValues); err != nil {
			return err
		}
		return once("add", reconcilePath(a.Add.Path))
	case a.Remove != nil:
		if err := checkText(a.Remove.Path, a.Remove.PartitionValues); err != nil {
			return err
		}
		return once("remove", reconcilePath(a.Remove.Path))
	case a.CDC != nil:
		if err := checkText(a.CDC.Path, a.CDC.PartitionValues); err != nil {
			return err
		}
		return once("cdc", a.CDC.Path)
	case a.Metadata != nil:
		return once("metaData", "")
	case a.Protocol != nil:
		return once("protocol", "")
	case a.Txn != nil:
		return once("txn", a.Txn.AppID)
	case a.Domain != nil:
		return once("domainMetadata", a.Domain.Domain)
	case a.CommitInfo != nil && !first:
		return errors.New("commitInfo must be the first action")
	case a.Sidecar != nil || a.CheckpointMetadata != nil:
		return errors.New("sidecar and checkpointMetadata belong to checkpoints")
	}
	return nil
}

func checkText(path string, values map[string]*string) error {
	if path == "" || !utf8.ValidString(path) {
		return fmt.Errorf("path %q is empty or not UTF-8", path)
	}
	for k, v := range values {
		if !utf8.ValidString(k) || v != nil && !utf8.ValidString(*v) {
			return fmt.Errorf("path %q: value of partition column %q is not UTF-8", path, k)
		}
	}
	return nil
}
