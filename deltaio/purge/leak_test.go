package purge_test

import (
	"bytes"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
)

var scanAll deltaio.ScanOptions

// pages gives the decompressed bytes of a Parquet file: dictionaries and data
// pages of every column chunk.
func pages(t tb, raw []byte) []byte {
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var out []byte
	for _, g := range f.RowGroups() {
		for _, c := range g.ColumnChunks() {
			p := c.Pages()
			for {
				page, err := p.ReadPage()
				if err != nil {
					break
				}
				if d := page.Dictionary(); d != nil {
					for i := range d.Len() {
						out = append(out, d.Index(int32(i)).Bytes()...)
						out = append(out, 0)
					}
				}
				vals := make([]parquet.Value, page.NumValues())
				n, _ := page.Values().ReadValues(vals) // short reads end the page
				for _, v := range vals[:n] {
					if !v.IsNull() && (v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray) {
						out = append(append(out, v.ByteArray()...), 0)
					}
				}
			}
			require.NoError(t, p.Close())
		}
	}
	return out
}

// emptyParquet is a file of the fixture's columns without rows.
func emptyParquet(t tb) []byte {
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		ID     *int64   `parquet:"id"`
		Name   *string  `parquet:"name"`
		Amount *float64 `parquet:"amount"`
	}](&buf)
	require.NoError(t, w.Close())
	return buf.Bytes()
}
