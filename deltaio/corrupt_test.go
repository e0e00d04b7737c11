package deltaio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// What a try may take. A sound read of these tables takes milliseconds and a few
// megabytes; the bounds are wide because the machine may be busy.
const (
	corruptDeadline = 30 * time.Second
	corruptMemory   = 1 << 30 // bytes allocated, freed ones included
)

// subject is a sound table, whole in memory, and what it holds.
type subject struct {
	name    string
	objects map[string][]byte
	keys    []string
	rows    map[int64]string // checksum by version
	newest  int64
	ours    bool // all its files are written here: their pages carry CRCs
}

// TestCorrupt_tables_give_the_right_rows_or_a_clear_error damages objects of
// tables at random: those that Spark and delta-rs wrote (testdata/fixtures), and
// our own. Each try must end in time and in bounded memory, with the rows of the
// version that it says it read, or with an error that tells of damage.
//
// What no reader can know is counted, not failed, and only for the reasons that
// unknowable names. LAKEWARDEN_CORRUPTIONS is the number of tries,
// LAKEWARDEN_SEED the first of the series.
func TestCorrupt_tables_give_the_right_rows_or_a_clear_error(t *testing.T) {
	tries, seed := 400, uint64(time.Now().UnixNano())
	for env, set := range map[string]func(int64){
		"LAKEWARDEN_CORRUPTIONS": func(n int64) { tries = int(n) }, "LAKEWARDEN_SEED": func(n int64) { seed = uint64(n) },
	} {
		if text := os.Getenv(env); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			require.NoError(t, err, env)
			set(n)
		}
	}
	subjects := corruptSubjects(t)
	count := map[string]int{}
	var most uint64
	for i := range tries {
		s := seed + uint64(i)
		r := rand.New(rand.NewPCG(s, s))
		sub := subjects[r.IntN(len(subjects))]
		d := damageAt(r, sub)
		v := tryDamage(t, sub, d, r)
		count[v.what]++
		most = max(most, v.bytes)
		if v.bad != "" {
			t.Errorf("LAKEWARDEN_SEED=%d LAKEWARDEN_CORRUPTIONS=1: %s: %s: %s", s, sub.name, d.what, v.bad)
		}
	}
	t.Logf("%d tries from seed %d, at most %d MiB allocated in one: %v", tries, seed, most>>20, count)
}

func corruptSubjects(t *testing.T) []*subject {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures, "*.tar.gz"))
	require.NoError(t, err)
	var out []*subject
	for _, p := range paths {
		root := unpackTable(t, p)
		out = append(out, newSubject(t, strings.TrimSuffix(filepath.Base(p), ".tar.gz"), readTree(t, root)))
	}
	for _, mode := range []string{"none", "name", "id"} {
		own := newSubject(t, "ours mapped by "+mode, ownTable(t, mode))
		own.ours = true
		for range 6 { // as many tries as a dozen of others' tables get
			out = append(out, own)
		}
	}
	return out
}

func readTree(t *testing.T, root string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		key, rerr := filepath.Rel(root, path)
		out[filepath.ToSlash(key)] = data
		return errors.Join(err, rerr)
	}))
	return out
}

// ownTable is a table of ours with everything that can be damaged: partitions,
// several row groups' worth of files, deletion vectors, change files, checkpoint,
// checksums.
func ownTable(t *testing.T, mode string) map[string][]byte {
	t.Helper()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}, Properties: map[string]string{
		"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": mode, "delta.checkpointInterval": "3",
	}})
	for i := range 4 {
		var rows []row
		for j := range 40 {
			rows = append(rows, row{int64(100*i + j), date(fmt.Sprintf("2025-01-0%d", j%3+1)), float64(j) / 7})
		}
		appendRows(t, table, deltaio.AppendOptions{}, rows...)
	}
	hide(t, table, c, snapshot(t, table).Files()[2], 1, 3, 5)
	hide(t, table, c, snapshot(t, table).Files()[4], 0)
	f := snapshot(t, table).Files()[0]
	cdc, err := snapshot(t, table).StageChanges(t.Context(), deltaio.ChangeDelete, once(batch(t, row{1, date("2025-01-01"), 1})))
	require.NoError(t, err)
	commitActions(t, table, log.Action{Remove: f.Remove(c.Now().UnixMilli(), true)}, log.Action{CDC: cdc[0]})
	out := map[string][]byte{}
	for info, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		out[info.Key], err = storage.ReadAll(t.Context(), s, info.Key, 0)
		require.NoError(t, err)
	}
	return out
}

func newSubject(t *testing.T, name string, objects map[string][]byte) *subject {
	t.Helper()
	s := &subject{name: name, objects: objects, keys: slices.Sorted(maps.Keys(objects)), rows: map[int64]string{}}
	table, err := deltaio.Open(t.Context(), s.store(nil), env(newClock()))
	require.NoError(t, err, name)
	s.newest = snapshot(t, table).Version()
	for v := range s.newest + 1 {
		snap, err := table.SnapshotAt(t.Context(), v)
		if err != nil {
			continue // the log has lost it
		}
		if sum, err := rowsOf(t.Context(), snap); err == nil {
			s.rows[v] = sum
		}
	}
	require.Contains(t, s.rows, s.newest, name)
	return s
}

// store puts the objects into a new store, changed ones instead of the old; nil
// is an object that is gone.
func (s *subject) store(changed map[string][]byte) storage.Store {
	m := storage.NewMemory()
	at := start
	m.SetClock(func() time.Time { return at })
	for _, k := range slices.Sorted(maps.Keys(union(s.objects, changed))) {
		b, ok := changed[k]
		if !ok {
			b = s.objects[k]
		}
		if b == nil {
			continue
		}
		at = at.Add(time.Second)
		if err := m.Put(context.Background(), k, b); err != nil {
			panic(err)
		}
	}
	return m
}

func union(a, b map[string][]byte) map[string][]byte {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func rowsOf(ctx context.Context, snap *deltaio.Snapshot) (string, error) {
	d := rowtext.NewDigest(snap.Schema())
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{}) {
		if err != nil {
			return "", err
		}
		err = d.Add(rec, nil)
		rec.Release()
		if err != nil {
			return "", err
		}
	}
	return d.Sum(), nil
}

// damage is one corruption.
type damage struct {
	what    string
	kind    string // truncate, flip, overwrite, delete, duplicate, swap
	keys    []string
	changed map[string][]byte
}

func damageAt(r *rand.Rand, s *subject) damage {
	// Every class of object is as likely as another, whatever its number.
	byClass := map[string][]string{}
	for _, k := range s.keys {
		byClass[classOf(k)] = append(byClass[classOf(k)], k)
	}
	classes := slices.Sorted(maps.Keys(byClass))
	some := byClass[classes[r.IntN(len(classes))]]
	key := some[r.IntN(len(some))]
	other := some[r.IntN(len(some))]
	b := bytes.Clone(s.objects[key])
	d := damage{keys: []string{key}, changed: map[string][]byte{}}
	switch r.IntN(6) {
	case 0:
		n := r.IntN(len(b) + 1)
		d.kind, d.what = "truncate", fmt.Sprintf("%s cut to %d of %d bytes", key, n, len(b))
		d.changed[key] = b[:n:n]
	case 1, 2:
		d.kind, d.what = "flip", key
		for range 1 + r.IntN(3) {
			if len(b) == 0 {
				break
			}
			i, bit := r.IntN(len(b)), byte(1)<<r.IntN(8)
			b[i] ^= bit
			d.what += fmt.Sprintf(" bit %#x of byte %d", bit, i)
		}
		d.changed[key] = b
	case 3:
		n := min(len(b), 1+r.IntN(64))
		i := r.IntN(len(b) - n + 1)
		for j := range n {
			b[i+j] = byte(r.Uint32())
		}
		d.kind, d.what = "overwrite", fmt.Sprintf("%s: %d random bytes at %d", key, n, i)
		d.changed[key] = b
	case 4:
		d.kind, d.what = "delete", key+" deleted"
		d.changed[key] = nil
	default:
		d.keys = append(d.keys, other)
		d.changed[other] = b
		d.kind, d.what = "duplicate", fmt.Sprintf("%s copied over %s", key, other)
		if r.IntN(2) == 0 {
			d.kind, d.what = "swap", fmt.Sprintf("%s and %s swapped", key, other)
			d.changed[key] = bytes.Clone(s.objects[other])
		}
	}
	return d
}

func classOf(key string) string {
	switch {
	case strings.HasSuffix(key, ".crc"):
		return "crc"
	case strings.HasSuffix(key, "_last_checkpoint"):
		return "hint"
	case strings.HasPrefix(key, "_delta_log/") && strings.HasSuffix(key, ".json") && !strings.Contains(key, "checkpoint"):
		return "commit"
	case strings.HasPrefix(key, "_delta_log/"):
		return "checkpoint"
	case strings.HasSuffix(key, ".bin"):
		return "deletion vector"
	case strings.HasPrefix(key, "_change_data/"):
		return "change file"
	case strings.HasSuffix(key, ".parquet"):
		return "data file"
	}
	return "other"
}

// verdict is how a try ended.
type verdict struct {
	what  string // for the statistics
	bad   string // why it fails the test
	bytes uint64
}

func tryDamage(t *testing.T, s *subject, d damage, r *rand.Rand) verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), corruptDeadline)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := make(chan verdict, 1)
	older := int64(r.IntN(int(s.newest) + 1))
	go func() {
		defer func() {
			if p := recover(); p != nil {
				buf := make([]byte, 16<<10)
				out <- verdict{what: "panic", bad: fmt.Sprintf("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])}
			}
		}()
		out <- readDamaged(ctx, s, d, older)
	}()
	var v verdict
	select {
	case v = <-out:
	case <-time.After(2 * corruptDeadline):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s: %s: hangs\n%s", s.name, d.what, buf[:runtime.Stack(buf, true)])
	}
	runtime.ReadMemStats(&after)
	if v.bytes = after.TotalAlloc - before.TotalAlloc; v.bytes > corruptMemory && v.bad == "" {
		v.bad = fmt.Sprintf("allocated %d MiB", v.bytes>>20)
	}
	if ctx.Err() != nil && v.bad == "" {
		v.bad = "took longer than " + corruptDeadline.String()
	}
	return v
}

// readDamaged reads all that can be read of the table and judges what came out.
func readDamaged(ctx context.Context, s *subject, d damage, older int64) verdict {
	store := s.store(d.changed)
	table, err := deltaio.Open(ctx, store, env(newClock()))
	if err != nil {
		return refusal(err)
	}
	otherReads(ctx, table)
	at, err := table.SnapshotAt(ctx, older)
	if err == nil {
		if v := s.judge(ctx, at, d); v.bad != "" || strings.HasPrefix(v.what, "unknowable") {
			return v
		}
	} else if v := refusal(err); v.bad != "" {
		return v
	}
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return refusal(err)
	}
	return s.judge(ctx, snap, d)
}

// otherReads must end; what they say is judged elsewhere.
func otherReads(ctx context.Context, table *deltaio.Table) {
	_, _ = deltaio.History(ctx, table, 0)
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return
	}
	snap.Detail()
	snap.Partitions()
	for _, f := range snap.Files() {
		snap.DescribeFile(f)
	}
	if len(snap.Schema().Fields) > 0 {
		name := "`" + strings.ReplaceAll(snap.Schema().Fields[0].Name, "`", "``") + "`"
		if where, err := expr.Parse(name + " IS NOT NULL"); err == nil {
			for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Where: where}) {
				if err == nil {
					rec.Release()
				}
			}
		}
	}
	if feed, err := deltaio.Changes(ctx, table, deltaio.ChangesOptions{To: -1}); err == nil {
		for rec, err := range feed.Records(ctx) {
			if err == nil {
				rec.Release()
			}
		}
	}
	_, _ = deltaio.Fsck(ctx, snap, deltaio.FsckOptions{Deep: true})
}

// refusal judges an error: it must be one that nobody retries in vain.
func refusal(err error) verdict {
	v := verdict{what: "error"}
	known := deltaio.IsDamaged(err) || deltaio.IsUnsupported(err) || errors.Is(err, storage.ErrNotExist) ||
		errors.Is(err, deltaio.ErrNotATable) || errors.Is(err, deltaio.ErrNoVersion)
	if !known {
		v.bad = fmt.Sprintf("an error that says neither damaged nor unsupported: %v", err)
	}
	return v
}

// judge compares the rows of a snapshot with those of its version.
func (s *subject) judge(ctx context.Context, snap *deltaio.Snapshot, d damage) verdict {
	sum, err := rowsOf(ctx, snap)
	if err != nil {
		return refusal(err)
	}
	want, known := s.rows[snap.Version()]
	if !known || sum == want {
		return verdict{what: "right rows"}
	}
	why := s.unknowable(d)
	if why == "" {
		return verdict{what: "wrong rows", bad: fmt.Sprintf("wrong rows of version %d", snap.Version())}
	}
	// Nobody who reads can know; a check has to.
	r, err := deltaio.Fsck(ctx, snap, deltaio.FsckOptions{Deep: true})
	if err == nil && !r.Clean() {
		return verdict{what: "unknowable, found by fsck: " + why}
	}
	v := verdict{what: "unknowable: " + why}
	if s.ours {
		v.bad = fmt.Sprintf("wrong rows of version %d, and fsck finds nothing: %v", snap.Version(), err)
	}
	return v
}

// unknowable says why a reader cannot know of a damage, "" when it can.
func (s *subject) unknowable(d damage) string {
	switch class := classOf(d.keys[0]); {
	case class == "commit":
		return "commits carry no checksum of their own"
	case class == "checkpoint" && !s.ours:
		return "checkpoint pages without a CRC"
	case class == "data file" && !s.ours:
		return "data pages without a CRC"
	case class == "data file" && (d.kind == "swap" || d.kind == "duplicate"):
		return "a sound file in the place of another"
	}
	return ""
}

// Commits and checkpoints have no checksum of their own, versions do.
func TestCorrupt_a_log_that_was_changed_is_told_by_the_versions_checksum(t *testing.T) {
	t.Parallel()
	own := newSubject(t, "ours", ownTable(t, "none"))
	commit, older, newer := log.CommitKey(7), "_delta_log/00000000000000000003.checkpoint.parquet", "_delta_log/00000000000000000006.checkpoint.parquet"
	open := func(changed map[string][]byte, v int64) (*deltaio.Snapshot, error) {
		table, err := deltaio.Open(t.Context(), own.store(changed), env(newClock()))
		require.NoError(t, err)
		return table.SnapshotAt(t.Context(), v)
	}
	unknown := map[string][]byte{commit: bytes.Replace(own.objects[commit], []byte(`"remove"`), []byte(`"rumove"`), 1)}
	_, err := open(unknown, 7)
	require.ErrorContains(t, err, "numFiles is 12, the checksum says 11")
	require.True(t, deltaio.IsDamaged(err))
	unknown[log.ChecksumKey(7)] = []byte("{")
	_, err = open(unknown, 7)
	require.NoError(t, err, "a checksum file that does not parse proves nothing")

	swapped := map[string][]byte{older: own.objects[newer], newer: own.objects[older]}
	snap, err := open(swapped, 6)
	require.NoError(t, err, "the commits tell the truth")
	sum, err := rowsOf(t.Context(), snap)
	require.NoError(t, err)
	require.Equal(t, own.rows[6], sum)

	foreign := bytes.Replace(own.objects[log.ChecksumKey(7)], []byte(snap.TableID()), []byte("another-table"), 1)
	_, err = open(map[string][]byte{log.ChecksumKey(7): bytes.Replace(foreign, []byte(`"numFiles":11`), []byte(`"numFiles":1`), 1)}, 7)
	require.NoError(t, err, "a checksum file of another table proves nothing")
}
