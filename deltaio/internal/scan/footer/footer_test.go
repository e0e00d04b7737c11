package footer_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	require.NoError(t, err)
	return b
}

type nested struct {
	A int64   `parquet:"a,optional"`
	L []point `parquet:"l,list"`
}

type point struct {
	X int32  `parquet:"x"`
	Y string `parquet:"y,optional"`
}

func sample(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[nested](&out, parquet.KeyValueMetadata("k", "v"), parquet.MaxRowsPerRowGroup(2))
	_, err := w.Write([]nested{{1, []point{{1, "a"}}}, {2, nil}, {3, nil}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestRead_levels_of_nested_columns_follow_the_tree(t *testing.T) {
	t.Parallel()
	b := sample(t)
	f, err := footer.Read(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Len(t, f.RowGroups, 2)
	require.Equal(t, map[string]string{"k": "v"}, f.KeyValue)
	var got []string
	levels := map[string][3]int{}
	for _, l := range f.Leaves {
		got = append(got, l.Path())
		levels[l.Path()] = [3]int{l.MaxDef, l.MaxRep, l.ElemDef}
	}
	require.Equal(t, []string{"a", "l.list.element.x", "l.list.element.y"}, got)
	require.Equal(t, map[string][3]int{"a": {1, 0, 0}, "l.list.element.x": {1, 1, 1}, "l.list.element.y": {2, 1, 1}}, levels)
}

func TestRead_sizes_that_the_file_cannot_hold_are_refused(t *testing.T) {
	t.Parallel()
	b := sample(t)
	for name, damaged := range map[string][]byte{
		"empty":        {},
		"short":        []byte("PAR1PAR1"),
		"no magic":     append(bytes.Clone(b[:len(b)-4]), "PAR2"...),
		"cut off":      b[:len(b)-20],
		"huge footer":  append(bytes.Clone(b[:len(b)-8]), 0xff, 0xff, 0xff, 0x7f, 'P', 'A', 'R', '1'),
		"empty footer": append(bytes.Clone(b[:len(b)-8]), 0, 0, 0, 0, 'P', 'A', 'R', '1'),
	} {
		_, err := footer.Read(bytes.NewReader(damaged), int64(len(damaged)))
		require.ErrorIs(t, err, footer.ErrCorrupt, name)
	}
	encrypted := append(bytes.Clone(b[:len(b)-4]), "PARE"...)
	_, err := footer.Read(bytes.NewReader(encrypted), int64(len(encrypted)))
	require.ErrorIs(t, err, footer.ErrUnsupported)
}

func TestRead_a_store_that_fails_is_not_a_corrupt_file(t *testing.T) {
	t.Parallel()
	_, err := footer.Read(failing{}, 1000)
	require.ErrorIs(t, err, errStore)
	require.NotErrorIs(t, err, footer.ErrCorrupt)
}

var errStore = errors.New("the store is down")

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errStore }

func TestParse_claims_of_a_contradictory_footer_are_refused(t *testing.T) {
	t.Parallel()
	i32, required := format.Int32, format.Required
	good := func() *format.FileMetaData {
		return &format.FileMetaData{
			Version: 1,
			Schema: []format.SchemaElement{
				{Name: "root", NumChildren: thrift.New(int32(1))},
				{Name: "a", Type: thrift.New(i32), RepetitionType: thrift.New(required)},
			},
			RowGroups: []format.RowGroup{{NumRows: 1, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
				Type: i32, PathInSchema: []string{"a"}, NumValues: 1, DataPageOffset: 4, TotalCompressedSize: 10, TotalUncompressedSize: 10, Encoding: []format.Encoding{format.Plain},
			}}}}},
			NumRows: 1,
		}
	}
	read := func(m *format.FileMetaData) error {
		foot := marshal(t, m)
		b := append([]byte("PAR1"), make([]byte, 20)...)
		b = append(b, foot...)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(foot))), "PAR1"...)
		_, err := footer.Read(bytes.NewReader(b), int64(len(b)))
		return err
	}
	require.NoError(t, read(good()))
	for name, damage := range map[string]func(*format.FileMetaData){
		"rows":             func(m *format.FileMetaData) { m.NumRows = 2 },
		"negative rows":    func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 },
		"values":           func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 5 },
		"type":             func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = format.Double },
		"path":             func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.PathInSchema = []string{"b"} },
		"offset":           func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 1 << 40 },
		"size":             func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 60 },
		"overflowing size": func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1<<63 - 1 },
		"no chunks":        func(m *format.FileMetaData) { m.RowGroups[0].Columns = nil },
		"no schema":        func(m *format.FileMetaData) { m.Schema = nil },
		"children":         func(m *format.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(7)) },
		"stray elements":   func(m *format.FileMetaData) { m.Schema = append(m.Schema, m.Schema[1]) },
		"physical type":    func(m *format.FileMetaData) { m.Schema[1].Type = thrift.New(format.Type(99)) },
		"repetition":       func(m *format.FileMetaData) { m.Schema[1].RepetitionType = thrift.New(format.FieldRepetitionType(9)) },
	} {
		m := good()
		damage(m)
		require.ErrorIs(t, read(m), footer.ErrCorrupt, name)
	}
	foreign := good()
	foreign.RowGroups[0].Columns[0].FilePath = "elsewhere.parquet"
	require.ErrorIs(t, read(foreign), footer.ErrUnsupported)
}

func TestParseHeader_presence_of_a_checksum_is_told_from_zero(t *testing.T) {
	t.Parallel()
	// Thrift compact: type 0, sizes 10 and 10, [crc 0], data page of 1 value.
	without := []byte{0x15, 0x00, 0x15, 0x14, 0x15, 0x14, 0x2c, 0x15, 0x02, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00}
	with := []byte{0x15, 0x00, 0x15, 0x14, 0x15, 0x14, 0x15, 0x00, 0x1c, 0x15, 0x02, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00}
	h, n, _, err := footer.ParseHeader(append(without, 7, 7))
	require.NoError(t, err)
	require.Equal(t, len(without), n)
	require.False(t, h.HasCRC)
	h, _, _, err = footer.ParseHeader(with)
	require.NoError(t, err)
	require.True(t, h.HasCRC)
	require.Zero(t, h.CRC)
	for cut := range with {
		_, _, more, err := footer.ParseHeader(with[:cut])
		require.ErrorIs(t, err, footer.ErrCorrupt)
		require.True(t, more, "cut at %d: a longer window might do", cut)
	}
}

func FuzzParse(f *testing.F) {
	b := sample(f)
	f.Add(b[len(b)-8-int(binary.LittleEndian.Uint32(b[len(b)-8:])) : len(b)-8])
	f.Add([]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0x07})
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := footer.Parse(b); err == nil {
			_, _, _ = m.Tree()
		}
		_, _, _, _ = footer.ParseHeader(b)
	})
}
