package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of the README are run as they stand there, from top to bottom, as
// a newcomer pastes them. Only lines that build are left out: the programs are
// built by then.
func TestREADME_its_commands_work_as_pasted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	script := commands(string(text), "## Purge a table", "## What a purge does")
	require.Contains(t, script, "temporal workflow start", "the walk has moved: name its headings here")
	require.Contains(t, script, "lakewarden restore")

	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	for program, folder := range map[string]string{"lakewarden": "starter", "worker": "worker"} {
		built, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, program), "../../"+folder).CombinedOutput()
		require.NoError(t, err, "%s", built)
	}
	cli, err := findCLI()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(cli, filepath.Join(bin, "temporal")))
	examples, err := filepath.Abs("../../examples")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(examples, filepath.Join(dir, "examples")))

	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	// Its server listens where no other test's does; the commands do not say where.
	port, err := freePort()
	require.NoError(t, err)
	script = strings.Replace(script, "server start-dev ", "server start-dev --headless --port "+port+" ", 1)
	c := exec.CommandContext(ctx, "bash", "-eux", "-c", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "TEMPORAL_ADDRESS=127.0.0.1:"+port, "TEMPORAL_VERSION_CHECK_DISABLED=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it leaves in the background ends with it
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	out, err := os.Create(filepath.Join(dir, "output.txt"))
	require.NoError(t, err)
	defer func() { _ = out.Close() }() // the child writes to its own copy
	c.Stdout, c.Stderr = out, out
	require.NoError(t, c.Start())
	defer func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }() // nothing may be left
	end, err := c.Process.Wait()                                         // c.Wait would wait for what is left in the background, too
	require.NoError(t, err)
	said, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.NoError(t, ctx.Err(), "%s", said)
	require.True(t, end.Success(), "%s:\n%s", end, said)
	for _, want := range []string{"rejected by dpo", "bronze.vendas: cancelled", "rows deleted", "the audit chain is whole", "bronze.vendas: restored", "bronze.sessions"} {
		require.Contains(t, string(said), want)
	}
}

// commands are the fenced shell commands between two headings.
func commands(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	var lines []string
	for i, block := range strings.Split(text, "```") {
		shell, is := strings.CutPrefix(block, "sh\n")
		if i%2 == 0 || !is {
			continue
		}
		for line := range strings.Lines(shell) {
			if !strings.HasPrefix(line, "make ") {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "")
}
