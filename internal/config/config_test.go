package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/internal/lake"
)

// env is a process environment.
func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lakewarden.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestLoad_flagsGoBeforeEnvironmentBeforeFile(t *testing.T) {
	t.Parallel()
	path := file(t, `
roots: [{url: file:///file}]
queue: of-file
parallel: 2
run_folders: file:///runs
temporal: {address: "file:1", namespace: of-file}
`)
	c, err := Load(Flags{File: path}, env())
	require.NoError(t, err)
	require.Equal(t, "of-file", c.Queue)
	require.Equal(t, 2, c.Parallel)
	require.Equal(t, "file:///runs", c.RunFolders)
	require.Equal(t, []lake.Root{{URL: "file:///file"}}, c.Roots)
	require.Equal(t, Temporal{Address: "file:1", Namespace: "of-file"}, c.Temporal)

	vars := env(EnvFile, path, EnvQueue, "of-env", EnvParallel, "3", EnvRoot, "file:///a silver,gold=file:///b", EnvRunFolder, "file:///env")
	c, err = Load(Flags{}, vars)
	require.NoError(t, err)
	require.Equal(t, "of-env", c.Queue)
	require.Equal(t, 3, c.Parallel)
	require.Equal(t, "file:///env", c.RunFolders)
	require.Equal(t, []lake.Root{{URL: "file:///a"}, {Schemas: []string{"silver", "gold"}, URL: "file:///b"}}, c.Roots)

	c, err = Load(Flags{Queue: "of-flag", Parallel: 4, Roots: []string{"/flag"}, RunFolder: "file:///flag", Address: "flag:1"}, vars)
	require.NoError(t, err)
	require.Equal(t, "of-flag", c.Queue)
	require.Equal(t, 4, c.Parallel)
	require.Equal(t, []lake.Root{{URL: "/flag"}}, c.Roots)
	require.Equal(t, "flag:1", c.Temporal.Address)
	require.Equal(t, "of-file", c.Temporal.Namespace)
}

func TestLoad_relativePaths_areOfTheFileThatNamesThem(t *testing.T) {
	t.Parallel()
	path := file(t, "roots: [{url: lake}]\nrun_folders: control\n")
	c, err := Load(Flags{File: path}, env())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(filepath.Dir(path), "lake"), c.Roots[0].URL)
	require.Equal(t, filepath.Join(filepath.Dir(path), "control"), c.RunFolders)
}

func TestLoad_relativePathsOfFlags_areOfTheCurrentFolder(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	c, err := Load(Flags{Roots: []string{"bronze=lake"}, RunFolder: "runs"}, env())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(here, "lake"), c.Roots[0].URL)
	require.Equal(t, filepath.Join(here, "runs"), c.RunFolders)
}

func TestLoad_refusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags Flags
		env   []string
		want  string
	}{
		"a named file that is missing": {Flags{File: filepath.Join(t.TempDir(), "none.yaml")}, nil, "none.yaml"},
		"an unknown key":               {Flags{File: file(t, "rots: []")}, nil, "rots"},
		"a number with a tail":         {Flags{}, []string{EnvParallel, "8x"}, `LAKEWARDEN_PARALLEL="8x": want a number from 1`},
		"no files in flight":           {Flags{}, []string{EnvParallel, "0"}, "want a number from 1"},
		"a root without a URL":         {Flags{Roots: []string{"bronze="}}, nil, `root "bronze="`},
	} {
		_, err := Load(c.flags, env(c.env...))
		require.ErrorContains(t, err, c.want, name)
	}
}
