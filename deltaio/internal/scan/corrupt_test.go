package scan_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// victim is a sound file to damage.
type victim struct {
	file   []byte
	schema *schema.Struct
	want   []string
	bodies [][2]int64 // byte ranges that checksums cover
}

func victims(t *testing.T) []victim {
	var all []victim
	for seed := range uint64(60) {
		file, s, want := randomFile(t, seed, 1+int(seed)*7)
		v := victim{file: file, schema: s, want: want}
		v.bodies = checkedBodies(t, file)
		all = append(all, v)
	}
	for seed := range uint64(20) {
		g := newGen(seed)
		s := g.deltaStruct(2, 4)
		as, err := schema.ArrowSchema(s)
		require.NoError(t, err)
		b := array.NewRecordBuilder(memory.DefaultAllocator, as)
		v := victim{schema: s}
		for range 50 {
			row := g.deltaValue(s, false).([]any)
			for i, x := range row {
				appendModel(b.Field(i), x)
			}
			v.want = append(v.want, modelRow(s, row))
		}
		var out bytes.Buffer
		w, err := pqarrow.NewFileWriter(as, &out, g.arrowProperties(), pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, w.Write(b.NewRecord()))
		require.NoError(t, w.Close())
		v.file = out.Bytes()
		all = append(all, v)
	}
	return all
}

// checkedBodies finds the bytes of pages that carry a checksum.
func checkedBodies(t *testing.T, file []byte) (bodies [][2]int64) {
	meta, err := footer.Read(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, g := range meta.RowGroups {
		for i := range g.Chunks {
			for at, end := g.Chunks[i].Bounds(); at < end; {
				h, n, _, err := footer.ParseHeader(file[at:end])
				require.NoError(t, err)
				at += int64(n)
				if h.HasCRC {
					bodies = append(bodies, [2]int64{at, at + int64(h.CompressedSize)})
				}
				at += int64(h.CompressedSize)
			}
		}
	}
	return bodies
}

func covered(v victim, at int) bool {
	return slices.ContainsFunc(v.bodies, func(b [2]int64) bool { return int64(at) >= b[0] && int64(at) < b[1] })
}

// damage changes a copy of the file, and says whether only checked bytes
// changed.
func damage(r *rand.Rand, v victim) (file []byte, checked bool) {
	file = slices.Clone(v.file)
	at := r.IntN(len(file))
	if r.IntN(3) == 0 { // footers are small, and the most delicate part
		at = len(file) - 1 - r.IntN(min(len(file), 2000))
	}
	switch r.IntN(6) {
	case 0:
		return file[:at], false
	case 1:
		n := min(1+r.IntN(40), len(file)-at)
		for i := range n {
			file[at+i] = byte(r.Uint32())
		}
		return file, covered(v, at) && covered(v, at+n-1) && n < 8
	case 2:
		file[at] = []byte{0, 0x7f, 0x80, 0xff}[r.IntN(4)]
	case 3:
		n := r.IntN(20)
		return append(file[:at:at], append(make([]byte, n), file[at:]...)...), false
	default:
		file[at] ^= 1 << r.IntN(8)
	}
	return file, covered(v, at)
}

func TestBatches_damaged_files_give_the_rows_or_an_error(t *testing.T) {
	damages := 2000
	if testing.Short() {
		damages = 200
	}
	all := victims(t)
	r := rand.New(rand.NewPCG(1, 2))
	var refused, harmless, silent int
	for i := range damages {
		v := all[r.IntN(len(all))]
		file, checked := damage(r, v)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		got, err := readTexts(t, file, scan.Options{Schema: v.schema, BatchRows: 1 + r.IntN(200)})
		require.Less(t, time.Since(start), 10*time.Second, "damage %d", i)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512<<20), "damage %d: %v", i, err)
		require.False(t, scan.Panicked(err), "damage %d: %v", i, err)
		switch {
		case err != nil:
			require.ErrorContains(t, err, "part-1.parquet")
			refused++
		case slices.Equal(got, v.want):
			harmless++
		default:
			silent++
			require.False(t, checked, "damage %d: other rows, though a checksum covers the damage", i)
		}
	}
	t.Logf("%d damages: %d refused, %d harmless, %d read as other rows (all outside of checksums)", damages, refused, harmless, silent)
}
