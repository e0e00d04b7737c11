package lake

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func open(t *testing.T, c Config) *Lake {
	t.Helper()
	stores := map[string]storage.Store{}
	for _, r := range c.Roots {
		s, err := storage.OpenLocal(t.TempDir())
		require.NoError(t, err)
		stores[r.URL] = s
	}
	l, err := New(c, func(_ context.Context, url string) (storage.Store, error) { return stores[url], nil })
	require.NoError(t, err)
	return l
}

func url(t *testing.T, l *Lake, table string) string {
	t.Helper()
	s, err := l.Table(t.Context(), table)
	require.NoError(t, err)
	return s.URL()
}

func TestTable_liesUnderTheRootThatNamesItsSchema_elseUnderTheOther(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Roots: []Root{
		{URL: "a", Schemas: []string{"bronze", "silver"}, Layout: "Tables/{schema}_{table}"}, {URL: "b"},
	}})
	bronze, gold := url(t, l, "bronze.vendas"), url(t, l, "gold.sales") // which opens the roots
	require.Equal(t, l.stores["a"].URL()+"/Tables/bronze_vendas", bronze)
	require.Equal(t, l.stores["b"].URL()+"/gold/sales", gold)
}

func TestTable_refusesNamesThatAreNoTables(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Roots: []Root{{URL: "a"}}})
	for _, name := range []string{
		"", "vendas", "bronze.", ".vendas", "..x", "bronze...", "bronze.a/b", `bronze.a\b`, "../x.y", "_delta_log.x", "bronze._x", "a.b\x00",
	} {
		_, err := l.Table(t.Context(), name)
		require.ErrorContains(t, err, "want schema.table", "%q", name)
	}
}

func TestTable_ofASchemaThatNoRootHolds_isErrNoRoot(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Roots: []Root{{URL: "a", Schemas: []string{"bronze"}}}})
	_, err := l.Table(t.Context(), "gold.sales")
	require.ErrorIs(t, err, ErrNoRoot)
	_, err = l.Run(t.Context(), "r-1")
	require.ErrorIs(t, err, ErrNoRoot)
	require.ErrorContains(t, err, "run_folders")
}

func TestRun_liesBesideTheControlTables_whereEnginesSeeNoTable(t *testing.T) {
	t.Parallel()
	l := open(t, Config{Roots: []Root{{URL: "a", Schemas: []string{"bronze"}}, {URL: "b", Schemas: []string{"control"}}}})
	f, err := l.Run(t.Context(), "r-1")
	require.NoError(t, err)
	require.Equal(t, l.stores["b"].URL()+"/_lakewarden/runs/r-1", f.URL())
}

func TestNew_refusesAConfigurationThatIsNotClear(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"no lakehouse root is configured": {},
		"root 1 has no url":               {Roots: []Root{{}}},
		"must contain {table}":            {Roots: []Root{{URL: "a", Layout: "{schema}"}}},
		"both claim schema bronze":        {Roots: []Root{{URL: "a", Schemas: []string{"bronze"}}, {URL: "b", Schemas: []string{"bronze"}}}},
		"every schema that no other":      {Roots: []Root{{URL: "a"}, {URL: "b"}}},
	} {
		_, err := New(c, storage.Open)
		require.ErrorContains(t, err, want)
	}
}
