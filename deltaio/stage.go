package deltaio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// changeDataDir holds change data files.
const changeDataDir = "_change_data"

// StagedFile is a data file that lies in storage and is not committed yet.
type StagedFile struct {
	Add  *log.Add // ready for a commit, dataChange true
	Key  string   // storage key
	Rows int64
	// Row groups by the way they were written (rewrites only).
	RawCopied, Split, Decoded int
	Fallback                  string // why the fast way was not taken, if it was not
}

// StageOptions say how rows become data files.
type StageOptions struct {
	// Name makes each file's name. Nil: "part-<id>.parquet".
	Name func() string
	// TargetBytes of a file. 0: delta.targetFileSize, else 256 MiB.
	TargetBytes int64
}

// ChangeType is the _change_type of a row in a change data file.
type ChangeType string

// The change types of the protocol.
const (
	ChangeInsert    ChangeType = "insert"
	ChangePreimage  ChangeType = "update_preimage"
	ChangePostimage ChangeType = "update_postimage"
	ChangeDelete    ChangeType = "delete"
)

// Stage checks batches against schema and constraints, splits them by partition
// values, and writes data files without committing them. After an error it has
// taken back what it wrote, as far as the store let it.
func (s *Snapshot) Stage(ctx context.Context, opt StageOptions, batches iter.Seq2[arrow.Record, error]) ([]*StagedFile, error) {
	if err := s.Check(WantAppend); err != nil {
		return nil, err
	}
	st, err := s.newStager(opt)
	if err != nil {
		return nil, err
	}
	st.check = s.enforce
	return st.run(ctx, batches)
}

// StageChanges writes rows as change data files of one type. They are due in
// any commit that updates rows or deletes some rows of a file when
// ChangeFeed() says so, and must then be complete for that commit.
func (s *Snapshot) StageChanges(ctx context.Context, kind ChangeType, batches iter.Seq2[arrow.Record, error]) ([]*log.AddCDCFile, error) {
	st, err := s.newStager(StageOptions{Name: func() string { return "cdc-" + s.table.env.NewID() + ".parquet" }})
	if err != nil {
		return nil, err
	}
	st.root = changeDataDir + "/"
	st.columns = append(st.columns, pq.Column{
		Field: schema.Field{Name: "_change_type", Type: schema.String, Nullable: true}, IsConst: true, Const: string(kind),
	})
	files, err := st.run(ctx, batches)
	if err != nil {
		return nil, err
	}
	out := make([]*log.AddCDCFile, len(files))
	for i, f := range files {
		out[i] = &log.AddCDCFile{Path: f.Add.Path, PartitionValues: f.Add.PartitionValues, Size: f.Add.Size}
	}
	return out, nil
}

// DataKey is the storage key of a data file called name in the directory of its
// partition.
func (s *Snapshot) DataKey(partition map[string]*string, name string) string {
	if dir := log.PartitionDir(s.physicalPartition(), partition); dir != "" {
		return dir + "/" + name
	}
	return name
}

// RemoveOf is the remove action for a live file, everything the protocol wants
// of it copied.
func RemoveOf(add *log.Add, deletionTimestamp int64, dataChange bool) *log.Remove {
	return add.Remove(deletionTimestamp, dataChange)
}

// KeyOf is the identity of a logical file.
func KeyOf(add *log.Add) FileKey { return add.Key() }

// stager turns batches into files, one open file per partition.
type stager struct {
	snap    *Snapshot
	opt     StageOptions
	target  int64
	codec   string
	columns []pq.Column // those written; partition values are added per file
	root    string      // prefix of keys
	check   func(arrow.Record) error
	indexed func(path []string) bool

	open map[string]*openFile // by partition directory
	done []*StagedFile
	rows int64
}

// maxOpenFiles bounds the memory of rows that arrive for many partitions at
// once: each open file holds up to one encoded row group.
const maxOpenFiles = 32

type openFile struct {
	key       string
	partition map[string]*string
	w         storage.Writer
	pq        *pq.Writer
}

func (s *Snapshot) newStager(opt StageOptions) (*stager, error) {
	if opt.Name == nil {
		opt.Name = func() string { return "part-" + s.table.env.NewID() + ".parquet" }
	}
	codec, err := s.codec("zstd")
	if err != nil {
		return nil, err
	}
	target, err := s.targetBytes(opt.TargetBytes)
	if err != nil {
		return nil, err
	}
	indexed, err := s.indexed()
	if err != nil {
		return nil, err
	}
	return &stager{
		snap: s, opt: opt, target: target, codec: codec, indexed: indexed,
		columns: s.writtenColumns(), open: map[string]*openFile{},
	}, nil
}

func (st *stager) run(ctx context.Context, batches iter.Seq2[arrow.Record, error]) (files []*StagedFile, err error) {
	defer func() {
		if err != nil {
			st.takeBack(ctx)
		}
	}()
	for rec, err := range batches {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := st.batch(ctx, rec); err != nil {
			return nil, fmt.Errorf("%s: append: %w", st.snap.table.URL(), err)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(st.open)) {
		if err := st.close(ctx, dir); err != nil {
			return nil, err
		}
	}
	return st.done, nil
}

// batch aligns, checks and distributes the rows of one batch.
func (st *stager) batch(ctx context.Context, rec arrow.Record) error {
	if rec.NumRows() == 0 {
		return nil
	}
	full, err := st.snap.align(rec)
	if err != nil {
		return err
	}
	defer full.Release()
	if st.check != nil {
		if err := st.check(full); err != nil {
			return err
		}
	}
	parts, err := st.snap.splitByPartition(full)
	if err != nil {
		return err
	}
	sorted, parts, err := gathered(full, parts)
	if err != nil {
		return err
	}
	defer sorted.Release()
	for _, p := range parts {
		if err := st.write(ctx, sorted, p); err != nil {
			return err
		}
	}
	st.rows += rec.NumRows()
	st.snap.table.env.Progress(Progress{Phase: "write", FilesDone: len(st.done), RowsDone: st.rows})
	return nil
}

func (st *stager) write(ctx context.Context, rec arrow.Record, p partitionRows) error {
	sub, err := takeRuns(ctx, rec, p.runs)
	if err != nil {
		return err
	}
	defer sub.Release()
	dir := log.PartitionDir(st.snap.physicalPartition(), p.values)
	f := st.open[dir]
	if f == nil {
		if f, err = st.start(ctx, dir, p.values); err != nil {
			return err
		}
	}
	data, err := st.snap.renamed(sub)
	if err != nil {
		return err
	}
	defer data.Release()
	if err := f.pq.Write(data); err != nil {
		return fmt.Errorf("%s: %w", f.key, err)
	}
	if f.pq.Bytes() >= st.target {
		return st.close(ctx, dir)
	}
	return nil
}

func (st *stager) start(ctx context.Context, dir string, values map[string]*string) (*openFile, error) {
	if len(st.open) >= maxOpenFiles {
		if err := st.close(ctx, st.largest()); err != nil {
			return nil, err
		}
	}
	key := st.opt.Name()
	if dir != "" {
		key = dir + "/" + key
	}
	key = st.root + key
	w, err := st.snap.table.store.Create(ctx, key)
	if err != nil {
		return nil, err
	}
	columns, err := st.snap.withPartitionColumns(st.columns, values)
	if err != nil {
		w.Abort()
		return nil, err
	}
	out, err := pq.NewWriter(w, columns, pq.WriterOptions{Codec: st.codec, Options: pq.Options{
		Stats: st.indexed, RowGroupRows: rowGroupRows(len(st.open)),
	}})
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	f := &openFile{key: key, partition: values, w: w, pq: out}
	st.open[dir] = f
	return f, nil
}

// rowGroupRows makes row groups smaller the more files are open: together they
// hold about five million encoded rows, however many partitions the rows go to.
func rowGroupRows(open int) int {
	switch {
	case open < 2:
		return 1 << 20
	case open < 8:
		return 1 << 18
	}
	return 1 << 16
}

// largest is the open file that has come furthest: the one to close early.
func (st *stager) largest() string {
	best, most := "", int64(-1)
	for dir, f := range st.open {
		if n := f.pq.Bytes(); n > most || n == most && dir < best {
			best, most = dir, n
		}
	}
	return best
}

func (st *stager) close(ctx context.Context, dir string) error {
	f := st.open[dir]
	delete(st.open, dir)
	res, err := f.pq.Close()
	if err != nil {
		f.w.Abort()
		return fmt.Errorf("%s: %w", f.key, err)
	}
	if res.Rows == 0 {
		f.w.Abort()
		return nil
	}
	info, err := f.w.Commit(ctx)
	if err != nil {
		// The write may have happened all the same.
		st.done = append(st.done, &StagedFile{Key: f.key})
		return err
	}
	st.done = append(st.done, st.snap.staged(f.key, info, f.partition, res, st.indexed))
	return nil
}

func (st *stager) takeBack(ctx context.Context) {
	for _, f := range st.open {
		f.w.Abort()
	}
	st.snap.table.Discard(ctx, st.done)
}

// Discard deletes staged files that will not be committed. It is for files whose
// commit certainly did not happen, never after an UncertainError. Failures are
// left to a vacuum: unknown files age and go.
func (t *Table) Discard(ctx context.Context, files []*StagedFile) {
	ctx = context.WithoutCancel(ctx) // a cancelled operation tidies up too
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := t.store.Delete(ctx, f.Key); err != nil && errors.Is(err, storage.ErrPermission) {
			return // no right to delete: the others will not go either
		}
	}
}
