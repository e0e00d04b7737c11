package storage_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const crashDirEnv = "LAKEWARDEN_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirEnv); dir != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled writes objects that prove their own wholeness, and says on
// standard output which of them the store has acknowledged.
func writeUntilKilled(dir string) error {
	s, err := storage.OpenLocal(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := 0; ; i++ {
		key := fmt.Sprintf("t %d/_delta_log/%d-%020d.json", i%3, os.Getpid(), i)
		data := selfProving(rand.N(200_000))
		if err := s.PutIfAbsent(ctx, key, data); err != nil {
			return err
		}
		fmt.Println(key)
		w, err := s.Create(ctx, key+".data")
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		if _, err := w.Commit(ctx); err != nil {
			return err
		}
		if err := s.Put(ctx, "hint", data); err != nil {
			return err
		}
	}
}

func selfProving(n int) []byte {
	body := bytes.Repeat([]byte(strconv.Itoa(n)+";"), n/8+1)
	sum := sha256.Sum256(body)
	return append([]byte(hex.EncodeToString(sum[:])), body...)
}

func requireWhole(t *testing.T, key string, data []byte) {
	t.Helper()
	require.GreaterOrEqual(t, len(data), 64, "%s is torn", key)
	sum := sha256.Sum256(data[64:])
	require.Equal(t, string(data[:64]), hex.EncodeToString(sum[:]), "%s is torn", key)
}

func TestLocal_writerKilledAnywhere_leavesNoTornObject(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	dir := t.TempDir()
	acked := map[string]bool{}
	for round := range 15 {
		for _, key := range runAndKill(t, dir, 1+round%5) {
			acked[key] = true
		}
	}
	l := openLocal(t, dir)
	for info, err := range l.List(t.Context(), "", "") {
		require.NoError(t, err)
		data, err := storage.ReadAll(t.Context(), l, info.Key, 0)
		require.NoError(t, err)
		requireWhole(t, info.Key, data)
		delete(acked, info.Key)
	}
	require.Empty(t, acked, "acknowledged and lost")
	requireSweepable(t, l)
}

// runAndKill kills a writer some time after its nth acknowledgement and returns
// all that it acknowledged.
func runAndKill(t *testing.T, dir string, n int) []string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), crashDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	var acked []string
	for range n {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		acked = append(acked, strings.TrimSuffix(line, "\n"))
	}
	spin(rand.N(3 * time.Millisecond)) // any point of the next writes
	require.NoError(t, cmd.Process.Kill())
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	for line := range strings.Lines(string(rest)) {
		if key, whole := strings.CutSuffix(line, "\n"); whole {
			acked = append(acked, key)
		}
	}
	return acked
}

func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// requireSweepable: whatever the killed writers left is found and removed, and
// nothing else is.
func requireSweepable(t *testing.T, l *storage.Local) {
	t.Helper()
	before, err := listKeys(t, l, "")
	require.NoError(t, err)
	later := time.Now().Add(time.Hour)
	old, err := storage.Leftovers(t.Context(), l, later)
	require.NoError(t, err)
	t.Logf("%d objects, %d leftovers", len(before), len(old))
	removed, err := storage.RemoveLeftovers(t.Context(), l, later)
	require.NoError(t, err)
	require.Len(t, removed, len(old))
	old, err = storage.Leftovers(t.Context(), l, later)
	require.NoError(t, err)
	require.Empty(t, old)
	after, err := listKeys(t, l, "")
	require.NoError(t, err)
	require.Equal(t, before, after)
}
