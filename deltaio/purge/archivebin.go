package purge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// binBytes bounds the source files that are archived together: small ones of a
// partition become one file of the archive. Bins are written side by side, so
// that it is also the size from which a table without partitions keeps several
// cores busy; it does not depend on the worker, so that another one finds what
// was staged.
const binBytes = 32 << 20

// bin is a group of source files of one partition.
type bin struct {
	files       []*leavingFile
	rows, bytes int64
	partition   string
}

func makeBins(set *leaving) []*bin {
	var out []*bin
	open := map[string]*bin{}
	for _, f := range set.files {
		if f.rows == 0 {
			continue
		}
		p := set.judge.parts.key(f.add)
		b := open[p]
		if b == nil || b.bytes+f.add.Size > binBytes {
			b = &bin{partition: p}
			open[p] = b
			out = append(out, b)
		}
		b.files = append(b.files, f)
		b.rows += f.rows
		b.bytes += f.add.Size
	}
	return out
}

// bin stages one group, or finds it staged by an earlier call.
func (a *archiving) bin(ctx context.Context, set *leaving, base *deltaio.Snapshot, b *bin) (stagedRecord, error) {
	digest := a.binDigest(set, base, b)
	if rec, ok, err := a.stager.reuse(ctx, a.dst.Store(), digest); err != nil || ok {
		return rec, err
	}
	sources := make([]archivedFile, len(b.files))
	rows := func(yield func(arrow.Record, error) bool) {
		for i, f := range b.files {
			if !a.file(ctx, set, f, &sources[i], yield) {
				return
			}
		}
	}
	files, err := base.Stage(ctx, deltaio.StageOptions{Name: a.stager.fileName}, rows)
	if err != nil {
		return stagedRecord{}, err
	}
	rec := stagedRecord{Digest: digest, Done: true, Files: files}
	for _, f := range files {
		rec.Keys = append(rec.Keys, f.Key)
	}
	if rec.Note, err = json.Marshal(sources); err != nil {
		return stagedRecord{}, err
	}
	if _, err = a.stager.tell(ctx, "", rec); err == nil {
		a.stager.remember(rec)
	}
	return rec, err
}

func (a *archiving) binDigest(set *leaving, base *deltaio.Snapshot, b *bin) string {
	h := sha256.New()
	put(h, "archive", set.content.schema.JSON(), base.State().Metadata.SchemaString, a.opt.ID, a.opt.ArchivedAt.UTC().Format(time.RFC3339Nano))
	for _, f := range b.files {
		k := f.add.Key()
		put(h, k.Path, k.DV, f.maskDigest())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// file yields the leaving rows of one source file as the archive wants them, and
// hashes exactly what it yields. false: stop.
func (a *archiving) file(ctx context.Context, set *leaving, f *leavingFile, out *archivedFile, yield func(arrow.Record, error) bool) bool {
	k := f.add.Key()
	*out = archivedFile{Path: k.Path, DV: k.DV, Mask: f.maskDigest()}
	file, err := set.snap.OpenFile(ctx, f.add)
	if err != nil {
		yield(nil, err)
		return false
	}
	defer file.Close() // nothing was written
	mask := f.mask
	if mask == nil {
		mask = file.Live()
	}
	for rec, err := range a.dressed(set, chosen(ctx, file, set.content.columns, mask), &out.Sum) {
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", f.add.Path, err))
			return false
		}
		if !yield(rec, nil) {
			return false
		}
	}
	if f.expected != nil && f.all() && *f.expected != out.Sum {
		yield(nil, &CorruptionError{File: f.add.Path, Got: out.Sum, Want: *f.expected})
		return false
	}
	return true
}

// dressed hashes records and gives them the archive's column names and its two
// columns.
func (a *archiving) dressed(set *leaving, in iter.Seq2[arrow.Record, error], sum *rowhash.Sum) iter.Seq2[arrow.Record, error] {
	hashed := func(yield func(arrow.Record, error) bool) {
		for rec, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			s, err := set.content.hasher.Sum(rec)
			if err != nil {
				rec.Release()
				yield(nil, err)
				return
			}
			*sum = sum.Add(s)
			named := renameColumns(rec, a.fit.names)
			rec.Release()
			if !yield(named, nil) {
				return
			}
		}
	}
	withRun := withConst(hashed, a.fit.names[RunIDColumn], arrow.BinaryTypes.String, a.opt.ID)
	at := arrow.FixedWidthTypes.Timestamp_us
	return withConst(withRun, a.fit.names[ArchivedAtColumn], at, a.opt.ArchivedAt.UnixMicro())
}

// renameColumns gives columns other names; those without an entry keep theirs.
func renameColumns(rec arrow.Record, names map[string]string) arrow.Record {
	fields := slices.Clone(rec.Schema().Fields())
	for i := range fields {
		if n, ok := names[fields[i].Name]; ok {
			fields[i].Name = n
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), rec.Columns(), rec.NumRows())
}
