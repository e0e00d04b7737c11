package pq

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// eachRealFile visits the Parquet files of real tables: those below
// LAKEWARDEN_TABLES (a folder that holds tables.json), else those of the archive
// beside the repository.
func eachRealFile(t *testing.T, visit func(name string, data []byte)) {
	if dir := os.Getenv("LAKEWARDEN_TABLES"); dir != "" {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".parquet") {
				return err
			}
			data, err := os.ReadFile(path)
			visit(path[len(dir):], data)
			return err
		}))
		return
	}
	archive := filepath.Join("..", "..", "..", "..", "shared", "tables", "delta-tables.tar.gz")
	f, err := os.Open(archive)
	if err != nil {
		t.Skipf("no real tables: LAKEWARDEN_TABLES is not set, and %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		if strings.HasSuffix(h.Name, ".parquet") {
			data, err := io.ReadAll(r)
			require.NoError(t, err)
			visit(h.Name, data)
		}
	}
}

// deltaType works a Delta type out of a Parquet schema, as importers do.
func deltaType(n *node) schema.Type {
	if n.leaf != nil {
		return deltaLeaf(n.leaf)
	}
	if isListOrMap(n) && len(n.children) == 1 {
		rep := n.children[0]
		if len(rep.children) == 2 && n.el.ConvertedType.V != 3 {
			if _, list := n.el.Logical.Value.(*format.ListType); !list {
				return &schema.Map{Key: deltaType(rep.children[0]), Value: deltaType(rep.children[1]), ValueContainsNull: true}
			}
		}
		if twoLevel(rep, n.el.Name) {
			return &schema.Array{Element: deltaType(unrepeated(rep)), ContainsNull: true}
		}
		return &schema.Array{Element: deltaType(rep.children[0]), ContainsNull: true}
	}
	s := &schema.Struct{}
	for _, c := range n.children {
		s.Fields = append(s.Fields, schema.Field{Name: c.el.Name, Type: deltaType(c), Nullable: true})
	}
	return s
}

func deltaLeaf(l *leaf) schema.Type {
	m := meaningOf(l)
	switch m.kind {
	case kindBool:
		return schema.Boolean
	case kindInt:
		return schema.Integer
	case kindLong, kindUint32:
		return schema.Long
	case kindFloat:
		return schema.Float
	case kindDouble:
		return schema.Double
	case kindText:
		return schema.String
	case kindBytes, kindFixed:
		return schema.Binary
	case kindDecimal:
		return schema.Decimal{Precision: m.precision, Scale: m.scale}
	case kindDate:
		return schema.Date
	}
	return schema.Timestamp
}

func TestRewrite_real_tables_keep_their_rows(t *testing.T) {
	t.Parallel()
	files, converted, refused := 0, 0, map[string]int{}
	eachRealFile(t, func(name string, data []byte) {
		src, err := openSource(inMemory(data))
		if err != nil {
			refused[err.Error()]++
			return
		}
		files++
		if checkRealFile(t, name, src, data) {
			converted++
		}
	})
	t.Logf("%d files, %d with converted columns, refused: %v", files, converted, refused)
	require.NotZero(t, files)
}

// checkRealFile splits a file in two at random, and compares the rows by two
// readers. It says whether a column had to be converted.
func checkRealFile(t *testing.T, name string, src *source, data []byte) (converted bool) {
	s := deltaType(src.root).(*schema.Struct)
	n := int(src.meta.NumRows)
	r := rand.New(rand.NewPCG(uint64(len(data)), 1))
	half := randomMask(r, n)
	rest := FullBitmap(n)
	rest.AndNot(half)
	outs := []Output{{Columns: columnsOf(s)}, {Columns: columnsOf(s), Rows: half}, {Columns: columnsOf(s), Rows: rest, Codec: "zstd"}}
	files, res, err := tryRewrite(data, Options{}, outs...)
	if err != nil && len(s.Fields) > 0 {
		require.NoError(t, err, name)
	}
	if err != nil { // a file without columns
		return false
	}
	changed := map[string]bool{}
	for _, l := range src.leaves {
		changed[l.name()] = l.typ == format.Int96
		converted = converted || l.typ == format.Int96
	}
	wantGo, goErr := tryGoTable(data)
	want := safeArrowTable(data)
	for i, f := range files {
		require.EqualValues(t, keptCount(outs[i].Rows, n), res[i].Rows, name)
		if goErr == nil {
			got := goTable(t, f)
			for leaf, texts := range keepRows(wantGo, outs[i].Rows) {
				if !changed[leaf] {
					require.Equal(t, texts, got[leaf], "%s: %s", name, leaf)
				}
			}
		}
		if want != nil {
			require.Equal(t, keepRows(want, outs[i].Rows), arrowTable(t, f), name)
		}
	}
	require.True(t, goErr == nil || want != nil, "%s: no judge reads the source", name)
	return converted
}

func keptCount(rows *Bitmap, n int) int {
	if rows == nil {
		return n
	}
	return rows.Count()
}

// safeArrowTable gives nil where arrow cannot read a file.
func safeArrowTable(data []byte) (out map[string][]string) {
	defer func() { _ = recover() }() // its codecs panic
	var f failer
	out = arrowTable(&f, data)
	if f.failed {
		return nil
	}
	return out
}

// failer is a require.TestingT that stops by a panic.
type failer struct{ failed bool }

func (f *failer) Errorf(string, ...any) { f.failed = true }
func (f *failer) FailNow()              { panic("stop") }
