package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// said is what a verb printed and how it ended.
type said struct {
	out string
	err error
}

// quiet reports that the exit code is 1 and that the answer was printed.
func (s said) quiet() bool {
	var q quietError
	return errors.As(s.err, &q)
}

// verb runs the command line as main does, on nothing but the arguments. No test
// here is parallel: a developer's environment must not reach any of them.
func verb(t *testing.T, stdin string, args ...string) said {
	t.Helper()
	for _, name := range []string{"CONFIG", "ROOT", "QUEUE", "PARALLEL", "RUN_FOLDERS"} {
		t.Setenv("LAKEWARDEN_"+name, "")
	}
	for _, name := range []string{"ADDRESS", "NAMESPACE", "PROFILE", "API_KEY", "CONFIG_FILE"} {
		t.Setenv("TEMPORAL_"+name, "")
	}
	var out, progress bytes.Buffer
	root := newApp(&out, &progress).root()
	root.SetIn(bytes.NewBufferString(stdin))
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return said{out.String(), err}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestVerbs_haveAShortTextAndRefuseStrayArguments(t *testing.T) {
	root := newApp(&bytes.Buffer{}, &bytes.Buffer{}).root()
	for _, c := range root.Commands() {
		require.NotEmpty(t, c.Short, c.Name())
		if c.HasSubCommands() {
			for _, sub := range c.Commands() {
				require.NotEmpty(t, sub.Short, sub.CommandPath())
				require.NotNil(t, sub.Args, sub.CommandPath())
			}
			continue
		}
		require.NotNil(t, c.Args, c.Name())
	}
}

func TestVerbs_namedInTheDocs_exist(t *testing.T) {
	// README and runbook promise these; a renamed flag must not leave them behind.
	for _, c := range []struct {
		path  []string
		flags []string
	}{
		{[]string{"run", "purge"}, []string{"file", "wait", "dry-run"}},
		{[]string{"run", "lakehouse"}, []string{"file", "wait"}},
		{[]string{"status"}, nil},
		{[]string{"approve"}, []string{"by", "digest"}},
		{[]string{"reject"}, []string{"by", "digest", "reason"}},
		{[]string{"watch"}, []string{"until-asked"}},
		{[]string{"sample"}, []string{"rows"}},
		{[]string{"cancel"}, nil},
		{[]string{"retry"}, nil},
		{[]string{"schedule", "create"}, []string{"file", "cron", "timezone"}},
		{[]string{"schedule", "list"}, nil},
		{[]string{"schedule", "pause"}, nil},
		{[]string{"schedule", "resume"}, nil},
		{[]string{"schedule", "trigger"}, nil},
		{[]string{"schedule", "delete"}, nil},
		{[]string{"restore"}, []string{"keys", "hold-until", "reason"}},
		{[]string{"verify"}, nil},
		{[]string{"audit", "list"}, nil},
		{[]string{"audit", "verify"}, []string{"anchor"}},
		{[]string{"spec", "check"}, []string{"file"}},
		{[]string{"spec", "convert"}, []string{"file"}},
		{[]string{"spec", "schema"}, nil},
		{[]string{"doctor"}, []string{"json", "config", "root", "run-folders", "queue"}},
		{[]string{"demo"}, []string{"keep", "stop"}},
	} {
		found, rest, err := newApp(&bytes.Buffer{}, &bytes.Buffer{}).root().Find(c.path)
		require.NoError(t, err, c.path)
		require.Empty(t, rest, c.path)
		for _, name := range c.flags {
			if found.Flag(name) == nil {
				t.Errorf("%v has no --%s", c.path, name)
			}
		}
	}
}
