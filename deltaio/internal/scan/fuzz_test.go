package scan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
)

// FuzzBatches reads mutations of sound files with the schema of the original:
// whatever comes, no decoder may panic.
func FuzzBatches(f *testing.F) {
	for seed := range uint64(40) {
		file, _, _ := randomFile(f, seed, 10)
		f.Add(seed, file)
	}
	f.Fuzz(func(t *testing.T, seed uint64, file []byte) {
		_, s, _ := randomFile(t, seed%40, 0)
		pf, err := scan.Open(inMemory(file))
		require.False(t, scan.Panicked(err), "%v", err)
		if err != nil || pf.NumRows() > 100_000 {
			return
		}
		enc := rowtext.New(s)
		for rec, err := range pf.Batches(t.Context(), scan.Options{Schema: s, BatchRows: 50}) {
			require.False(t, scan.Panicked(err), "%v", err)
			if err != nil {
				return
			}
			require.NoError(t, enc.Rows(rec, func(int, []byte) error { return nil }))
			rec.Release()
		}
		for i := range s.Fields {
			for g := range pf.RowGroupRows() {
				pf.Range(&s.Fields[i], g)
			}
		}
	})
}
