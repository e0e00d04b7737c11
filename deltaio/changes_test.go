package deltaio_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// changeTexts reads a feed: rows as text, by version, with their kind in front.
func changeTexts(t tb, feed *deltaio.ChangeFeed) map[int64][]string {
	t.Helper()
	out := map[int64][]string{}
	own := *feed.Schema()
	own.Fields = own.Fields[:len(own.Fields)-3]
	for rec, err := range feed.Records(context.Background()) {
		require.NoError(t, err)
		n := int(rec.NumCols())
		kind, version := rec.Column(n-3).(*array.String), rec.Column(n-2).(*array.Int64)
		require.NoError(t, rowtext.New(&own).Rows(rec, func(i int, b []byte) error {
			v := version.Value(i)
			out[v] = append(out[v], kind.Value(i)+" "+string(b))
			return nil
		}))
		rec.Release()
	}
	for _, rows := range out {
		slices.Sort(rows)
	}
	return out
}

func changesOf(t *testing.T, table *deltaio.Table, from, to int64) map[int64][]string {
	t.Helper()
	feed, err := deltaio.Changes(t.Context(), table, deltaio.ChangesOptions{From: from, To: to})
	require.NoError(t, err)
	return changeTexts(t, feed)
}

var feedOn = map[string]string{"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}

func TestChanges_without_change_files_adds_and_removes_and_vectors_tell(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}, Properties: feedOn})
	rows := []row{{1, date("2025-01-01"), 1}, {2, date("2025-01-01"), 2}, {3, date("2025-01-01"), 3}}
	appendRows(t, table, deltaio.AppendOptions{}, rows...)
	vector := func(rows ...uint64) {
		old := snapshot(t, table).Files()[0]
		now := *old
		now.DataChange, now.DeletionVector = true, nil
		if len(rows) > 0 {
			ds, err := dv.WriteFile(t.Context(), s, dv.FileKey("", uuid.New()), []*roaring64.Bitmap{roaring64.BitmapOf(rows...)})
			require.NoError(t, err)
			now.DeletionVector = ds[0]
		}
		commitActions(t, table, log.Action{Remove: old.Remove(c.Now().UnixMilli(), true)}, log.Action{Add: &now})
	}
	vector(0)                                                               // 2
	vector(0, 2)                                                            // 3
	vector()                                                                // 4: all rows are there again
	gone := snapshot(t, table).Files()[0].Remove(c.Now().UnixMilli(), true) // 5
	gone.PartitionValues = nil                                              // as old writers do
	commitActions(t, table, log.Action{Remove: gone})
	same := *fakeFile(t, s, "event_date=2025-01-02/x", map[string]*string{"event_date": date("2025-01-02")})
	same.DataChange = false // 6: no change, whatever it is
	commitActions(t, table, log.Action{Add: &same})

	text := func(kind string, r row) string { return kind + " " + textOf(t, r) }
	require.Equal(t, map[int64][]string{
		1: {text("insert", rows[0]), text("insert", rows[1]), text("insert", rows[2])},
		2: {text("delete", rows[0])},
		3: {text("delete", rows[2])},
		4: {text("insert", rows[0]), text("insert", rows[2])},
		5: {text("delete", rows[0]), text("delete", rows[1]), text("delete", rows[2])},
	}, changesOf(t, table, 0, -1))
	require.Len(t, changesOf(t, table, 2, 3), 2, "both ends are included")
}

func commitActions(t *testing.T, table *deltaio.Table, actions ...log.Action) {
	t.Helper()
	_, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "UPDATE"},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(t, err)
}

func TestChanges_change_files_are_all_that_is_read_in_every_mapping(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"none", "name", "id"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			table := create(t, memStore(c), c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}, Properties: map[string]string{
				"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": mode,
			}})
			before, after := row{1, date("2025-01-01"), 1}, row{1, date("2025-01-01"), 2}
			appendRows(t, table, deltaio.AppendOptions{}, before, row{2, date("2025-01-01"), 5})
			snap := snapshot(t, table)
			var actions []log.Action
			for kind, r := range map[deltaio.ChangeType]row{deltaio.ChangePreimage: before, deltaio.ChangePostimage: after} {
				cdc, err := snap.StageChanges(t.Context(), kind, once(batch(t, r)))
				require.NoError(t, err)
				actions = append(actions, log.Action{CDC: cdc[0]})
			}
			old := snap.Files()[0]
			staged, err := snap.Stage(t.Context(), deltaio.StageOptions{}, once(batch(t, after, row{2, date("2025-01-01"), 5})))
			require.NoError(t, err)
			commitActions(t, table, append(actions, log.Action{Remove: old.Remove(1, true)}, log.Action{Add: staged[0].Add})...)
			require.Equal(t, []string{"update_postimage " + textOf(t, after), "update_preimage " + textOf(t, before)}, changesOf(t, table, 2, 2)[2])
		})
	}
}

func TestChanges_versions_without_a_feed_or_files_are_named(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	off := create(t, s, c, deltaio.CreateOptions{})
	_, err := deltaio.Changes(t.Context(), off, deltaio.ChangesOptions{To: -1})
	require.ErrorIs(t, err, deltaio.ErrNoChangeFeed)
	require.ErrorContains(t, err, "version 0")

	// The feed is switched on, later off.
	flip := func(on string) {
		commitMeta(t, off, func(m *log.Metadata) { m.Configuration = map[string]string{"delta.enableChangeDataFeed": on} })
	}
	commitProtocol(t, off, &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 4})
	flip("true")
	appendRows(t, off, deltaio.AppendOptions{}, row{1, nil, 1})
	flip("false")
	require.Len(t, changesOf(t, off, 2, 3), 1)
	feed, err := deltaio.Changes(t.Context(), off, deltaio.ChangesOptions{From: 2, To: 4})
	require.ErrorIs(t, lastError(feed, err), deltaio.ErrNoChangeFeed)
	require.ErrorContains(t, lastError(feed, err), "version 4")

	require.NoError(t, s.Delete(t.Context(), dataFiles(t, s)[0]))
	feed, err = deltaio.Changes(t.Context(), off, deltaio.ChangesOptions{From: 2, To: 3})
	require.NoError(t, err)
	require.ErrorContains(t, lastError(feed, nil), "version 3")
	require.ErrorContains(t, lastError(feed, nil), "a vacuum may have removed it")

	for _, r := range [][2]int64{{-1, 2}, {3, 2}} {
		_, err = deltaio.Changes(t.Context(), off, deltaio.ChangesOptions{From: r[0], To: r[1]})
		require.ErrorContains(t, err, "want 0 <= from <= to")
	}
	_, err = deltaio.Changes(t.Context(), off, deltaio.ChangesOptions{From: 1, To: 99})
	require.ErrorIs(t, err, deltaio.ErrNoVersion)
}

func lastError(feed *deltaio.ChangeFeed, err error) error {
	if err != nil {
		return err
	}
	for rec, err := range feed.Records(context.Background()) {
		if err != nil {
			return err
		}
		rec.Release()
	}
	return nil
}

func commitMeta(t *testing.T, table *deltaio.Table, change func(*log.Metadata)) {
	t.Helper()
	m := *snapshot(t, table).State().Metadata
	change(&m)
	commitActions(t, table, log.Action{Metadata: &m})
}

func commitProtocol(t *testing.T, table *deltaio.Table, p *log.Protocol) {
	t.Helper()
	commitActions(t, table, log.Action{Protocol: p})
}

func TestChanges_a_column_that_is_gone_splits_the_range(t *testing.T) {
	t.Parallel()
	c := newClock()
	table := create(t, memStore(c), c, deltaio.CreateOptions{Properties: feedOn})
	appendRows(t, table, deltaio.AppendOptions{}, row{1, nil, 1})
	commitMeta(t, table, func(m *log.Metadata) { m.SchemaString = fields(sales.Fields[:2]...).JSON() })
	_, err := deltaio.Changes(t.Context(), table, deltaio.ChangesOptions{From: 0, To: -1})
	require.ErrorContains(t, err, "column amount is gone")
	require.Len(t, changesOf(t, table, 0, 1), 1)
}

// The feed of a table is true when it leads from each version's rows to the next
// one's: what other engines wrote must do so as well.
func TestChanges_of_other_engines_lead_from_version_to_version(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, root string, want fixture) {
		s, err := storage.OpenLocal(root)
		require.NoError(t, err)
		defer s.Close()
		table, err := deltaio.Open(t.Context(), s, env(newClock()))
		require.NoError(t, err)
		newest := snapshot(t, table)
		for v := int64(1); v <= newest.Version(); v++ {
			feed, err := deltaio.Changes(t.Context(), table, deltaio.ChangesOptions{From: v, To: v})
			if err != nil {
				require.ErrorIs(t, err, deltaio.ErrNoChangeFeed)
				continue
			}
			before, err := table.SnapshotAt(t.Context(), v-1)
			require.NoError(t, err)
			after, err := table.SnapshotAt(t.Context(), v)
			require.NoError(t, err)
			if before.Schema().String() != after.Schema().String() {
				continue // rows of the one are no rows of the other
			}
			require.Equal(t, texts(t, after, deltaio.ScanOptions{}), applied(t, texts(t, before, deltaio.ScanOptions{}), changeTexts(t, feed)[v]), "version %d", v)
		}
	})
}

// applied applies changes to a multiset of rows.
func applied(t *testing.T, rows, changes []string) []string {
	t.Helper()
	count := map[string]int{}
	for _, r := range rows {
		count[r]++
	}
	for _, ch := range changes {
		kind, text, _ := strings.Cut(ch, " ")
		switch deltaio.ChangeType(kind) {
		case deltaio.ChangeInsert, deltaio.ChangePostimage:
			count[text]++
		default:
			count[text]--
		}
	}
	out := []string{}
	for r, n := range count {
		require.GreaterOrEqual(t, n, 0, r)
		for range n {
			out = append(out, r)
		}
	}
	slices.Sort(out)
	return out
}

func TestVersionSince_and_VersionAt_enclose_a_commit(t *testing.T) {
	t.Parallel()
	c := newClock()
	table := create(t, memStore(c), c, deltaio.CreateOptions{})
	for range 3 {
		c.Add(time.Hour)
		appendRows(t, table, deltaio.AppendOptions{}, row{1, nil, 1})
	}
	for _, w := range []struct {
		at        time.Duration
		since, to int64
	}{{0, 0, 0}, {time.Hour, 1, 1}, {time.Hour + time.Nanosecond, 2, 1}, {90 * time.Minute, 2, 1}, {3 * time.Hour, 3, 3}, {4 * time.Hour, 4, 3}} {
		since, err := table.VersionSince(t.Context(), start.Add(w.at))
		require.NoError(t, err)
		require.Equal(t, w.since, since, w.at)
		at, err := table.VersionAt(t.Context(), start.Add(w.at))
		require.NoError(t, err)
		require.Equal(t, w.to, at, w.at)
	}
	since, err := table.VersionSince(t.Context(), start.Add(-time.Hour))
	require.NoError(t, err)
	require.EqualValues(t, 0, since)
	_, err = table.VersionAt(t.Context(), start.Add(-time.Hour))
	require.ErrorIs(t, err, deltaio.ErrNoVersion)
}
