package log

import (
	"encoding/json"
	"strconv"
)

// Action is one line of a commit: exactly one member is set.
type Action struct {
	CommitInfo         *CommitInfo
	Protocol           *Protocol
	Metadata           *Metadata
	Add                *Add
	Remove             *Remove
	CDC                *AddCDCFile
	Txn                *Txn
	Domain             *DomainMetadata
	Sidecar            *Sidecar
	CheckpointMetadata *CheckpointMetadata
	Unknown            *UnknownAction
}

// Extra holds the fields of an action that this package does not know, as raw
// JSON. They are written back as they came.
type Extra map[string]json.RawMessage

// Protocol says which versions and features a reader or writer must know.
type Protocol struct {
	MinReaderVersion int32
	MinWriterVersion int32
	ReaderFeatures   []string // nil when absent, empty when an empty list
	WriterFeatures   []string
	Extra            Extra
}

// Format is the encoding of the data files; always parquet in practice.
type Format struct {
	Provider string
	Options  map[string]string
}

// Metadata describes the table: identity, schema, partitioning, properties.
type Metadata struct {
	ID               string
	Name             *string
	Description      *string
	Format           Format
	SchemaString     string
	PartitionColumns []string // logical names
	CreatedTime      *int64   // ms
	Configuration    map[string]string
	Extra            Extra
}

// Add makes a logical file (path and deletion vector) part of the table.
type Add struct {
	Path                    string             // as in the log: a URI, see DecodePath
	PartitionValues         map[string]*string // by physical name; nil is null
	Size                    int64
	ModificationTime        int64 // ms
	DataChange              bool
	Stats                   string // raw JSON; "" when unknown
	Tags                    map[string]string
	DeletionVector          *DeletionVector
	BaseRowID               *int64
	DefaultRowCommitVersion *int64
	ClusteringProvider      *string
	Extra                   Extra
}

// Remove takes a logical file out of the table and stays as its tombstone.
type Remove struct {
	Path                    string
	DeletionTimestamp       *int64 // ms
	DataChange              bool
	ExtendedFileMetadata    *bool
	PartitionValues         map[string]*string // nil when absent
	Size                    *int64
	Stats                   string
	Tags                    map[string]string
	DeletionVector          *DeletionVector
	BaseRowID               *int64
	DefaultRowCommitVersion *int64
	Extra                   Extra
}

// AddCDCFile names a file of row-level changes of its commit (action cdc).
type AddCDCFile struct {
	Path            string
	PartitionValues map[string]*string
	Size            int64
	DataChange      bool
	Tags            map[string]string
	Extra           Extra
}

// Txn records how far an application has come (action txn).
type Txn struct {
	AppID       string
	Version     int64
	LastUpdated *int64 // ms
	Extra       Extra
}

// DomainMetadata is the configuration of a named domain; Removed makes it a
// tombstone.
type DomainMetadata struct {
	Domain        string
	Configuration string
	Removed       bool
	Extra         Extra
}

// CommitInfo is the provenance of a commit: free-form fields, kept raw.
type CommitInfo struct {
	Fields map[string]json.RawMessage
}

// Sidecar names a Parquet file of file actions that belongs to a V2 checkpoint.
type Sidecar struct {
	Path             string
	SizeInBytes      int64
	ModificationTime int64
	Tags             map[string]string
	Extra            Extra
}

// CheckpointMetadata marks a V2 checkpoint.
type CheckpointMetadata struct {
	Version int64
	Tags    map[string]string
	Extra   Extra
}

// UnknownAction is an action of a name this package does not know.
type UnknownAction struct {
	Name string
	Raw  json.RawMessage
}

// Storage types of a deletion vector.
const (
	DVInline   = "i" // in the log itself
	DVRelative = "u" // in a file named by a UUID under the table's root
	DVAbsolute = "p" // in a file of an absolute path
)

// DeletionVector describes where the set of deleted rows of a file lies. Package
// dv reads and writes the set itself.
type DeletionVector struct {
	StorageType    string
	PathOrInlineDv string
	Offset         *int32
	SizeInBytes    int32
	Cardinality    int64
	Extra          Extra
}

// ID identifies the deletion vector among those of one data file: the
// protocol's uniqueId. A nil descriptor has the ID "".
func (d *DeletionVector) ID() string {
	switch {
	case d == nil:
		return ""
	case d.Offset == nil:
		return d.StorageType + d.PathOrInlineDv
	}
	return d.StorageType + d.PathOrInlineDv + "@" + strconv.FormatInt(int64(*d.Offset), 10)
}

// FileKey identifies a logical file: the key of reconciliation. Path is decoded,
// so that two spellings of one URI are one file.
type FileKey struct{ Path, DV string }

// Key gives the file's identity.
func (a *Add) Key() FileKey { return FileKey{reconcilePath(a.Path), a.DeletionVector.ID()} }

// Key gives the identity of the file that was removed.
func (r *Remove) Key() FileKey { return FileKey{reconcilePath(r.Path), r.DeletionVector.ID()} }

// Remove builds the action that takes the file out of the table: everything the
// log knows about it is carried over, so that the tombstone alone can restore
// it.
func (a *Add) Remove(deletionMillis int64, dataChange bool) *Remove {
	extended, size := true, a.Size
	return &Remove{
		Path: a.Path, DeletionTimestamp: &deletionMillis, DataChange: dataChange,
		ExtendedFileMetadata: &extended, PartitionValues: a.PartitionValues, Size: &size,
		Stats: a.Stats, Tags: a.Tags, DeletionVector: a.DeletionVector,
		BaseRowID: a.BaseRowID, DefaultRowCommitVersion: a.DefaultRowCommitVersion,
	}
}

// HasReaderFeature says whether readers of the table must know the feature. It
// looks at the list alone, not at what a legacy version implies.
func (p *Protocol) HasReaderFeature(name string) bool { return contains(p.ReaderFeatures, name) }

// HasWriterFeature says whether writers of the table must know the feature. It
// looks at the list alone, not at what a legacy version implies.
func (p *Protocol) HasWriterFeature(name string) bool { return contains(p.WriterFeatures, name) }

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}
