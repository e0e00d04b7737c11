package dv_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func inline(text string, size int32, cardinality int64) *log.DeletionVector {
	return &log.DeletionVector{StorageType: log.DVInline, PathOrInlineDv: text, SizeInBytes: size, Cardinality: cardinality}
}

func TestRead_inline_portable_gives_its_rows(t *testing.T) {
	t.Parallel()
	set, err := dv.Read(t.Context(), storage.NewMemory(), inline("^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", 44, 6))
	require.NoError(t, err)
	require.Equal(t, []uint64{3, 4, 7, 11, 18, 29}, set.ToArray())
}

func TestRead_inline_native_form_of_the_protocol_text_gives_its_rows(t *testing.T) {
	t.Parallel()
	set, err := dv.Read(t.Context(), storage.NewMemory(), inline("wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", 40, 6))
	require.NoError(t, err)
	require.Equal(t, []uint64{3, 4, 7, 11, 18, 29}, set.ToArray())
}

func TestRead_descriptor_that_contradicts_the_set_is_refused(t *testing.T) {
	t.Parallel()
	const text = "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
	for name, d := range map[string]*log.DeletionVector{
		"says 5":        inline(text, 44, 5),
		"log says 48":   inline(text, 48, 6),
		"log says 40":   inline(text, 40, 6),
		"not of Z85":    inline("~Bg9^", 4, 6),
		"multiple of 5": inline("abc", 4, 6),
		"out of range":  inline("#####", 4, 6),
		"-1 rows":       inline(text, 44, -1),
		"magic number":  inline("00000", 4, 0),
		"storage type":  {StorageType: "x", PathOrInlineDv: text, SizeInBytes: 44, Cardinality: 6},
		"there is none": nil,
	} {
		_, err := dv.Read(t.Context(), storage.NewMemory(), d)
		require.ErrorContains(t, err, name)
	}
}

func TestKey_of_each_storage_type(t *testing.T) {
	t.Parallel()
	rel := func(p string) *log.DeletionVector {
		return &log.DeletionVector{StorageType: log.DVRelative, PathOrInlineDv: p}
	}
	abs := func(p string) *log.DeletionVector {
		return &log.DeletionVector{StorageType: log.DVAbsolute, PathOrInlineDv: p}
	}
	key, inFile, err := dv.Key("s3://mytable", rel("ab^-aqEH.-t@S}K{vb[*k^"))
	require.NoError(t, err)
	require.True(t, inFile)
	require.Equal(t, "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin", key)
	key, _, err = dv.Key("s3://mytable", rel("^-aqEH.-t@S}K{vb[*k^"))
	require.NoError(t, err)
	require.Equal(t, "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin", key)
	key, _, err = dv.Key("s3://mytable", abs("s3a://mytable/x%20y/deletion_vector_1.bin"))
	require.NoError(t, err)
	require.Equal(t, "x y/deletion_vector_1.bin", key)

	var outside *log.AbsolutePathError
	_, _, err = dv.Key("s3://mytable", abs("s3://other/deletion_vector_1.bin"))
	require.ErrorAs(t, err, &outside)
	_, _, err = dv.Key("s3://mytable/a", abs("s3://mytable/ab/deletion_vector_1.bin"))
	require.ErrorAs(t, err, &outside)
	_, _, err = dv.Key("s3://mytable", abs("s3://mytable/../x.bin"))
	require.Error(t, err)
	for _, prefix := range []string{"..", "a/b", "."} {
		_, _, err = dv.Key("s3://mytable", rel(prefix+"^-aqEH.-t@S}K{vb[*k^"))
		require.ErrorContains(t, err, "plain name")
	}
	_, inFile, err = dv.Key("s3://mytable", inline("00000", 4, 0))
	require.NoError(t, err)
	require.False(t, inFile)
}

func TestWriteFile_several_sets_read_back(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := storage.NewMemory()
		sets := rapid.SliceOfN(rapid.Custom(drawSet), 1, 5).Draw(rt, "sets")
		before := make([][]uint64, len(sets))
		for i, set := range sets {
			before[i] = set.ToArray()
		}
		key := dv.FileKey(rapid.SampledFrom([]string{"", "ab", "é"}).Draw(rt, "prefix"), uuid.New())
		out, err := dv.WriteFile(t.Context(), s, key, sets)
		require.NoError(rt, err)
		for i, d := range out {
			got, inFile, err := dv.Key(s.URL(), d)
			require.NoError(rt, err)
			require.True(rt, inFile)
			require.Equal(rt, key, got)
			set, err := dv.Read(t.Context(), s, d)
			require.NoError(rt, err)
			require.Equal(rt, before[i], set.ToArray())
			require.Equal(rt, before[i], sets[i].ToArray(), "the caller's set stays as it is")
		}
	})
}

func drawSet(t *rapid.T) *roaring64.Bitmap {
	set := roaring64.New()
	for range rapid.IntRange(1, 4).Draw(t, "ranges") {
		base := rapid.SampledFrom([]uint64{0, 1 << 16, 1 << 32, 1 << 33, 1<<62 + 7}).Draw(t, "base")
		start := base + rapid.Uint64Range(0, 70000).Draw(t, "start")
		if rapid.Bool().Draw(t, "run") {
			set.AddRange(start, start+rapid.Uint64Range(1, 9000).Draw(t, "length"))
		} else {
			for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<17), 1, 50).Draw(t, "values") {
				set.Add(base + v)
			}
		}
	}
	return set
}

func TestWriteFile_empty_set_or_foreign_name_leaves_nothing(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	key := dv.FileKey("", uuid.New())
	_, err := dv.WriteFile(t.Context(), s, key, []*roaring64.Bitmap{roaring64.BitmapOf(1), roaring64.New()})
	require.ErrorContains(t, err, "empty")
	_, err = dv.WriteFile(t.Context(), s, "data.bin", []*roaring64.Bitmap{roaring64.BitmapOf(1)})
	require.ErrorContains(t, err, "FileKey")
	for info, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		require.Fail(t, "left behind", info.Key)
	}
}

func TestRead_damaged_file_is_refused_at_every_byte(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	key := dv.FileKey("", uuid.New())
	out, err := dv.WriteFile(t.Context(), s, key, []*roaring64.Bitmap{roaring64.BitmapOf(1, 5, 70000, 1<<33)})
	require.NoError(t, err)
	good, err := storage.ReadAll(t.Context(), s, key, 0)
	require.NoError(t, err)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x41
		require.NoError(t, s.Put(t.Context(), key, bad))
		_, err := dv.Read(t.Context(), s, out[0])
		require.Error(t, err, "byte %d", i)
		require.NoError(t, s.Put(t.Context(), key, good[:i]))
		_, err = dv.Read(t.Context(), s, out[0])
		require.Error(t, err, "cut at %d", i)
	}
}

func TestRead_real_tables_deletion_vectors_have_the_rows_the_log_says(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LAKEWARDEN_TABLES")
	if dir == "" {
		t.Skip("LAKEWARDEN_TABLES names no folder with tables.json: real tables are not tested")
	}
	data, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	require.NoError(t, err)
	var tables []struct {
		Name, Path string
		Behaviour  struct{ Read string }
		Expected   struct {
			Snapshot  struct{ Files_with_dv int } //nolint:revive // the name in tables.json
			Rows_note string                      //nolint:revive // the name in tables.json
		}
	}
	require.NoError(t, json.Unmarshal(data, &tables))
	read := 0
	for _, tab := range tables {
		if tab.Expected.Snapshot.Files_with_dv == 0 || tab.Expected.Rows_note != "" || strings.HasPrefix(tab.Behaviour.Read, "must") {
			continue
		}
		s, err := storage.OpenLocal(filepath.Join(dir, tab.Path))
		require.NoError(t, err)
		st, err := log.Load(t.Context(), s, -1)
		require.NoError(t, err)
		for _, a := range st.Files {
			if a.DeletionVector != nil {
				set, err := dv.Read(t.Context(), s, a.DeletionVector)
				require.NoError(t, err, tab.Name)
				require.EqualValues(t, a.DeletionVector.Cardinality, set.GetCardinality())
				read++
			}
		}
		require.NoError(t, s.Close())
	}
	require.Positive(t, read)
	t.Logf("%d deletion vectors", read)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0xd1, 0xd3, 0x39, 0x64, 0, 0, 0, 0, 0, 0, 0, 0})
	s := storage.NewMemory()
	for _, set := range []*roaring64.Bitmap{roaring64.BitmapOf(1), roaring64.BitmapOf(3, 1<<20, 1<<40)} {
		set.AddRange(100, 9000)
		key := dv.FileKey("", uuid.New())
		_, err := dv.WriteFile(f.Context(), s, key, []*roaring64.Bitmap{set})
		require.NoError(f, err)
		data, err := storage.ReadAll(f.Context(), s, key, 0)
		require.NoError(f, err)
		f.Add(data[5 : len(data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := dv.Decode(data)
		if err != nil || set.GetCardinality() > 1<<20 {
			return
		}
		require.Equal(t, uint64(len(set.ToArray())), set.GetCardinality())
		if set.IsEmpty() {
			return
		}
		again, err := dv.Encode(set)
		require.NoError(t, err)
		back, err := dv.Decode(again)
		require.NoError(t, err)
		require.True(t, set.Equals(back))
	})
}
