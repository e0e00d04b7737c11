package deltaio_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Damage in any object of a table is told from a store that does not answer: the
// one is retried in vain, the other is not.
func TestDamage_in_each_kind_of_object_is_told_from_a_store_that_fails(t *testing.T) {
	t.Parallel()
	scanAll := func(tbl *deltaio.Table) error {
		snap, err := tbl.Snapshot(t.Context())
		if err != nil {
			return err
		}
		for rec, err := range snap.Scan(t.Context(), deltaio.ScanOptions{}) {
			if err != nil {
				return err
			}
			rec.Release()
		}
		return nil
	}
	for name, damage := range map[string]func(key string, b []byte) []byte{
		"a commit cut off": func(key string, b []byte) []byte {
			if strings.HasSuffix(key, "1.json") {
				return b[:len(b)/2]
			}
			return b
		},
		"a commit that is empty": func(key string, b []byte) []byte {
			if strings.HasSuffix(key, "1.json") {
				return nil
			}
			return b
		},
		"a data file that is no Parquet": func(key string, b []byte) []byte {
			if strings.HasSuffix(key, ".parquet") {
				return bytes.Repeat([]byte("x"), len(b))
			}
			return b
		},
		"a data file whose page was flipped": func(key string, b []byte) []byte {
			if strings.HasSuffix(key, ".parquet") {
				b = bytes.Clone(b)
				b[40] ^= 0xff
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			whole, damaged := memStore(c), memStore(c)
			appendRows(t, create(t, whole, c, deltaio.CreateOptions{}), deltaio.AppendOptions{}, row{1, date("2025-01-01"), 1.5})
			copyObjects(t, whole, damaged, damage)
			tbl, err := deltaio.Open(t.Context(), damaged, env(c))
			if err == nil {
				err = scanAll(tbl)
			}
			require.Error(t, err)
			require.True(t, deltaio.IsDamaged(err), "%v", err)

			f := storage.NewFault(whole)
			f.Fail(func(op storage.Op) error {
				if strings.HasSuffix(op.Key, ".parquet") {
					return errors.New("reset by peer")
				}
				return nil
			})
			tbl, err = deltaio.Open(t.Context(), f, env(c))
			require.NoError(t, err)
			err = scanAll(tbl)
			require.ErrorContains(t, err, "reset by peer")
			require.False(t, deltaio.IsDamaged(err), "%v", err)
		})
	}
}

func copyObjects(t *testing.T, from, to storage.Store, change func(string, []byte) []byte) {
	t.Helper()
	for info, err := range from.List(context.Background(), "", "") {
		require.NoError(t, err)
		b, err := storage.ReadAll(t.Context(), from, info.Key, 1<<20)
		require.NoError(t, err)
		require.NoError(t, to.Put(t.Context(), info.Key, change(info.Key, b)))
	}
}
