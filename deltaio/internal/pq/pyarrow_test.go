package pq

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var pyarrowSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "long", Type: schema.Long, Nullable: true},
	{Name: "few", Type: schema.Integer, Nullable: true},
	{Name: "flag", Type: schema.Boolean, Nullable: true},
	{Name: "real", Type: schema.Double, Nullable: true},
	{Name: "text", Type: schema.String, Nullable: true},
	{Name: "bytes", Type: schema.Binary, Nullable: true},
	{Name: "date", Type: schema.Date, Nullable: true},
	{Name: "utc", Type: schema.Timestamp, Nullable: true},
	{Name: "ntz", Type: schema.TimestampNTZ, Nullable: true},
	{Name: "money", Type: schema.Decimal{Precision: 12, Scale: 2}, Nullable: true},
	{Name: "big", Type: schema.Decimal{Precision: 30, Scale: 5}, Nullable: true},
	{Name: "list", Type: &schema.Array{Element: schema.Integer, ContainsNull: true}, Nullable: true},
	{Name: "deep", Type: &schema.Array{Element: &schema.Array{Element: schema.String, ContainsNull: true}, ContainsNull: true}, Nullable: true},
	{Name: "pair", Type: &schema.Struct{Fields: []schema.Field{
		{Name: "a", Type: schema.Long, Nullable: true},
		{Name: "b", Type: &schema.Struct{Fields: []schema.Field{{Name: "c", Type: schema.String, Nullable: true}}}, Nullable: true},
	}}, Nullable: true},
	{Name: "map", Type: &schema.Map{Key: schema.String, Value: schema.Double, ValueContainsNull: true}, Nullable: true},
}}

// TestRewrite_files_of_pyarrow_are_judged_by_pyarrow needs LAKEWARDEN_PYTHON: a
// Python that has pyarrow.
func TestRewrite_files_of_pyarrow_are_judged_by_pyarrow(t *testing.T) {
	t.Parallel()
	python := os.Getenv("LAKEWARDEN_PYTHON")
	if python == "" {
		t.Skip("LAKEWARDEN_PYTHON names no Python with pyarrow")
	}
	dir := t.TempDir()
	run := func(verb string) {
		out, err := exec.CommandContext(t.Context(), python, "testdata/pyarrow_files.py", verb, dir).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run("write")
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		base := strings.TrimSuffix(name, ".parquet")
		mask, err := os.ReadFile(base + ".mask")
		require.NoError(t, err)
		rows := NewBitmap(len(mask))
		for i, c := range mask {
			if c == '1' {
				rows.Set(i)
			}
		}
		out, _ := rewriteAll(t, data, Options{}, Output{Columns: columnsOf(pyarrowSchema), Rows: rows})
		require.NoError(t, os.WriteFile(base+".out", out[0], 0o600))
	}
	run("judge")
}
