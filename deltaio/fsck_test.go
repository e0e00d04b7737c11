package deltaio_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// fsckTable has two files, one with a deletion vector, a removed one, a
// checkpoint and checksums.
func fsckTable(t *testing.T, c *clock) (*storage.Memory, *deltaio.Table) {
	t.Helper()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.enableDeletionVectors": "true"}})
	appendRows(t, table, deltaio.AppendOptions{}, row{1, date("2025-01-01"), 1}, row{2, nil, 2})
	appendRows(t, table, deltaio.AppendOptions{}, row{3, date("2025-01-01"), 1})
	appendRows(t, table, deltaio.AppendOptions{FilePrefix: "gone"}, row{4, nil, 1})
	for _, f := range snapshot(t, table).Files() {
		if strings.HasPrefix(f.Path, "gone") {
			commitActions(t, table, log.Action{Remove: f.Remove(c.Now().UnixMilli(), true)})
		}
	}
	for _, f := range snapshot(t, table).Files() {
		if n, _ := f.NumRecords(); n == 2 {
			hide(t, table, c, f, 1)
		}
	}
	_, err := deltaio.Checkpoint(t.Context(), table)
	require.NoError(t, err)
	return s, table
}

func fsck(t *testing.T, s storage.Store, c *clock, opt deltaio.FsckOptions) *deltaio.FsckReport {
	t.Helper()
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	snap, err := table.Snapshot(t.Context())
	if err != nil {
		r := deltaio.FsckDamaged(table, opt, err)
		require.NotNil(t, r, "%v", err)
		return r
	}
	r, err := deltaio.Fsck(t.Context(), snap, opt)
	require.NoError(t, err)
	return r
}

func TestFsck_of_a_sound_table_finds_nothing_and_counts_what_it_saw(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, _ := fsckTable(t, c)
	r := fsck(t, s, c, deltaio.FsckOptions{Deep: true})
	require.True(t, r.Clean(), "%v", r.Findings)
	require.Equal(t, 2, r.Files)
	require.Equal(t, 4, r.Objects, "three data files and a deletion vector")
	require.Equal(t, 6, r.Commits)
	require.Equal(t, 1, r.Checkpoints)
	require.Equal(t, 6, r.Checksums)
	require.Equal(t, []int{1, 0}, []int{r.Removed, r.Due})
	c.Add(8 * 24 * time.Hour)
	require.Equal(t, 1, fsck(t, s, c, deltaio.FsckOptions{}).Due)
}

// object finds the one key that a test is about.
func object(t *testing.T, s storage.Store, match func(string) bool) string {
	t.Helper()
	for info, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		if match(info.Key) {
			return info.Key
		}
	}
	require.Fail(t, "no such object")
	return ""
}

func TestFsck_each_kind_of_damage_is_found_and_named(t *testing.T) {
	t.Parallel()
	live := func(t *testing.T, table *deltaio.Table, vector bool) string {
		for _, f := range snapshot(t, table).Files() {
			if (f.DeletionVector != nil) == vector {
				return mustKey(t, f)
			}
		}
		return ""
	}
	edit := func(t *testing.T, s storage.Store, key string, change func([]byte) []byte) string {
		b, err := storage.ReadAll(t.Context(), s, key, 0)
		require.NoError(t, err)
		require.NoError(t, s.Put(t.Context(), key, change(b)))
		return key
	}
	suffix := func(s string) func(string) bool { return func(k string) bool { return strings.HasSuffix(k, s) } }
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[(at+len(b))%len(b)] ^= 0x40; return b }
	}
	for name, c := range map[string]struct {
		kind   deltaio.FindingKind
		deep   bool // only deep finds it
		damage func(*testing.T, storage.Store, *deltaio.Table) string
	}{
		"missing file": {deltaio.FindingMissing, false, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			key := live(t, tab, false)
			require.NoError(t, s.Delete(t.Context(), key))
			return key
		}},
		"truncated file": {deltaio.FindingTruncated, false, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			return edit(t, s, live(t, tab, false), func(b []byte) []byte { return b[:len(b)-10] })
		}},
		"longer file": {deltaio.FindingSize, false, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			return edit(t, s, live(t, tab, false), func(b []byte) []byte { return append([]byte("PAR1"), b[:len(b):len(b)]...) })
		}},
		"footer": {deltaio.FindingUnreadable, false, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			return edit(t, s, live(t, tab, false), flip(-1))
		}},
		"page": {deltaio.FindingPage, true, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			return edit(t, s, live(t, tab, false), flip(40))
		}},
		"deletion vector gone": {deltaio.FindingVector, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			key := object(t, s, suffix(".bin"))
			require.NoError(t, s.Delete(t.Context(), key))
			return key
		}},
		"deletion vector flipped": {deltaio.FindingVector, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, object(t, s, suffix(".bin")), flip(-3))
		}},
		"stray": {deltaio.FindingUnreferenced, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			require.NoError(t, s.Put(t.Context(), "stray.parquet", nil))
			return "stray.parquet"
		}},
		"checkpoint": {deltaio.FindingLog, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, object(t, s, suffix(".checkpoint.parquet")), func(b []byte) []byte { return b[:len(b)/2] })
		}},
		"hint that is no JSON": {deltaio.FindingHint, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, "_delta_log/_last_checkpoint", func([]byte) []byte { return []byte("{") })
		}},
		"hint of no checkpoint": {deltaio.FindingHint, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, "_delta_log/_last_checkpoint", func([]byte) []byte { return []byte(`{"version":3,"size":1}`) })
		}},
		"a commit behind the checkpoint": {deltaio.FindingLog, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			require.NoError(t, s.Delete(t.Context(), log.CommitKey(2)))
			return log.CommitKey(2)
		}},
		"a commit that is not what the checkpoint says": {deltaio.FindingLog, true, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			edit(t, s, log.CommitKey(2), func(b []byte) []byte { return []byte(strings.Replace(string(b), `"add"`, `"bad"`, 1)) })
			return object(t, s, suffix(".checkpoint.parquet"))
		}},
		"checksum of this version": {deltaio.FindingChecksum, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, log.ChecksumKey(5), func(b []byte) []byte { return []byte(strings.Replace(string(b), `"numFiles":2`, `"numFiles":7`, 1)) })
		}},
		"checksum that does not parse": {deltaio.FindingChecksum, false, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, log.ChecksumKey(5), func(b []byte) []byte { return b[:9] })
		}},
		"checksum of an older version": {deltaio.FindingChecksum, true, func(t *testing.T, s storage.Store, _ *deltaio.Table) string {
			return edit(t, s, log.ChecksumKey(2), func(b []byte) []byte { return []byte(strings.Replace(string(b), `"numFiles":2`, `"numFiles":7`, 1)) })
		}},
		"newest commit": {deltaio.FindingLog, false, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			appendRows(t, tab, deltaio.AppendOptions{}, row{9, nil, 1})
			return edit(t, s, log.CommitKey(6), func(b []byte) []byte { return b[:len(b)-20] })
		}},
		"row count": {deltaio.FindingRows, false, func(t *testing.T, s storage.Store, tab *deltaio.Table) string {
			a := *snapshot(t, tab).Files()[0]
			was := a.Remove(1, true)
			a.Stats, a.DeletionVector = `{"numRecords":5}`, nil
			commitActions(t, tab, log.Action{Remove: was})
			commitActions(t, tab, log.Action{Add: &a})
			return mustKey(t, &a)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := newClock()
			s, table := fsckTable(t, clk)
			path := c.damage(t, s, table)
			if c.deep {
				require.True(t, fsck(t, s, clk, deltaio.FsckOptions{}).Clean(), "only a deep look finds it")
			}
			r := fsck(t, s, clk, deltaio.FsckOptions{Deep: c.deep})
			require.False(t, r.Clean())
			var kinds []deltaio.FindingKind
			for _, f := range r.Findings {
				kinds = append(kinds, f.Kind)
				require.NotEmpty(t, f.Detail)
			}
			require.Contains(t, kinds, c.kind, "%v", r.Findings)
			for _, f := range r.Findings {
				if f.Kind == c.kind {
					require.Equal(t, path, f.Path)
					break
				}
			}
		})
	}
}

func TestFsck_unreferenced_objects_are_weighed_against_the_retention(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, _ := fsckTable(t, c)
	require.NoError(t, s.Put(t.Context(), "old.parquet", []byte("x")))
	c.Add(8 * 24 * time.Hour)
	require.NoError(t, s.Put(t.Context(), "young.parquet", []byte("x")))
	require.NoError(t, s.Put(t.Context(), "_hidden/x", []byte("x")))
	c.Add(time.Hour)
	r := fsck(t, s, c, deltaio.FsckOptions{})
	require.Len(t, r.Findings, 2)
	require.Equal(t, "old.parquet", r.Findings[0].Path)
	require.True(t, *r.Findings[0].Expired)
	require.Equal(t, "193h0m0s", r.Findings[0].Age)
	require.Contains(t, r.Findings[0].Detail, "a vacuum takes it")
	require.False(t, *r.Findings[1].Expired)
	require.Contains(t, r.Findings[1].Detail, "writer at work")
	r = fsck(t, s, c, deltaio.FsckOptions{Limit: 1})
	require.Len(t, r.Findings, 1)
	require.Equal(t, 2, r.Counts[deltaio.FindingUnreferenced], "all are counted")
}

func TestFsck_change_files_are_part_of_the_table(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: feedOn})
	appendRows(t, table, deltaio.AppendOptions{}, row{1, nil, 1})
	snap := snapshot(t, table)
	cdc, err := snap.StageChanges(t.Context(), deltaio.ChangeDelete, once(batch(t, row{1, nil, 1})))
	require.NoError(t, err)
	commitActions(t, table, log.Action{Remove: snap.Files()[0].Remove(c.Now().UnixMilli(), true)}, log.Action{CDC: cdc[0]})
	require.True(t, fsck(t, s, c, deltaio.FsckOptions{}).Clean())
	key := object(t, s, func(k string) bool { return strings.HasPrefix(k, "_change_data/") })
	require.NoError(t, s.Put(t.Context(), key, []byte("PAR1")))
	require.Equal(t, map[deltaio.FindingKind]int{deltaio.FindingTruncated: 1}, fsck(t, s, c, deltaio.FsckOptions{}).Counts)
	require.NoError(t, s.Delete(t.Context(), key))
	require.Equal(t, map[deltaio.FindingKind]int{deltaio.FindingChange: 1}, fsck(t, s, c, deltaio.FsckOptions{}).Counts)
	c.Add(8 * 24 * time.Hour)
	require.True(t, fsck(t, s, c, deltaio.FsckOptions{}).Clean(), "a vacuum may have taken it")
}

func TestFsck_a_store_that_does_not_answer_is_no_finding(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, _ := fsckTable(t, c)
	for _, kind := range []string{storage.OpOpen, storage.OpRead, storage.OpList} {
		f := storage.NewFault(s)
		table, err := deltaio.Open(t.Context(), f, env(c))
		require.NoError(t, err)
		snap := snapshot(t, table)
		f.Fail(func(op storage.Op) error {
			if op.Kind == kind && !strings.HasPrefix(op.Key, "_delta_log") {
				return errors.New("reset by peer")
			}
			return nil
		})
		_, err = deltaio.Fsck(t.Context(), snap, deltaio.FsckOptions{Deep: true})
		require.ErrorContains(t, err, "reset by peer", kind)
		require.Nil(t, deltaio.FsckDamaged(table, deltaio.FsckOptions{}, err))
	}
}

func TestChecksum_spilled_or_not_is_the_same(t *testing.T) {
	t.Parallel()
	c := newClock()
	table := create(t, memStore(c), c, deltaio.CreateOptions{})
	var rows []row
	for i := range 1000 {
		rows = append(rows, row{int64(i / 2), nil, 1}) // each twice
	}
	appendRows(t, table, deltaio.AppendOptions{}, rows...)
	snap := snapshot(t, table)
	n, want := digest(t, snap, deltaio.ScanOptions{})
	for _, limit := range []int{0, 1, 7, 999, 1000, 1001} {
		dir := t.TempDir()
		got, err := snap.Checksum(t.Context(), deltaio.RowChecksumOptions{TempDir: dir, MaxInMemory: limit})
		require.NoError(t, err)
		require.Equal(t, deltaio.RowChecksum{Rows: n, Sum: want}, got, limit)
		require.Empty(t, filesIn(t, dir), "nothing stays behind")
	}
	_, err := snap.Checksum(t.Context(), deltaio.RowChecksumOptions{TempDir: "/nowhere", MaxInMemory: 10})
	require.ErrorContains(t, err, "checksum")
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
