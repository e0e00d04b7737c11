package partitions

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// file is a data file as log or listing tell.
type file struct {
	path     string // in the log or the directory
	size     int64
	modified time.Time
	values   map[string]*string // of the partition columns
	rows     *int64             // live; nil: not told
	deleted  bool               // a deletion vector drops some of its rows
	ranges   func() func(column string) (expr.Range, bool)
}

// source is a table: a snapshot of a Delta table, or a directory.
type source struct {
	kind    string // delta or parquet
	url     string
	snap    *deltaio.Snapshot // delta only
	store   storage.Store
	columns []columnOf
	files   []file
}

// Kinds of sources.
const (
	SourceDelta   = "delta"
	SourceParquet = "parquet"
)

// openSource reads the table's log, or lists its directory where it has none.
// version is the one to read; nil: the newest.
func openSource(ctx context.Context, s storage.Store, env deltaio.Env, version *int64) (*source, error) {
	t, err := deltaio.Open(ctx, s, env)
	if errors.Is(err, deltaio.ErrNotATable) {
		return listDirectory(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	var snap *deltaio.Snapshot
	if version != nil {
		snap, err = t.SnapshotAt(ctx, *version)
	} else {
		snap, err = t.Snapshot(ctx)
	}
	if err != nil {
		return nil, err
	}
	return fromLog(s, snap), nil
}

// fromLog lists the live files of a snapshot.
func fromLog(s storage.Store, snap *deltaio.Snapshot) *source {
	src := &source{kind: SourceDelta, url: s.URL(), snap: snap, store: s}
	physical := map[string]string{}
	for _, name := range snap.PartitionBy() {
		f, ok := snap.Schema().Field(name)
		if !ok {
			continue
		}
		physical[name] = snap.PhysicalName(f)
		src.columns = append(src.columns, columnOf{name: f.Name, typ: f.Type})
	}
	for _, a := range snap.Files() {
		f := file{path: a.Path, size: a.Size, modified: time.UnixMilli(a.ModificationTime).UTC(), values: make(map[string]*string, len(physical)), deleted: a.DeletionVector != nil}
		for name, p := range physical {
			f.values[name] = a.PartitionValues[p]
		}
		if n, known := a.NumRecords(); known {
			if a.DeletionVector != nil {
				n -= a.DeletionVector.Cardinality
			}
			f.rows = &n
		}
		f.ranges = func() func(string) (expr.Range, bool) { return snap.Ranges(a) }
		src.files = append(src.files, f)
	}
	src.distinctValues()
	return src
}

// listDirectory finds Hive-style Parquet files. Names that begin with _ or . are
// hidden, as every reader of such directories has it.
func listDirectory(ctx context.Context, s storage.Store) (*source, error) {
	src := &source{kind: SourceParquet, url: s.URL(), store: s}
	for info, err := range s.List(ctx, "", "") {
		if err != nil {
			return nil, err
		}
		segments := strings.Split(info.Key, "/")
		if slices.ContainsFunc(segments, func(p string) bool {
			return strings.HasPrefix(p, ".") || strings.HasPrefix(p, "_") && !strings.Contains(p, "=")
		}) {
			continue
		}
		f := file{path: info.Key, size: info.Size, modified: info.ModTime, values: map[string]*string{}}
		for _, p := range segments[:len(segments)-1] {
			if name, value, ok := strings.Cut(p, "="); ok {
				src.addColumn(unescape(name))
				v := unescape(value)
				f.values[unescape(name)] = &v
			}
		}
		src.files = append(src.files, f)
	}
	if len(src.files) == 0 {
		return nil, fmt.Errorf("%s: there is neither a Delta table nor a data file: %w", s.URL(), ErrNothing)
	}
	src.distinctValues()
	return src, nil
}

// ErrNothing: there is nothing at the place.
var ErrNothing = errors.New("nothing to check")

func unescape(s string) string {
	if v, err := url.PathUnescape(s); err == nil {
		return v
	}
	return s
}

func (s *source) addColumn(name string) {
	if !slices.ContainsFunc(s.columns, func(c columnOf) bool { return c.name == name }) {
		s.columns = append(s.columns, columnOf{name: name})
	}
}

// distinctValues gives each partition column its values, for detection.
func (s *source) distinctValues() {
	for i := range s.columns {
		c := &s.columns[i]
		seen := map[string]bool{}
		for _, f := range s.files {
			if v := f.values[c.name]; v != nil && *v != "" && *v != hiveNull && !seen[*v] {
				seen[*v] = true
				c.values = append(c.values, *v)
			}
		}
		slices.Sort(c.values)
	}
}

// field finds a column that rules measure.
func (s *source) field(name string) (*schema.Field, error) {
	if s.snap == nil {
		return nil, nil //nolint:nilnil // a directory has no schema: each file says what it holds
	}
	f, ok := s.snap.Schema().Field(name)
	if !ok {
		list := make([]string, len(s.snap.Schema().Fields))
		for i, f := range s.snap.Schema().Fields {
			list[i] = f.Name
		}
		return nil, fmt.Errorf("column %s is not in the table; it has %s", name, strings.Join(list, ", "))
	}
	return f, nil
}

// rawName is a partition's name as directories have it: dt=2026-09-01.
func rawName(columns []string, values []*string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		v := hiveNull
		if values[i] != nil {
			v = *values[i]
		}
		out[i] = c + "=" + v
	}
	return path.Join(out...)
}
