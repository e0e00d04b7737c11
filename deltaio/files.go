package deltaio

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// FileInfo is what the log says of a live data file, for people: names are
// logical, what the log does not say is nil.
type FileInfo struct {
	Path      string             `json:"path"` // storage key; absolute paths as in the log
	Size      int64              `json:"size"`
	Modified  time.Time          `json:"modified"`
	Partition map[string]*string `json:"partition"`
	// Rows counts physical rows, LiveRows those that no deletion vector drops.
	Rows     *int64              `json:"rows"`
	LiveRows *int64              `json:"live_rows"`
	Bounds   []ColumnBounds      `json:"bounds,omitempty"`
	Deleted  *DeletionVectorInfo `json:"deletion_vector,omitempty"`
	// Tight: the bounds are exact for the live rows, as far as the log says.
	Tight bool `json:"tight_bounds"`
	// BadStats is why the statistics do not read; the file is read all the same.
	BadStats string `json:"bad_stats,omitempty"`
}

// ColumnBounds are a column's statistics in one file, as the log has them:
// nested columns with dots between their names.
type ColumnBounds struct {
	Column string          `json:"column"`
	Min    json.RawMessage `json:"min,omitempty"`
	Max    json.RawMessage `json:"max,omitempty"`
	Nulls  *int64          `json:"nulls,omitempty"`
}

// DeletionVectorInfo says where a file's set of deleted rows lies.
type DeletionVectorInfo struct {
	Storage string `json:"storage"` // inline, file or absolute
	Path    string `json:"path,omitempty"`
	Offset  *int32 `json:"offset,omitempty"`
	Size    int32  `json:"size"`
	Rows    int64  `json:"rows"`
}

// DescribeFile says what the log knows of a live file of the snapshot.
func (s *Snapshot) DescribeFile(a *log.Add) FileInfo {
	f := FileInfo{
		Path: keyOrPath(s.table.URL(), a.Path), Size: a.Size, Modified: time.UnixMilli(a.ModificationTime).UTC(),
		Partition: s.logicalPartition(a.PartitionValues), Tight: true,
	}
	st, err := a.ParseStats()
	if err != nil {
		f.BadStats = err.Error()
	}
	if st != nil {
		f.Rows, f.Tight = st.NumRecords, st.TightBounds
		f.Bounds = boundsOf(s.schema, s.mapping != mappingNone, st)
	}
	if n, ok := liveRows(a); ok {
		f.LiveRows = &n
	}
	if d := a.DeletionVector; d != nil {
		f.Deleted = describeVector(s.table.URL(), d)
	}
	return f
}

// keyOrPath gives the storage key of a path of the log; one that leads outside
// the root stays as it is.
func keyOrPath(root, p string) string {
	if key, err := log.ResolvePath(root, p); err == nil {
		return key
	}
	return p
}

func describeVector(root string, d *log.DeletionVector) *DeletionVectorInfo {
	out := &DeletionVectorInfo{Storage: "file", Offset: d.Offset, Size: d.SizeInBytes, Rows: d.Cardinality}
	switch d.StorageType {
	case log.DVInline:
		out.Storage = "inline"
		return out
	case log.DVAbsolute:
		out.Storage = "absolute"
	}
	if key, inFile, err := dv.Key(root, d); err == nil && inFile {
		out.Path = key
	} else {
		out.Path = d.PathOrInlineDv
	}
	return out
}

// logicalPartition names partition values as the schema does.
func (s *Snapshot) logicalPartition(values map[string]*string) map[string]*string {
	out := make(map[string]*string, len(s.partition))
	for i, physical := range s.physicalPartition() {
		v := values[physical]
		if v != nil && *v == "" {
			v = nil // the empty string is null for every type
		}
		out[s.partition[i]] = v
	}
	return out
}

// boundsOf goes through the schema, so that the order is that of the columns and
// physical names become logical ones.
func boundsOf(sc *schema.Struct, mapped bool, st *log.Stats) []ColumnBounds {
	var out []ColumnBounds
	var walk func(prefix string, sc *schema.Struct, lo, hi, nulls map[string]any)
	walk = func(prefix string, sc *schema.Struct, lo, hi, nulls map[string]any) {
		for i := range sc.Fields {
			f := &sc.Fields[i]
			physical, name := f.Name, f.Name
			if mapped {
				physical = f.PhysicalName()
			}
			if prefix != "" {
				name = prefix + "." + name
			}
			if inner, ok := f.Type.(*schema.Struct); ok {
				walk(name, inner, inside(lo, physical), inside(hi, physical), inside(nulls, physical))
				continue
			}
			b := ColumnBounds{Column: name, Min: asJSON(lo[physical]), Max: asJSON(hi[physical])}
			if n, ok := wholeNumber(nulls[physical]); ok {
				b.Nulls = &n
			}
			if b.Min != nil || b.Max != nil || b.Nulls != nil {
				out = append(out, b)
			}
		}
	}
	walk("", sc, st.MinValues, st.MaxValues, st.NullCount)
	return out
}

func inside(m map[string]any, name string) map[string]any {
	inner, _ := m[name].(map[string]any)
	return inner
}

func asJSON(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v) // what was decoded from JSON encodes again
	if err != nil {
		return nil
	}
	return b
}

// PartitionInfo sums up the live files of one partition.
type PartitionInfo struct {
	Values map[string]*string `json:"values"` // by logical name; nil is null
	Files  int                `json:"files"`
	Bytes  int64              `json:"bytes"`
	// Rows counts live rows; nil when a file's statistics do not tell.
	Rows    *int64 `json:"rows"`
	Deleted int64  `json:"deleted"` // rows that deletion vectors drop
}

// Partitions sums up the live files by partition, in the order of the values as
// text, nulls first. A table that is not partitioned is one partition.
func (s *Snapshot) Partitions() []PartitionInfo {
	physical := s.physicalPartition()
	sums := map[string]*PartitionInfo{}
	unknown := map[string]bool{}
	var key strings.Builder
	for _, a := range s.state.Files {
		key.Reset()
		for _, c := range physical {
			if v := a.PartitionValues[c]; v != nil && *v != "" {
				fmt.Fprintf(&key, "1%d:%s", len(*v), *v)
			} else {
				key.WriteByte('0')
			}
		}
		p, ok := sums[key.String()]
		if !ok {
			p = &PartitionInfo{Values: s.logicalPartition(a.PartitionValues), Rows: new(int64)}
			sums[key.String()] = p
		}
		p.Files++
		p.Bytes += a.Size
		if a.DeletionVector != nil {
			p.Deleted += a.DeletionVector.Cardinality
		}
		n, ok := liveRows(a)
		*p.Rows += n
		unknown[key.String()] = unknown[key.String()] || !ok
	}
	for k, not := range unknown {
		if not {
			sums[k].Rows = nil
		}
	}
	return s.sortedPartitions(slices.Collect(maps.Values(sums)))
}

func (s *Snapshot) sortedPartitions(ps []*PartitionInfo) []PartitionInfo {
	slices.SortFunc(ps, func(a, b *PartitionInfo) int {
		for _, c := range s.partition {
			x, y := a.Values[c], b.Values[c]
			switch {
			case x == nil && y == nil:
			case x == nil:
				return -1
			case y == nil:
				return 1
			default:
				if d := strings.Compare(*x, *y); d != 0 {
					return d
				}
			}
		}
		return 0
	})
	out := make([]PartitionInfo, len(ps))
	for i, p := range ps {
		out[i] = *p
	}
	return out
}
