package deltaio

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// writtenField is a field under the names that data files use.
func (s *Snapshot) writtenField(f schema.Field) schema.Field {
	if s.mapping == mappingNone {
		return f
	}
	one := mapFields(&schema.Struct{Fields: []schema.Field{f}}, func(f schema.Field) schema.Field {
		f.Name = f.PhysicalName()
		return f
	})
	return one.Fields[0]
}

// writtenColumns are the columns of data files, in schema order, without
// partition columns.
func (s *Snapshot) writtenColumns() []pq.Column {
	var out []pq.Column
	for _, f := range s.schema.Fields {
		if s.isPartition(f.Name) {
			continue
		}
		c := pq.Column{Field: s.writtenField(f), Source: s.PhysicalName(&f)}
		if id, ok := f.ColumnID(); ok && s.mapping == mappingID {
			c.SourceID = &id
		}
		out = append(out, c)
	}
	return out
}

// withPartitionColumns adds the partition values as constant columns where the
// table wants them in its files.
func (s *Snapshot) withPartitionColumns(cols []pq.Column, values map[string]*string) ([]pq.Column, error) {
	if !s.supports("materializePartitionColumns") {
		return cols, nil
	}
	out := slices.Clone(cols)
	for _, name := range s.partition {
		f, _ := s.schema.Field(name)
		v, err := scan.ParsePartitionValue(f.Type, values[s.PhysicalName(f)])
		if err != nil {
			return nil, fmt.Errorf("partition column %s: %w", name, err)
		}
		out = append(out, pq.Column{Field: s.writtenField(*f), IsConst: true, Const: v})
	}
	return out, nil
}

// renamed gives the data columns of a full batch under their written names,
// those of nested members included. The caller releases it.
func (s *Snapshot) renamed(rec arrow.Record) (arrow.Record, error) {
	var fields []arrow.Field
	var cols []arrow.Array
	for i, f := range s.schema.Fields {
		if s.isPartition(f.Name) {
			continue
		}
		w := s.writtenField(f)
		t, err := schema.ArrowType(w.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		data := retypedData(rec.Column(i).Data(), t)
		cols = append(cols, array.MakeFromData(data))
		data.Release()
		fields = append(fields, arrow.Field{Name: w.Name, Type: t, Nullable: f.Nullable})
	}
	out := array.NewRecord(arrow.NewSchema(fields, nil), cols, rec.NumRows())
	for _, c := range cols {
		c.Release()
	}
	return out, nil
}

// staged makes the add action of a file that was written.
func (s *Snapshot) staged(key string, info storage.Info, partition map[string]*string, res pq.Result, indexed func([]string) bool) *StagedFile {
	modified := info.ModTime.UnixMilli()
	if info.ModTime.IsZero() {
		modified = s.table.env.nowMillis()
	}
	values := maps.Clone(partition)
	if values == nil {
		values = map[string]*string{}
	}
	return &StagedFile{
		Key: key, Rows: res.Rows,
		RawCopied: res.RawCopied, Split: res.Split, Decoded: res.Decoded, Fallback: res.Fallback,
		Add: &log.Add{
			Path: log.EncodePath(key), PartitionValues: values, Size: info.Size,
			ModificationTime: modified, DataChange: true, Stats: res.Stats.JSON(indexed),
		},
	}
}

// codec is the table's codec for new files; missing where it names none.
func (s *Snapshot) codec(missing string) (string, error) {
	v, ok := s.Property(propCodec)
	if !ok {
		return missing, nil
	}
	switch c := strings.ToLower(strings.TrimSpace(v)); c {
	case "none", "uncompressed":
		return "uncompressed", nil
	case "snappy", "gzip", "brotli", "zstd", "lz4_raw":
		return c, nil
	case "lz4": // Hadoop's framing is deprecated; the block format is what readers share
		return "lz4_raw", nil
	}
	return "", fmt.Errorf("%s: property %s = %q is not a codec this program writes", s.table.URL(), propCodec, v)
}

func (s *Snapshot) targetBytes(asked int64) (int64, error) {
	if asked > 0 {
		return asked, nil
	}
	v, ok := s.Property(propTargetFileSize)
	if !ok {
		return defaultTargetFileSize, nil
	}
	return parseBytes(v)
}

// parseBytes reads sizes such as 104857600, 100mb or 1g.
func parseBytes(text string) (int64, error) {
	t := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "b")
	shift := 0
	for i, suffix := range []string{"k", "m", "g", "t"} {
		if rest, ok := strings.CutSuffix(t, suffix); ok {
			t, shift = rest, 10*(i+1)
		}
	}
	var n int64
	if _, err := fmt.Sscanf(t+"\n", "%d\n", &n); err != nil || n <= 0 || n<<shift>>shift != n {
		return 0, fmt.Errorf("%q is not a size such as 268435456 or 256mb", text)
	}
	return n << shift, nil
}

// indexed says which leaves get statistics: the columns of
// delta.dataSkippingStatsColumns, else the first
// delta.dataSkippingNumIndexedCols leaves, and clustering columns in any case.
func (s *Snapshot) indexed() (func(path []string) bool, error) {
	wanted := map[string]bool{}
	const sep = "\x00"
	names, byName := s.Property(propStatsColumns)
	limit, err := s.integer(propIndexedCols, defaultIndexedCols)
	if err != nil {
		return nil, err
	}
	var selected [][]string
	if byName {
		if selected, err = splitNames(names); err != nil {
			return nil, fmt.Errorf("%s: property %s: %w", s.table.URL(), propStatsColumns, err)
		}
	}
	clustering := s.clusteringColumns()
	count := int64(0)
	s.leaves(func(logical, physical []string) {
		in := !byName && (limit < 0 || count < limit) || covers(selected, logical) || covers(clustering, physical)
		count++
		wanted[strings.Join(physical, sep)] = in
	})
	return func(path []string) bool { return wanted[strings.Join(path, sep)] }, nil
}

// leaves visits the leaves of the data columns; a list or a map counts as one.
func (s *Snapshot) leaves(visit func(logical, physical []string)) {
	var walk func(fields []schema.Field, logical, physical []string)
	walk = func(fields []schema.Field, logical, physical []string) {
		for i := range fields {
			f := &fields[i]
			l := append(slices.Clone(logical), f.Name)
			p := append(slices.Clone(physical), s.PhysicalName(f))
			if st, ok := f.Type.(*schema.Struct); ok {
				walk(st.Fields, l, p)
			} else if len(logical) > 0 || !s.isPartition(f.Name) {
				visit(l, p)
			}
		}
	}
	walk(s.schema.Fields, nil, nil)
}

// covers says whether one of the names is the path or a parent of it.
func covers(names [][]string, path []string) bool {
	for _, n := range names {
		if len(n) <= len(path) && slices.EqualFunc(n, path[:len(n)], strings.EqualFold) {
			return true
		}
	}
	return false
}

// clusteringColumns are physical paths. Writers store them as names or as lists
// of name parts.
func (s *Snapshot) clusteringColumns() [][]string {
	d, ok := s.state.Domains["delta.clustering"]
	if !ok {
		return nil
	}
	var conf struct {
		Columns []json.RawMessage `json:"clusteringColumns"`
	}
	if json.Unmarshal([]byte(d.Configuration), &conf) != nil {
		return nil
	}
	var out [][]string
	for _, raw := range conf.Columns {
		var one string
		var parts []string
		if json.Unmarshal(raw, &one) == nil {
			parts = []string{one}
		} else if json.Unmarshal(raw, &parts) != nil {
			continue
		}
		out = append(out, parts)
	}
	return out
}

// splitNames reads a list of column names: a, b.c, `odd,name`.d
func splitNames(text string) ([][]string, error) {
	var out [][]string
	var name []string
	var part strings.Builder
	quoted := false
	flush := func(end bool) {
		if p := strings.TrimSpace(part.String()); p != "" {
			name = append(name, p)
		}
		part.Reset()
		if end && name != nil {
			out, name = append(out, name), nil
		}
	}
	for _, r := range text {
		switch {
		case r == '`':
			quoted = !quoted
		case quoted || r != '.' && r != ',':
			part.WriteRune(r)
		default:
			flush(r == ',')
		}
	}
	if quoted {
		return nil, fmt.Errorf("%q: a backtick is not closed", text)
	}
	flush(true)
	return out, nil
}
