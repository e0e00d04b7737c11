package log

import (
	"context"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// readActions reads the actions of a checkpoint file in Parquet, row by row.
// Columns that are missing count as null.
func readActions(ctx context.Context, s storage.Store, file parquetFile, in *interner, each func(*Action) error) error {
	data, err := storage.ReadAll(ctx, s, file.key, maxCheckpointFile)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if size := int64(len(data)); file.size > 0 && size != file.size {
		return &CorruptError{Key: file.key, Reason: fmt.Sprintf("%d bytes, but the checkpoint says %d", size, file.size)}
	}
	err = recovered(func() error {
		f, err := openParquet(data)
		if err != nil {
			return err
		}
		return scanActions(ctx, f, in, each)
	})
	if err != nil && ctx.Err() == nil {
		err = &CorruptError{Key: file.key, Reason: "checkpoint does not read", Err: err}
	}
	return err
}

func scanActions(ctx context.Context, f *parquet.File, in *interner, each func(*Action) error) error {
	onlyKnown, err := strict(f.Root())
	if err != nil {
		return err
	}
	rows := &rowReader{in: in}
	read := bindActions(rows, f.Root())
	defer func() {
		for _, l := range rows.leaves {
			l.close()
		}
	}()
	for i, g := range f.RowGroups() {
		for _, l := range rows.leaves {
			l.open(g)
		}
		for rows.row = 0; rows.row < g.NumRows(); rows.row++ {
			if rows.row&0xfff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			a, ok := read()
			switch {
			case rows.err != nil:
				return rows.err
			case !ok && onlyKnown:
				return fmt.Errorf("row %d holds no action", rows.row)
			case !ok: // an action of a later protocol
				continue
			}
			if err := each(&a); err != nil {
				return err
			}
		}
		for _, l := range rows.leaves {
			if err := l.checkNulls(&f.Metadata().RowGroups[i]); err != nil {
				return err
			}
		}
	}
	return rows.err
}

// bindActions finds the columns of all actions; the function it returns reads
// the action of the current row.
func bindActions(r *rowReader, root *parquet.Column) func() (Action, bool) {
	top := group{r, root}
	add, remove := bindAdd(top.group("add")), bindRemove(top.group("remove"))
	metadata, protocol := bindMetadata(top.group("metaData")), bindProtocol(top.group("protocol"))
	txn, domain := bindTxn(top.group("txn")), bindDomain(top.group("domainMetadata"))
	sidecar, v2 := bindSidecar(top.group("sidecar")), bindCheckpointMetadata(top.group("checkpointMetadata"))
	for _, l := range r.leaves {
		l.root = root
	}
	return func() (a Action, ok bool) {
		n := 0
		if a.Add = add(); a.Add != nil {
			n++
		}
		if a.Remove = remove(); a.Remove != nil {
			n++
		}
		if n == 0 {
			a.Metadata, a.Protocol, a.Txn = metadata(), protocol(), txn()
			a.Domain, a.Sidecar, a.CheckpointMetadata = domain(), sidecar(), v2()
			n = a.members()
		}
		if n > 1 {
			r.fail("row %d holds two actions", r.row)
		}
		return a, n == 1
	}
}

func (a *Action) members() (n int) {
	for _, set := range []bool{
		a.Metadata != nil, a.Protocol != nil, a.Txn != nil, a.Domain != nil,
		a.Sidecar != nil, a.CheckpointMetadata != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

// required reads the column that is never null in an action that is there, and
// so tells whether it is there.
func (g group) required(l *leaf) func() (string, bool) {
	r := g.r
	if g.col != nil && l == nil {
		r.fail("column %v lacks its key", g.col.Path())
	}
	return func() (string, bool) {
		v := r.values(l)
		if len(v) != 1 {
			return "", false
		}
		if !v[0].IsNull() {
			s := string(v[0].ByteArray())
			if s == "" {
				r.fail("row %d: column %v is empty", r.row, l.col.Path())
			}
			return s, s != ""
		}
		if v[0].DefinitionLevel() > 0 && l.maxDef > 1 {
			r.fail("row %d: column %v is null", r.row, l.col.Path())
		}
		return "", false
	}
}

func bindAdd(g group) func() *Add {
	r, path := g.r, g.required(g.str("path"))
	partitions, tags := g.strMap("partitionValues"), g.strMap("tags")
	size, modified, change := g.int("size"), g.int("modificationTime"), g.bool("dataChange")
	stats, clustering := g.str("stats"), g.str("clusteringProvider")
	rowID, rowVersion := g.int("baseRowId"), g.int("defaultRowCommitVersion")
	dv := bindDV(g.group("deletionVector"))
	statsParsed, partitionsParsed := bindText(g, "stats_parsed"), bindText(g, "partitionValues_parsed")
	return func() *Add {
		p, ok := path()
		if !ok {
			return nil
		}
		a := &Add{Path: p, DataChange: r.bool(change, false)}
		if a.Size, ok = r.int(size); !ok {
			r.fail("row %d: %s has no size", r.row, p)
		}
		a.ModificationTime, _ = r.int(modified)
		if a.PartitionValues = r.partitionValues(partitions); a.PartitionValues == nil {
			a.PartitionValues = partitionsParsed.partitionValues()
		}
		if a.Stats, ok = r.str(stats); !ok {
			a.Stats = statsParsed.json()
		}
		a.Tags, a.DeletionVector, a.ClusteringProvider = r.strMap(tags), dv(), r.optStr(clustering)
		a.BaseRowID, a.DefaultRowCommitVersion = r.optInt(rowID), r.optInt(rowVersion)
		return a
	}
}

func bindRemove(g group) func() *Remove {
	r, path := g.r, g.required(g.str("path"))
	partitions, tags, stats := g.strMap("partitionValues"), g.strMap("tags"), g.str("stats")
	deleted, size := g.int("deletionTimestamp"), g.int("size")
	change, extended := g.bool("dataChange"), g.bool("extendedFileMetadata")
	rowID, rowVersion := g.int("baseRowId"), g.int("defaultRowCommitVersion")
	dv := bindDV(g.group("deletionVector"))
	return func() *Remove {
		p, ok := path()
		if !ok {
			return nil
		}
		d := &Remove{Path: p, DataChange: r.bool(change, true)}
		d.DeletionTimestamp, d.Size, d.ExtendedFileMetadata = r.optInt(deleted), r.optInt(size), r.optBool(extended)
		d.PartitionValues, d.Tags, d.DeletionVector = r.partitionValues(partitions), r.strMap(tags), dv()
		d.Stats, _ = r.str(stats)
		d.BaseRowID, d.DefaultRowCommitVersion = r.optInt(rowID), r.optInt(rowVersion)
		return d
	}
}

func bindDV(g group) func() *DeletionVector {
	r := g.r
	kind, path, offset := g.str("storageType"), g.str("pathOrInlineDv"), g.int("offset")
	size, cardinality := g.int("sizeInBytes"), g.int("cardinality")
	return func() *DeletionVector {
		k, ok := r.str(kind)
		if !ok {
			return nil
		}
		d := &DeletionVector{StorageType: k}
		var ok1, ok2, ok3 bool
		d.PathOrInlineDv, ok1 = r.str(path)
		d.SizeInBytes, ok2 = r.int32(size)
		d.Cardinality, ok3 = r.int(cardinality)
		if !ok1 || !ok2 || !ok3 || k == "" || d.PathOrInlineDv == "" {
			r.fail("row %d: deletion vector is not complete", r.row)
		}
		if n, ok := r.int32(offset); ok {
			d.Offset = &n
		}
		return d
	}
}

func bindMetadata(g group) func() *Metadata {
	r, id := g.r, g.required(g.str("id"))
	name, description, schema := g.str("name"), g.str("description"), g.str("schemaString")
	f := g.group("format")
	provider, options := f.str("provider"), f.strMap("options")
	columns, created, configuration := g.list("partitionColumns"), g.int("createdTime"), g.strMap("configuration")
	return func() *Metadata {
		s, ok := id()
		if !ok {
			return nil
		}
		m := &Metadata{ID: s, Name: r.optStr(name), Description: r.optStr(description), CreatedTime: r.optInt(created)}
		if m.SchemaString, ok = r.str(schema); !ok {
			r.fail("row %d: metaData has no schemaString", r.row)
		}
		m.Format.Provider, _ = r.str(provider)
		m.Format.Options, m.Configuration = orEmpty(r.strMap(options)), orEmpty(r.strMap(configuration))
		if m.PartitionColumns = r.list(columns); m.PartitionColumns == nil {
			m.PartitionColumns = []string{}
		}
		return m
	}
}

func bindProtocol(g group) func() *Protocol {
	r := g.r
	reader, writer := g.int("minReaderVersion"), g.int("minWriterVersion")
	readerFeatures, writerFeatures := g.list("readerFeatures"), g.list("writerFeatures")
	return func() *Protocol {
		v, ok := r.int32(reader)
		if !ok {
			return nil
		}
		p := &Protocol{MinReaderVersion: v}
		if p.MinWriterVersion, ok = r.int32(writer); !ok {
			r.err = errors.Join(r.err, errors.New("protocol has no minWriterVersion"))
		}
		p.ReaderFeatures, p.WriterFeatures = r.list(readerFeatures), r.list(writerFeatures)
		return p
	}
}

func bindTxn(g group) func() *Txn {
	r, app, version, updated := g.r, g.str("appId"), g.int("version"), g.int("lastUpdated")
	return func() *Txn {
		id, ok := r.str(app)
		if !ok {
			return nil
		}
		t := &Txn{AppID: id, LastUpdated: r.optInt(updated)}
		if t.Version, ok = r.int(version); !ok {
			r.fail("row %d: txn %q has no version", r.row, id)
		}
		return t
	}
}

func bindDomain(g group) func() *DomainMetadata {
	r, domain, configuration, removed := g.r, g.str("domain"), g.str("configuration"), g.bool("removed")
	return func() *DomainMetadata {
		name, ok := r.str(domain)
		if !ok {
			return nil
		}
		m := &DomainMetadata{Domain: name, Removed: r.bool(removed, false)}
		m.Configuration, _ = r.str(configuration)
		return m
	}
}

func bindSidecar(g group) func() *Sidecar {
	r, path := g.r, g.required(g.str("path"))
	size, modified, tags := g.int("sizeInBytes"), g.int("modificationTime"), g.strMap("tags")
	return func() *Sidecar {
		p, ok := path()
		if !ok {
			return nil
		}
		s := &Sidecar{Path: p, Tags: r.strMap(tags)}
		s.SizeInBytes, _ = r.int(size)
		s.ModificationTime, _ = r.int(modified)
		return s
	}
}

func bindCheckpointMetadata(g group) func() *CheckpointMetadata {
	r, version, tags := g.r, g.int("version"), g.strMap("tags")
	return func() *CheckpointMetadata {
		v, ok := r.int(version)
		if !ok {
			return nil
		}
		return &CheckpointMetadata{Version: v, Tags: r.strMap(tags)}
	}
}
