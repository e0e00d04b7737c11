package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runs starts a program of that name which sleeps, in a process group of its
// own. stubborn: it does not end when asked.
func runs(t *testing.T, dir, name string, stubborn bool) *exec.Cmd {
	t.Helper()
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	program := filepath.Join(dir, name)
	require.NoError(t, os.Symlink(shell, program))
	script := "trap '' TERM; "
	if !stubborn {
		script = "trap 'exit 0' TERM; "
	}
	ready := filepath.Join(dir, "ready")
	c := exec.Command(program, "-c", script+"touch "+ready+"; while :; do sleep 0.05; done")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }) // it may be gone
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".pid"), []byte(strconv.Itoa(c.Process.Pid)), 0o600))
	require.Eventually(t, func() bool { _, err := os.Stat(ready); return err == nil }, 10*time.Second, 5*time.Millisecond)
	return c
}

func TestStopProcesses_endsWhatItStartedAndWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := runs(t, dir, "worker", false)
	gone := make(chan error, 1)
	go func() { gone <- c.Wait() }()
	require.Equal(t, dir+"-2", besideKept(dir), "a demo that is up is left alone")
	stopped, err := StopProcesses(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"worker (process " + strconv.Itoa(c.Process.Pid) + ")"}, stopped)
	require.NoError(t, <-gone)
	require.Equal(t, dir, besideKept(dir))
	for why, dir := range map[string]string{"once more is fine": dir, "nothing was started there": t.TempDir()} {
		stopped, err := StopProcesses(dir)
		require.NoError(t, err, why)
		require.Empty(t, stopped, why)
	}
}

func TestStopProcesses_ofAProcessThatStays_saysWhichAndWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := runs(t, dir, "worker", true)
	stopped, err := stopProcesses(dir, 50*time.Millisecond)
	require.Empty(t, stopped)
	require.ErrorContains(t, err, "waited in vain for the end of worker, at most 50ms: process "+strconv.Itoa(c.Process.Pid)+" is still there; end it by: kill -9")
	require.NoError(t, syscall.Kill(-c.Process.Pid, syscall.SIGKILL))
	require.Error(t, c.Wait(), "killed")
}

func TestIsOurs_aNumberOfAnotherProgram_isNot(t *testing.T) {
	t.Parallel()
	c := runs(t, t.TempDir(), "temporal", false)
	pid := c.Process.Pid
	for how, is := range map[string]func(int, string) bool{"/proc or ps": isOurs, "ps": byPS} {
		if _, err := exec.LookPath("ps"); err != nil && how == "ps" {
			t.Log("there is no ps here")
			continue
		}
		require.True(t, is(pid, "temporal"), how)
		require.False(t, is(pid, "worker"), how)
	}
	require.NoError(t, syscall.Kill(-pid, syscall.SIGKILL))
	require.Error(t, c.Wait(), "killed")
	require.False(t, isOurs(pid, "temporal"))
	require.False(t, byPS(pid, "temporal"))
}
