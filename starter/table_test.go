package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

var update = flag.Bool("update", false, "write the golden files of testdata/table")

// lakeSchema has a column of every kind that needs care when it is shown.
var lakeSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long},
	{Name: "region", Type: schema.String, Nullable: true},
	{Name: "event_date", Type: schema.Date, Nullable: true},
	{Name: "at", Type: schema.Timestamp, Nullable: true},
	{Name: "Net Amount", Type: schema.Decimal{Precision: 20, Scale: 3}, Nullable: true},
	{Name: "weight", Type: schema.Double, Nullable: true},
	{Name: "tags", Type: &schema.Map{Key: schema.String, Value: schema.Integer, ValueContainsNull: true}, Nullable: true},
	{Name: "lines", Nullable: true, Type: &schema.Array{ContainsNull: true, Element: &schema.Struct{Fields: []schema.Field{
		{Name: "sku", Type: schema.String, Nullable: true}, {Name: "raw", Type: schema.Binary, Nullable: true},
	}}}},
	{Name: "note", Type: schema.String, Nullable: true},
}}

const oldRows = `[
 {"id":1,"region":"north","event_date":"2024-01-05","at":"2024-01-05T10:00:00.123456Z","Net Amount":"12345678901234567.890","weight":0.1,"tags":[{"key":"a","value":1},{"key":"b","value":null}],"lines":[{"sku":"x\"y","raw":"AP8="},null],"note":"plain"},
 {"id":2,"region":"north","event_date":"2025-06-01","at":"2025-06-01T00:00:00Z","Net Amount":"-0.010","weight":1e300,"tags":[],"lines":[],"note":"two\nlines and \u001b[31mred"}]`

const newRows = `[
 {"id":"9007199254740993","region":null,"event_date":"2025-07-01","at":null,"Net Amount":null,"weight":null,"tags":null,"lines":null,"note":null},
 {"id":4,"region":"söuth/1","event_date":"2025-07-02","at":"1969-12-31T23:59:59.999999Z","Net Amount":"0.000","weight":-0.5,"tags":null,"lines":null,"note":"a note that is much longer than what a cell of a table on a terminal has room for"}]`

// tableHouse is a lakehouse with bronze.orders, of which a purge took a row.
type tableHouse struct {
	t   *testing.T
	dir string
	at  time.Time
	ids int
}

func newTableHouse(t *testing.T) *tableHouse {
	t.Helper()
	h := &tableHouse{t: t, dir: t.TempDir(), at: time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)}
	return h
}

func (h *tableHouse) env() deltaio.Env {
	return deltaio.Env{
		Engine: "lakewarden/test", Parallel: 1,
		Now:   func() time.Time { return h.at },
		NewID: func() string { h.ids++; return fmt.Sprintf("id-%04d", h.ids) },
	}
}

func (h *tableHouse) store() storage.Store {
	h.t.Helper()
	s, err := storage.OpenLocal(h.dir)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, s.Close()) })
	return s
}

// orders creates the table, appends twice, and purges what is older than 2025.
func (h *tableHouse) orders() {
	h.t.Helper()
	ctx, root := h.t.Context(), h.store()
	table, err := deltaio.Create(ctx, storage.Sub(root, "bronze/orders"), h.env(), deltaio.CreateOptions{
		Schema: lakeSchema, PartitionBy: []string{"region"}, Name: "orders", Description: "orders as they came", Properties: map[string]string{
			"delta.enableChangeDataFeed": "true", "delta.enableInCommitTimestamps": "true", "delta.columnMapping.mode": "name",
		},
	})
	require.NoError(h.t, err)
	for _, rows := range []string{oldRows, newRows} {
		_, err = deltaio.Append(ctx, table, deltaio.AppendOptions{Info: map[string]any{"userName": "loader@example.com"}}, batches(h.t, rows))
		require.NoError(h.t, err)
	}
	folder, err := evidence.OpenRun(root, "r-1")
	require.NoError(h.t, err)
	r := purge.Run{ID: "r-1", Journal: folder, Column: "_expurgo_flag", Criteria: purge.Criteria{
		Match: expr.MustParse("event_date < DATE'2025-01-01'"), Undated: expr.MustParse("event_date IS NULL"), Context: expr.Context{Now: h.at, Zone: time.UTC},
	}}
	plan, err := purge.PlanPurge(ctx, table, purge.PlanOptions{Run: r})
	require.NoError(h.t, err)
	_, err = purge.MarkRows(ctx, table, purge.MarkOptions{Run: r, Plan: plan.Record})
	require.NoError(h.t, err)
	archive := storage.Sub(root, "archive/orders")
	a, err := purge.ArchiveRows(ctx, table, archive, h.env(), purge.ArchiveOptions{Run: r, Plan: plan.Record, Attempt: 1, ArchivedAt: h.at})
	require.NoError(h.t, err)
	v, err := purge.VerifyArchive(ctx, table, archive, h.env(), purge.VerifyArchiveOptions{Run: r, Archive: a.Record})
	require.NoError(h.t, err)
	require.True(h.t, v.Agrees, "%v", v.Reasons)
	d, err := purge.DeleteMarked(ctx, table, purge.DeleteOptions{Run: r, Plan: plan.Record, Archive: a.Record, ArchiveStore: archive})
	require.NoError(h.t, err)
	require.EqualValues(h.t, 1, d.RowsDeleted)
}

func batches(t *testing.T, rows string) func(yield func(arrow.Record, error) bool) {
	t.Helper()
	as, err := schema.ArrowSchema(lakeSchema)
	require.NoError(t, err)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, as, strings.NewReader(rows))
	require.NoError(t, err)
	return func(yield func(arrow.Record, error) bool) { yield(rec, nil) }
}

// tableVerb runs a verb at noon of the day after the table was made.
func (h *tableHouse) tableVerb(args ...string) said {
	h.t.Helper()
	return runAt(h.t, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), append(append([]string{"table"}, args...), "--root", h.dir)...)
}

func runAt(t *testing.T, now time.Time, args ...string) said {
	t.Helper()
	for _, name := range []string{"CONFIG", "ROOT", "QUEUE", "PARALLEL", "RUN_FOLDERS"} {
		t.Setenv("LAKEWARDEN_"+name, "")
	}
	var out, progress bytes.Buffer
	a := newApp(&out, &progress)
	a.now = func() time.Time { return now }
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return said{out.String(), err}
}

var (
	fileTime = regexp.MustCompile(`"modified": ?"[^"]*"(,"partition")`)
	sizes    = regexp.MustCompile(`([bB]ytes|size)[": ]+[0-9]+|[0-9]+ bytes`)
	newIDs   = regexp.MustCompile(`id-[0-9]{4}`)
	digits   = regexp.MustCompile(`[0-9]`)
)

// steady takes out of a text what changes from run to run, or with the writer of
// Parquet files: the folder, times of objects, sizes.
func (h *tableHouse) steady(text string) string {
	text = strings.ReplaceAll(text, h.dir, "ROOT")
	text = fileTime.ReplaceAllString(text, `"modified":"TIME"$1`)
	mask := func(s string) string { return digits.ReplaceAllString(s, "#") }
	text = newIDs.ReplaceAllStringFunc(text, mask)
	text = sizes.ReplaceAllStringFunc(text, mask)
	require.NoError(h.t, filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".parquet") {
			return err
		}
		info, err := d.Info()
		size := fmt.Sprintf(" %d ", info.Size())
		text = strings.ReplaceAll(text, size, mask(size))
		return err
	}))
	return text
}

func (h *tableHouse) golden(name string, args ...string) {
	h.t.Helper()
	s := h.tableVerb(args...)
	require.NoError(h.t, s.err, "%v: %s", args, s.out)
	got, path := h.steady(s.out), filepath.Join("testdata", "table", name)
	if *update {
		require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(h.t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(h.t, err, "go test ./starter -run TestTable -update writes it")
	require.Equal(h.t, string(want), got, "%v; go test ./starter -run TestTable -update writes it anew", args)
}

func TestTable_verbs_printWhatTheyAlwaysPrinted(t *testing.T) {
	h := newTableHouse(t)
	h.orders()
	for _, c := range [][]string{
		{"detail.txt", "detail"}, {"detail.json", "detail", "--json"},
		{"history.txt", "history"}, {"history.json", "history", "--json", "--limit", "2"}, {"history-then.txt", "history", "--version", "1"},
		{"schema.txt", "schema"}, {"schema.json", "schema", "--json", "--version", "0"},
		{"files.txt", "files"}, {"files.json", "files", "--json"},
		{"partitions.txt", "partitions"}, {"partitions.json", "partitions", "--json", "--version", "1"},
		{"show.txt", "show"}, {"show-full.txt", "show", "--full", "--columns", "note,ID", "--where", "id = 4"}, {"show-two.txt", "show", "--version", "2", "--limit", "2", "--columns", "id"},
		{"show.json", "show", "--json", "--version", "2"},
		{"checksum.txt", "checksum"}, {"checksum.json", "checksum", "--json"},
		{"changes.txt", "changes", "--from", "1"}, {"changes.json", "changes", "--from", "1", "--to", "1", "--json"},
		{"fsck.txt", "fsck", "--deep"}, {"fsck.json", "fsck", "--json"},
	} {
		h.golden(c[0], append([]string{c[1], "bronze.orders"}, c[2:]...)...)
	}
}

func TestTable_pathAndName_areTheSameTable(t *testing.T) {
	h := newTableHouse(t)
	h.orders()
	byName, byPath := h.tableVerb("checksum", "bronze.orders", "--json"), h.tableVerb("checksum", filepath.Join(h.dir, "bronze", "orders"), "--json")
	require.NoError(t, byName.err)
	require.NoError(t, byPath.err)
	require.Equal(t, byName.out, byPath.out)
	byURL := h.tableVerb("checksum", "file://"+h.dir+"/bronze/orders", "--json")
	require.NoError(t, byURL.err)
	require.Equal(t, byName.out, byURL.out)
	t.Chdir(filepath.Join(h.dir, "bronze"))
	relative := h.tableVerb("checksum", "./orders", "--json")
	require.NoError(t, relative.err)
	require.Equal(t, byName.out, relative.out)
}

func TestTable_timestamp_choosesTheVersionOfThatTime(t *testing.T) {
	h := newTableHouse(t)
	h.orders()
	require.Contains(t, h.tableVerb("show", "bronze.orders", "--timestamp", "2027-01-01").out, "3 rows of version 5")
	s := h.tableVerb("show", "bronze.orders", "--timestamp", "2025-12-31")
	require.ErrorIs(t, s.err, deltaio.ErrNoVersion)
	s = h.tableVerb("changes", "bronze.orders", "--from", "2026-01-01T00:00:00Z", "--to", "2027-01-01", "--json")
	require.NoError(t, s.err)
	require.Contains(t, s.out, `"_commit_version":1`)
}

func TestTable_badInput_isAClearError(t *testing.T) {
	h := newTableHouse(t)
	h.orders()
	plain := filepath.Join(h.dir, "plain")
	require.NoError(t, os.Mkdir(plain, 0o755))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"detail", "bronze.gone"}, "not a Delta table"},
		{[]string{"detail", plain}, "it has no _delta_log"},
		{[]string{"detail", filepath.Join(h.dir, "nowhere")}, "does not exist"},
		{[]string{"detail", "orders"}, "want schema.table, such as bronze.vendas (a folder is written as a path, such as ./orders)"},
		{[]string{"detail", "bronze..."}, "want schema.table"},
		{[]string{"detail", "s3://bucket/orders"}, "s3"},
		{[]string{"show", "bronze.orders", "--version", "6"}, "version is not available"},
		{[]string{"checksum", "bronze.orders", "--version", "-2"}, "version is not available"},
		{[]string{"history", "bronze.orders", "--version", "99"}, "version is not available"},
		{[]string{"files", "bronze.orders", "--timestamp", "yesterday"}, "want 2026-01-31 or 2026-01-31T10:00:00Z"},
		{[]string{"files", "bronze.orders", "--timestamp", "2026-01-01", "--version", "1"}, "none of the others can be"},
		{[]string{"show", "bronze.orders", "--columns", "id,colour"}, `there is no column "colour"`},
		{[]string{"show", "bronze.orders", "--columns", "id,ID"}, "named twice"},
		{[]string{"show", "bronze.orders", "--where", "id ="}, "--where"},
		{[]string{"show", "bronze.orders", "--where", "colour = 1"}, "colour"},
		{[]string{"show", "bronze.orders", "--limit", "-1"}, "--limit -1"},
		{[]string{"changes", "bronze.orders"}, "--from is missing"},
		{[]string{"changes", "bronze.orders", "--from", "3", "--to", "2"}, "want 0 <= from <= to"},
		{[]string{"changes", "bronze.orders", "--from", "soon"}, "want a version or a time"},
	} {
		s := h.tableVerb(c.args...)
		require.ErrorContains(t, s.err, c.says, "%v", c.args)
		require.Empty(t, s.out, "%v", c.args)
	}
}

func TestTableFsck_exitCode_tellsCleanFindingsAndCouldNotLook(t *testing.T) {
	h := newTableHouse(t)
	h.orders()
	code := func(args ...string) int {
		s := h.tableVerb(append([]string{"fsck"}, args...)...)
		var coded interface{ ExitCode() int }
		switch {
		case s.err == nil:
			return 0
		case s.quiet():
			require.NotContains(t, s.out, "clean")
			return 1
		}
		require.ErrorAs(t, s.err, &coded)
		return coded.ExitCode()
	}
	require.Equal(t, 0, code("bronze.orders"))
	require.Equal(t, 2, code("bronze.gone"))
	require.Equal(t, 2, code("bronze.orders", "--version", "77"))
	stray := filepath.Join(h.dir, "bronze", "orders", "stray.parquet")
	require.NoError(t, os.WriteFile(stray, []byte("x"), 0o600))
	require.Equal(t, 1, code("bronze.orders"))
	require.NoError(t, os.Remove(stray))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "bronze", "orders", "_delta_log", fmt.Sprintf("%020d.json", 2)), []byte("{"), 0o600))
	require.Equal(t, 1, code("bronze.orders"), "a log that does not read is a finding")
}

func TestTable_aPathThatLeadsOutside_isRefused(t *testing.T) {
	h := newTableHouse(t)
	h.orders()
	elsewhere := filepath.Join(t.TempDir(), "secret.parquet")
	require.NoError(t, os.WriteFile(elsewhere, []byte("not yours"), 0o600))
	add := fmt.Sprintf(`{"add":{"path":"file://%s","partitionValues":{"region":"north"},"size":9,"modificationTime":1,"dataChange":true}}`, elsewhere)
	info := `{"commitInfo":{"timestamp":1767240000000,"inCommitTimestamp":1767240000000,"operation":"CLONE"}}`
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "bronze", "orders", "_delta_log", fmt.Sprintf("%020d.json", 6)), []byte(info+"\n"+add+"\n"), 0o600))
	for _, v := range []string{"show", "checksum"} {
		s := h.tableVerb(v, "bronze.orders")
		require.ErrorContains(t, s.err, "outside", v)
		require.NotContains(t, s.out, "not yours")
	}
	s := h.tableVerb("fsck", "bronze.orders")
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "outside")
}
