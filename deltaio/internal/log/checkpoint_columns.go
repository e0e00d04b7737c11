package log

import (
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// member gives the struct column of an action: null in rows of other actions.
func member[T any](name string, get func(*Action) *T, children ...*pqNode) *pqNode {
	return structNode(name, func(x any) any {
		if v := get(x.(*Action)); v != nil {
			return v
		}
		return nil
	}, children...)
}

// checkpointColumns gives the columns of a checkpoint (PROTOCOL.md, "Checkpoint
// Schema").
func checkpointColumns(stats statsColumns, v2 bool) *pqNode {
	root := structNode("", nil,
		txnColumns(), addColumns(stats), removeColumns(), metadataColumns(), protocolColumns(), domainColumns())
	if v2 {
		root.children = append(root.children,
			member("checkpointMetadata", func(a *Action) *CheckpointMetadata { return a.CheckpointMetadata },
				intLeaf("version", func(m *CheckpointMetadata) int64 { return m.Version }),
				mapNode("tags", func(m *CheckpointMetadata) map[string]string { return m.Tags })),
			// Always null here. Readers tell a V2 checkpoint by the column.
			member("sidecar", func(a *Action) *Sidecar { return a.Sidecar },
				textLeaf("path", plainText(), func(s *Sidecar) string { return s.Path }),
				intLeaf("sizeInBytes", func(s *Sidecar) int64 { return s.SizeInBytes }),
				intLeaf("modificationTime", func(s *Sidecar) int64 { return s.ModificationTime }),
				mapNode("tags", func(s *Sidecar) map[string]string { return s.Tags })))
	}
	return root
}

func txnColumns() *pqNode {
	return member("txn", func(a *Action) *Txn { return a.Txn },
		textLeaf("appId", plainText(), func(t *Txn) string { return t.AppID }),
		intLeaf("version", func(t *Txn) int64 { return t.Version }),
		optIntLeaf("lastUpdated", func(t *Txn) *int64 { return t.LastUpdated }))
}

func addColumns(stats statsColumns) *pqNode {
	var text *pqNode
	if stats.asJSON {
		text = leafNode("stats", plainText(), func(x any) (parquet.Value, bool) {
			s := x.(*Add).Stats
			return textValue(s), s != ""
		})
		text.noBounds = true
	}
	return member("add", func(a *Action) *Add { return a.Add },
		textLeaf("path", plainText(), func(a *Add) string { return a.Path }),
		partitionNode(func(a *Add) map[string]*string {
			if a.PartitionValues == nil {
				return map[string]*string{}
			}
			return a.PartitionValues
		}),
		intLeaf("size", func(a *Add) int64 { return a.Size }),
		intLeaf("modificationTime", func(a *Add) int64 { return a.ModificationTime }),
		boolLeaf("dataChange", func(*Add) bool { return false }),
		mapNode("tags", func(a *Add) map[string]string { return a.Tags }),
		dvColumns(func(x any) *DeletionVector { return x.(*Add).DeletionVector }),
		optIntLeaf("baseRowId", func(a *Add) *int64 { return a.BaseRowID }),
		optIntLeaf("defaultRowCommitVersion", func(a *Add) *int64 { return a.DefaultRowCommitVersion }),
		optTextLeaf("clusteringProvider", repeatedText(), func(a *Add) *string { return a.ClusteringProvider }),
		text, stats.stats, stats.partitions)
}

// removeColumns leaves out stats and tags, which the protocol keeps out of
// tombstones in checkpoints.
func removeColumns() *pqNode {
	return member("remove", func(a *Action) *Remove { return a.Remove },
		textLeaf("path", plainText(), func(r *Remove) string { return r.Path }),
		optIntLeaf("deletionTimestamp", func(r *Remove) *int64 { return r.DeletionTimestamp }),
		boolLeaf("dataChange", func(*Remove) bool { return false }),
		optBoolLeaf("extendedFileMetadata", func(r *Remove) *bool { return r.ExtendedFileMetadata }),
		partitionNode(func(r *Remove) map[string]*string { return r.PartitionValues }),
		optIntLeaf("size", func(r *Remove) *int64 { return r.Size }),
		dvColumns(func(x any) *DeletionVector { return x.(*Remove).DeletionVector }),
		optIntLeaf("baseRowId", func(r *Remove) *int64 { return r.BaseRowID }),
		optIntLeaf("defaultRowCommitVersion", func(r *Remove) *int64 { return r.DefaultRowCommitVersion }))
}

func dvColumns(get func(any) *DeletionVector) *pqNode {
	return structNode("deletionVector", func(x any) any {
		if d := get(x); d != nil {
			return d
		}
		return nil
	},
		textLeaf("storageType", repeatedText(), func(d *DeletionVector) string { return d.StorageType }),
		textLeaf("pathOrInlineDv", plainText(), func(d *DeletionVector) string { return d.PathOrInlineDv }),
		leafNode("offset", parquet.Int(32), func(x any) (parquet.Value, bool) {
			if o := x.(*DeletionVector).Offset; o != nil {
				return parquet.Int32Value(*o), true
			}
			return parquet.Value{}, false
		}),
		int32Leaf("sizeInBytes", func(d *DeletionVector) int32 { return d.SizeInBytes }),
		intLeaf("cardinality", func(d *DeletionVector) int64 { return d.Cardinality }))
}

func metadataColumns() *pqNode {
	return member("metaData", func(a *Action) *Metadata { return a.Metadata },
		textLeaf("id", plainText(), func(m *Metadata) string { return m.ID }),
		optTextLeaf("name", plainText(), func(m *Metadata) *string { return m.Name }),
		optTextLeaf("description", plainText(), func(m *Metadata) *string { return m.Description }),
		structNode("format", func(x any) any { return &x.(*Metadata).Format },
			textLeaf("provider", plainText(), func(f *Format) string { return f.Provider }),
			mapNode("options", func(f *Format) map[string]string { return orEmpty(f.Options) })),
		textLeaf("schemaString", plainText(), func(m *Metadata) string { return m.SchemaString }),
		listNode("partitionColumns", func(m *Metadata) []string {
			if m.PartitionColumns == nil {
				return []string{}
			}
			return m.PartitionColumns
		}),
		optIntLeaf("createdTime", func(m *Metadata) *int64 { return m.CreatedTime }),
		mapNode("configuration", func(m *Metadata) map[string]string { return orEmpty(m.Configuration) }))
}

func protocolColumns() *pqNode {
	return member("protocol", func(a *Action) *Protocol { return a.Protocol },
		int32Leaf("minReaderVersion", func(p *Protocol) int32 { return p.MinReaderVersion }),
		int32Leaf("minWriterVersion", func(p *Protocol) int32 { return p.MinWriterVersion }),
		listNode("readerFeatures", func(p *Protocol) []string { return p.ReaderFeatures }),
		listNode("writerFeatures", func(p *Protocol) []string { return p.WriterFeatures }))
}

func domainColumns() *pqNode {
	return member("domainMetadata", func(a *Action) *DomainMetadata { return a.Domain },
		textLeaf("domain", plainText(), func(d *DomainMetadata) string { return d.Domain }),
		textLeaf("configuration", plainText(), func(d *DomainMetadata) string { return d.Configuration }),
		boolLeaf("removed", func(d *DomainMetadata) bool { return d.Removed }))
}

// checkpointCodec is the table's codec, as for its data files; zstd, the
// protocol's default, where it names none or one that is not written here.
func checkpointCodec(m *Metadata) compress.Codec {
	switch strings.ToLower(m.Configuration[propCodec]) {
	case "snappy":
		return &parquet.Snappy
	case "gzip":
		return &parquet.Gzip
	case "lz4_raw":
		return &parquet.Lz4Raw
	case "none", "uncompressed":
		return &parquet.Uncompressed
	}
	return &parquet.Zstd
}
