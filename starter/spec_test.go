package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/spec"
)

func TestSpecCheck_ofAnExample_isValid(t *testing.T) {
	files, err := filepath.Glob("../examples/*.*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		s := verb(t, "", "spec", "check", "-f", file)
		require.NoError(t, s.err, s.out)
		require.Equal(t, file+" is valid\n", s.out)
	}
}

func TestSpecCheck_ofAWrongDocument_listsEveryProblemAndFails(t *testing.T) {
	text := strings.NewReplacer("bronze.vendas", "vendas", "days: 365", "days: -1").Replace(spec.Example())
	require.NotEqual(t, spec.Example(), text)
	s := verb(t, text, "spec", "check", "-f", "-")
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "- has 2 problems")
	require.Contains(t, s.out, "table")
	require.Contains(t, s.out, "days")
}

func TestSpecCheck_asJSON_isForPrograms(t *testing.T) {
	var answer struct {
		Valid    bool
		Problems []struct{ Path, Message string }
	}
	s := verb(t, spec.Example(), "spec", "check", "-f", "-", "--json")
	require.NoError(t, s.err)
	require.NoError(t, json.Unmarshal([]byte(s.out), &answer))
	require.True(t, answer.Valid)
	require.NotNil(t, answer.Problems, "a list that is empty, not null")

	s = verb(t, "kind: RetentionPolicy", "spec", "check", "-f", "-", "--json")
	require.True(t, s.quiet(), "%v", s.err)
	require.NoError(t, json.Unmarshal([]byte(s.out), &answer))
	require.False(t, answer.Valid)
	require.NotEmpty(t, answer.Problems)
}

func TestSpecCheck_ofBadSQL_namesWhereItStands(t *testing.T) {
	policy, err := os.ReadFile("../examples/vendas-365d.yaml")
	require.NoError(t, err)
	text := strings.Replace(string(policy), "status = 'LITIGATION'", "status = ", 1)
	require.NotEqual(t, string(policy), text)
	s := verb(t, text, "spec", "check", "-f", "-")
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "hold.where")
}

func TestSpecConvert_toYAMLAndBack_keepsTheDocument(t *testing.T) {
	asJSON := verb(t, spec.Example(), "spec", "convert", "-f", "-")
	require.NoError(t, asJSON.err)
	require.True(t, json.Valid([]byte(asJSON.out)))
	asYAML := verb(t, asJSON.out, "spec", "convert", "-f", "-", "--to", "yaml")
	require.NoError(t, asYAML.err)
	require.False(t, json.Valid([]byte(asYAML.out)))
	back := verb(t, "", "spec", "convert", "-f", write(t, asYAML.out))
	require.NoError(t, back.err)
	require.Equal(t, asJSON.out, back.out)
}

func TestSpecConvert_thatCannotBe_saysWhatIsWrong(t *testing.T) {
	s := verb(t, spec.Example(), "spec", "convert", "-f", "-", "--to", "xml")
	require.ErrorContains(t, s.err, `--to "xml": want json or yaml`)
	s = verb(t, "kind: RetentionPolicy", "spec", "convert", "-f", "-")
	require.ErrorContains(t, s.err, "table")
	require.Empty(t, s.out, "nothing half converted")
	s = verb(t, "", "spec", "convert", "-f", filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, s.err, os.ErrNotExist)
	require.ErrorContains(t, s.err, "none.yaml")
	s = verb(t, "", "spec", "convert")
	require.ErrorContains(t, s.err, `"file"`)
}
