package pq

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// eachSeed runs a test on a number of random sources, LAKEWARDEN_SEEDS times as
// many when that is set; a failure names its seed.
func eachSeed(t *testing.T, n int, f func(t *testing.T, r *rand.Rand)) {
	if times, err := strconv.Atoi(os.Getenv("LAKEWARDEN_SEEDS")); err == nil {
		n *= times
	}
	for seed := range n {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(uint64(seed), 1))) })
	}
}

// memFile is a file in memory as a storage.Reader.
type memFile struct{ *bytes.Reader }

func inMemory(b []byte) memFile { return memFile{bytes.NewReader(b)} }

func (m memFile) Info() storage.Info {
	return storage.Info{Key: "part-0.parquet", Size: m.Size(), ModTime: time.Unix(0, 0)}
}
func (memFile) Close() error { return nil }

// rewriteAll rewrites data to outputs in memory.
func rewriteAll(t require.TestingT, data []byte, opt Options, outs ...Output) ([][]byte, []Result) {
	files, res, err := tryRewrite(data, opt, outs...)
	require.NoError(t, err)
	for i := range res {
		require.EqualValues(t, len(files[i]), res[i].Bytes)
		require.EqualValues(t, res[i].Rows, res[i].Stats.NumRecords)
	}
	return files, res
}

func tryRewrite(data []byte, opt Options, outs ...Output) ([][]byte, []Result, error) {
	bufs := make([]*bytes.Buffer, len(outs))
	for i := range outs {
		bufs[i] = &bytes.Buffer{}
		outs[i].W = bufs[i]
	}
	res, err := Rewrite(context.Background(), inMemory(data), outs, opt)
	files := make([][]byte, len(outs))
	for i := range bufs {
		files[i] = bufs[i].Bytes()
	}
	return files, res, err
}

// columnsOf makes a column for each field, from the source column of its name.
func columnsOf(s *schema.Struct) []Column {
	out := make([]Column, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = Column{Field: f, Source: f.Name}
	}
	return out
}

// arrowTable reads a file by arrow: the text of every value, by column.
func arrowTable(t require.TestingT, data []byte) map[string][]string {
	pf, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	require.NoError(t, err)
	tab, err := fr.ReadTable(context.Background())
	require.NoError(t, err)
	defer tab.Release()
	out := map[string][]string{}
	for i := range int(tab.NumCols()) {
		col := tab.Column(i)
		texts := []string{}
		for _, chunk := range col.Data().Chunks() {
			texts = append(texts, arrayTexts(chunk)...)
		}
		out[col.Name()] = texts
	}
	return out
}

func arrayTexts(a arrow.Array) []string {
	out := make([]string, a.Len())
	for i := range out {
		out[i] = valueText(a, i)
	}
	return out
}

// valueText writes a value so that equal texts mean equal values, floats by
// their bits.
func valueText(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	switch x := a.(type) {
	case *array.Float32:
		return fmt.Sprintf("f%08x", math.Float32bits(x.Value(i)))
	case *array.Float64:
		return fmt.Sprintf("d%016x", math.Float64bits(x.Value(i)))
	case *array.Timestamp:
		v := int64(x.Value(i))
		if x.DataType().(*arrow.TimestampType).Unit == arrow.Nanosecond { // INT96
			v = floorDiv(v, 1000)
		}
		return fmt.Sprintf("T%d", v)
	case *array.Date32:
		return fmt.Sprintf("D%d", x.Value(i))
	case *array.Decimal128:
		return "m" + x.Value(i).ToString(x.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Binary:
		return fmt.Sprintf("%q", x.Value(i))
	case *array.FixedSizeBinary:
		return fmt.Sprintf("%q", x.Value(i))
	case *array.String:
		return fmt.Sprintf("%q", x.Value(i))
	case *array.Struct:
		var parts []string
		for k := range x.NumField() {
			name := x.DataType().(*arrow.StructType).Field(k).Name
			parts = append(parts, name+"="+valueText(x.Field(k), i))
		}
		return "(" + strings.Join(parts, ",") + ")"
	case *array.Map:
		from, to := x.ValueOffsets(i)
		var parts []string
		for k := from; k < to; k++ {
			parts = append(parts, valueText(x.Keys(), int(k))+":"+valueText(x.Items(), int(k)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *array.List:
		from, to := x.ValueOffsets(i)
		var parts []string
		for k := from; k < to; k++ {
			parts = append(parts, valueText(x.ListValues(), int(k)))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return a.ValueStr(i)
}

func goTable(t require.TestingT, data []byte) map[string][]string {
	out, err := tryGoTable(data)
	require.NoError(t, err)
	return out
}

// tryGoTable reads a file by parquet-go: per leaf and row, its values with
// levels.
func tryGoTable(data []byte) (map[string][]string, error) {
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	paths := f.Schema().Columns()
	out := map[string][]string{}
	for _, p := range paths {
		out[strings.Join(p, ".")] = []string{}
	}
	for _, rg := range f.RowGroups() {
		rows := rg.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				texts := make([]strings.Builder, len(paths))
				for _, v := range row {
					fmt.Fprintf(&texts[v.Column()], "%d/%d:%x;", v.RepetitionLevel(), v.DefinitionLevel(), v.Bytes())
				}
				for c := range paths {
					key := strings.Join(paths[c], ".")
					out[key] = append(out[key], texts[c].String())
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keepRows filters every column by a bitmap; nil keeps all.
func keepRows(table map[string][]string, rows *Bitmap) map[string][]string {
	out := map[string][]string{}
	for name, texts := range table {
		kept := []string{}
		for i, s := range texts {
			if rows == nil || rows.Get(i) {
				kept = append(kept, s)
			}
		}
		out[name] = kept
	}
	return out
}

// everyByte gives all that a reader could find in a file: its raw bytes, each
// page decompressed, and all values decoded.
func everyByte(t testing.TB, data []byte) []byte {
	s, err := openSource(inMemory(data))
	require.NoError(t, err)
	all := append([]byte(nil), data...)
	for g := range s.meta.RowGroups {
		for i, l := range s.leaves {
			all = append(all, chunkBytes(t, s, l, &s.meta.RowGroups[g].Columns[i].Meta.V)...)
		}
	}
	return all
}

func chunkBytes(t testing.TB, s *source, l *leaf, m *columnMeta) []byte {
	var all []byte
	var r pageReader
	var d pageDecoder
	r.open(s, m)
	d.open(l, m.Codec)
	for {
		p, err := r.next()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		if dict := p.header.Dictionary; dict.Valid {
			dd, err := d.dictionary(p)
			require.NoError(t, err)
			all = append(all, dd.bytes()...)
			continue
		}
		dp, err := d.data(p)
		require.NoError(t, err)
		all = append(append(all, dp.vals.fixed...), dp.vals.plain...)
	}
}
