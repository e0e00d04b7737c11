package matrix

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// traces finds the marker strings of rows in every object below a prefix of the
// disk, in the raw bytes and in the decompressed pages and dictionaries of
// Parquet files. It gives keys, with what was found there.
func (w *world) traces(prefix string, rows []sale) map[string][]string {
	w.t.Helper()
	out := map[string][]string{}
	for info, err := range w.disk.List(w.ctx, prefix, "") {
		require.NoError(w.t, err)
		data, err := storage.ReadAll(w.ctx, w.disk, info.Key, 0)
		require.NoError(w.t, err)
		if strings.HasSuffix(info.Key, ".parquet") {
			data = append(data, pages(w.t, data)...)
		}
		for _, r := range rows {
			if bytes.Contains(data, []byte(r.name)) {
				out[info.Key] = append(out[info.Key], r.name)
			}
		}
	}
	return out
}

// pages gives the values of every dictionary and page of a Parquet file.
func pages(t tb, raw []byte) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var out []byte
	for _, g := range f.RowGroups() {
		for _, c := range g.ColumnChunks() {
			p := c.Pages()
			for {
				page, err := p.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				out = appendPage(out, page)
			}
			require.NoError(t, p.Close())
		}
	}
	return out
}

func appendPage(out []byte, page parquet.Page) []byte {
	if d := page.Dictionary(); d != nil {
		for i := range d.Len() {
			out = append(append(out, d.Index(int32(i)).Bytes()...), 0)
		}
	}
	values := make([]parquet.Value, page.NumValues())
	n, _ := page.Values().ReadValues(values) // io.EOF ends the page
	for _, v := range values[:n] {
		if v.Kind() == parquet.ByteArray {
			out = append(append(out, v.ByteArray()...), 0)
		}
	}
	return out
}

// dataTraces are traces outside the log.
func (w *world) dataTraces(prefix string, rows []sale) map[string][]string {
	w.t.Helper()
	out := w.traces(prefix, rows)
	for key := range out {
		if strings.Contains(key, "/_delta_log/") {
			delete(out, key)
		}
	}
	return out
}

// liveTraces are traces in the files that the newest version of the table names.
func (w *world) liveTraces(rows []sale) map[string][]string {
	w.t.Helper()
	all := w.traces(tablePath, rows)
	out := map[string][]string{}
	for _, f := range w.snapshot(tableName).Files() {
		if found := all[tablePath+f.Key().Path]; found != nil {
			out[f.Path] = found
		}
	}
	return out
}
