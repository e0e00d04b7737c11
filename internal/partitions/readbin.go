package partitions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/parquetfile"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/spec"
)

// Kinds of findings about a file beside those of parquetfile.
const (
	FileMissing     = "missing"
	FileSize        = "size_differs"
	FileRows        = "rows_differ"
	FileEmpty       = "zero_rows"
	FileSchema      = "schema"
	FileUnreachable = "unreachable"
)

// FileFinding is something wrong with a file.
type FileFinding struct {
	Part   int    `json:"part"`
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

// FileShape counts the files of a directory that have the same columns.
type FileShape struct {
	Shape string `json:"shape"`
	Reads []int  `json:"reads"` // indexes of the survey's reads
}

// BinResult is what reading a bin found.
type BinResult struct {
	Files    int                        `json:"files"`
	Bytes    int64                      `json:"bytes"`
	Findings []FileFinding              `json:"findings,omitempty"`
	Rows     map[int]int64              `json:"rows,omitempty"` // by read: of files whose rows no log tells
	Columns  map[int]map[string]*Column `json:"columns,omitempty"`
	Shapes   []FileShape                `json:"shapes,omitempty"`
	// Unread columns have pages without checksums, of a type that is not decoded.
	Unread []string `json:"unread,omitempty"`
}

// ReadOptions of a bin.
type ReadOptions struct {
	Check spec.PartitionCheck
	// Lenient: a file that cannot be reached is a finding; else reading stops with
	// the store's error, so that it is tried again.
	Lenient bool
}

// ReadBin opens the files of a bin, several at once.
func ReadBin(ctx context.Context, s storage.Store, env deltaio.Env, v *Survey, b Bin, opt ReadOptions) (*BinResult, error) {
	src := &source{kind: SourceParquet, store: s}
	if v.Source == SourceDelta {
		var err error
		if src, err = openSource(ctx, s, env, v.Version); err != nil {
			return nil, err
		}
	}
	if err := v.Scheme.revive(); err != nil {
		return nil, err
	}
	r := &reader{src: src, v: v, opt: opt, needs: needs(opt.Check, src, map[int]string{}), env: env, total: b.Bytes}
	r.out = &BinResult{Rows: map[int]int64{}, Columns: map[int]map[string]*Column{}}
	r.index()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(env))
	for i := b.From; i < b.To; i++ {
		g.Go(func() error { return r.file(gctx, i) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(r.out.Findings, func(a, b FileFinding) int {
		return strings.Compare(a.Path+"\x00"+a.Kind, b.Path+"\x00"+b.Kind)
	})
	slices.Sort(r.out.Unread)
	return r.out, nil
}

func parallel(env deltaio.Env) int {
	if env.Parallel > 0 {
		return env.Parallel
	}
	return 4
}

type reader struct {
	src   *source
	v     *Survey
	opt   ReadOptions
	needs []need
	env   deltaio.Env
	total int64
	open  map[string]func(ctx context.Context) (*deltaio.DataFile, error)
	info  map[string]deltaio.FileInfo

	mu  sync.Mutex
	out *BinResult
}

// index finds the log's entries of the files.
func (r *reader) index() {
	if r.src.snap == nil {
		return
	}
	r.open = map[string]func(context.Context) (*deltaio.DataFile, error){}
	r.info = map[string]deltaio.FileInfo{}
	for _, a := range r.src.snap.Files() {
		r.open[a.Path] = func(ctx context.Context) (*deltaio.DataFile, error) { return r.src.snap.OpenFile(ctx, a) }
	}
	wanted := map[string]bool{}
	for _, x := range r.v.Reads {
		wanted[x.Path] = true
	}
	for _, a := range r.src.snap.Files() {
		if wanted[a.Path] {
			r.info[a.Path] = r.src.snap.DescribeFile(a)
		}
	}
}

// file checks one file. It is the only place that decides between a finding and
// an error.
func (r *reader) file(ctx context.Context, i int) error {
	x := r.v.Reads[i]
	err := r.look(ctx, i, x)
	var d *parquetfile.DamageError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &d):
		r.find(x, string(d.Kind), d.Err.Error())
	case errors.Is(err, storage.ErrNotExist):
		r.find(x, FileMissing, "it is not in storage")
	case deltaio.IsDamaged(err):
		r.find(x, string(parquetfile.BadPage), err.Error())
	case deltaio.IsUnsupported(err):
		r.find(x, string(parquetfile.Unsupported), err.Error())
	case r.opt.Lenient:
		r.find(x, FileUnreachable, err.Error())
	default:
		return fmt.Errorf("%s: %w", x.Path, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		for _, c := range x.Columns {
			r.column(x.Part, c).merge(nil, &Column{Unread: 1, Why: x.Path + " could not be read"})
		}
	}
	r.out.Files++
	r.progress()
	return nil
}

func (r *reader) find(x Read, kind, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Findings = append(r.out.Findings, FileFinding{Part: x.Part, Path: x.Path, Kind: kind, Detail: detail})
}

// progress tells how far the bin is; the lock is held.
func (r *reader) progress() {
	if r.env.Progress != nil {
		r.env.Progress(deltaio.Progress{Phase: "check files", FilesDone: r.out.Files, BytesDone: r.out.Bytes, BytesTotal: r.total})
	}
}

func (r *reader) told(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Bytes += n
	r.progress()
}

// column of a partition; the lock is held.
func (r *reader) column(part int, name string) *Column {
	if r.out.Columns[part] == nil {
		r.out.Columns[part] = map[string]*Column{}
	}
	if r.out.Columns[part][name] == nil {
		r.out.Columns[part][name] = &Column{}
	}
	return r.out.Columns[part][name]
}

func (r *reader) look(ctx context.Context, i int, x Read) error {
	key := x.Path
	info, inLog := r.info[x.Path]
	if inLog && info.Path != "" {
		key = info.Path
	}
	f, err := parquetfile.Open(ctx, r.src.store, key)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	if x.Verify {
		if err := r.verify(ctx, f, i, x, info, inLog); err != nil {
			return err
		}
	}
	if !inLog || info.Rows == nil {
		r.mu.Lock()
		rows := f.Rows()
		if info.Deleted != nil {
			rows -= info.Deleted.Rows
		}
		r.out.Rows[i] = rows
		r.mu.Unlock()
	}
	return r.values(ctx, f, x)
}

// verify compares a file with what the log says, and reads its pages.
func (r *reader) verify(ctx context.Context, f *parquetfile.File, i int, x Read, info deltaio.FileInfo, inLog bool) error {
	if inLog && f.Size() != info.Size {
		r.find(x, FileSize, fmt.Sprintf("%d bytes in storage, the log says %d", f.Size(), info.Size))
	}
	if inLog && info.Rows != nil && *info.Rows != f.Rows() {
		r.find(x, FileRows, fmt.Sprintf("%d rows by its footer, the log says %d", f.Rows(), *info.Rows))
	}
	if f.Rows() == 0 {
		r.find(x, FileEmpty, "it has no row")
	}
	r.shape(ctx, f, i, x)
	if r.opt.Check.Files.Verify != spec.VerifyPages {
		return nil
	}
	v, err := f.Verify(ctx, r.told)
	if len(v.Unread) > 0 {
		r.mu.Lock()
		for _, c := range v.Unread {
			if !slices.Contains(r.out.Unread, c) {
				r.out.Unread = append(r.out.Unread, c)
			}
		}
		r.mu.Unlock()
	}
	return err
}

// shape compares the columns with the table's; files of a directory are compared
// with each other once all are read.
func (r *reader) shape(ctx context.Context, f *parquetfile.File, i int, x Read) {
	if r.src.snap == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		s := f.Shape()
		at := slices.IndexFunc(r.out.Shapes, func(o FileShape) bool { return o.Shape == s })
		if at < 0 {
			at = len(r.out.Shapes)
			r.out.Shapes = append(r.out.Shapes, FileShape{Shape: s})
		}
		r.out.Shapes[at].Reads = append(r.out.Shapes[at].Reads, i)
		return
	}
	if why := r.mismatch(ctx, f); why != "" {
		r.find(x, FileSchema, why)
	}
}

// mismatch says how a file differs from the table's schema.
func (r *reader) mismatch(ctx context.Context, f *parquetfile.File) string {
	snap := r.src.snap
	mapping := snap.Mapping()
	partition := snap.PartitionBy()
	known := map[string]bool{}
	var why []string
	found := 0
	for _, field := range snap.Schema().Fields {
		known[strings.ToLower(snap.PhysicalName(&field))] = true
		if slices.Contains(partition, field.Name) {
			continue
		}
		if err := f.Readable(ctx, field, mapping == "name", mapping == "id"); err != nil {
			why = append(why, fmt.Sprintf("column %s: %v", field.Name, short(err.Error())))
		}
	}
	for _, c := range f.Columns() {
		if known[strings.ToLower(c.Name)] {
			found++
		} else if mapping == "none" {
			why = append(why, fmt.Sprintf("column %s (%s) is not the table's", c.Name, c.Stored))
		}
	}
	if found == 0 && mapping != "id" {
		why = append(why, "it has none of the table's columns")
	}
	return strings.Join(why, "; ")
}

// short keeps the last part of an error that names the file again.
func short(text string) string {
	if at := strings.LastIndex(text, "unsupported Parquet file: "); at >= 0 {
		return text[at+len("unsupported Parquet file: "):]
	}
	return text
}

// values takes the statistics of columns that the log does not tell.
func (r *reader) values(ctx context.Context, f *parquetfile.File, x Read) error {
	if len(x.Columns) == 0 {
		return nil
	}
	p := &r.v.Parts[x.Part]
	var tallies []*tally
	var names []string
	want := &schema.Struct{}
	for _, name := range x.Columns {
		at := slices.IndexFunc(r.needs, func(n need) bool { return n.column == name })
		if at < 0 {
			continue
		}
		n := r.needs[at]
		if n.typ == nil {
			c, why := columnIn(f, n, r.opt.Check)
			if why != "" {
				r.mu.Lock()
				r.column(x.Part, name).merge(nil, &Column{Unread: 1, Why: x.Path + ": " + why})
				r.mu.Unlock()
				continue
			}
			n.typ = c
		}
		want.Fields = append(want.Fields, schema.Field{Name: name, Type: n.typ, Nullable: true})
		names = append(names, name)
		tallies = append(tallies, newTally(n, n.typ, p, &r.v.Scheme))
	}
	if len(tallies) == 0 {
		return nil
	}
	if err := r.batches(ctx, f, x, want, names, tallies); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range tallies {
		r.column(x.Part, names[i]).merge(nil, c.result())
	}
	return nil
}

// batches feeds the tallies; rows that a deletion vector drops do not count.
func (r *reader) batches(ctx context.Context, f *parquetfile.File, x Read, want *schema.Struct, names []string, tallies []*tally) error {
	all := func(int) bool { return true }
	if r.src.snap == nil {
		for rec, err := range f.Batches(ctx, want) {
			if err != nil {
				return err
			}
			for i, c := range tallies {
				c.add(rec.Column(i), all)
			}
			r.told(0)
			rec.Release()
		}
		return nil
	}
	open := r.open[x.Path]
	if open == nil {
		return fmt.Errorf("it is not in version %d of the table", r.src.snap.Version())
	}
	d, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // read only
	live := d.Live()
	for b, err := range d.Batches(ctx, names, nil) {
		if err != nil {
			return err
		}
		keep := all
		if live != nil {
			keep = func(i int) bool { return live.Get(int(b.First) + i) }
		}
		for i, c := range tallies {
			c.add(b.Record.Column(i), keep)
		}
		r.told(0)
		b.Record.Release()
	}
	return nil
}

// columnIn is a column's type in a file of a directory.
func columnIn(f *parquetfile.File, n need, c spec.PartitionCheck) (schema.Type, string) {
	for _, col := range f.Columns() {
		if !strings.EqualFold(col.Name, n.column) {
			continue
		}
		if col.Type == nil {
			return nil, "column " + n.column + " has " + col.Stored
		}
		for _, rule := range c.Checks {
			if rule.Metric.OfColumn() && strings.EqualFold(rule.Column, n.column) {
				if why := unmeasurable(rule, col.Type); why != "" {
					return nil, why
				}
			}
		}
		return col.Type, ""
	}
	return nil, "it has no column " + n.column
}

// revive makes a scheme that was written as JSON usable again.
func (s *Scheme) revive() error {
	if s.Format == "" || s.format != nil {
		return nil
	}
	var err error
	s.format, err = parseFormat(s.Format)
	return err
}
