package arch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// lintConfig is the part of .golangci.yml that repeats the rules.
type lintConfig struct {
	Linters struct {
		Settings struct {
			Depguard struct {
				Rules map[string]depguardRule `yaml:"rules"`
			} `yaml:"depguard"`
		} `yaml:"settings"`
	} `yaml:"linters"`
}

type depguardRule struct {
	Files []string `yaml:"files"`
	Allow []string `yaml:"allow"`
	Deny  []struct {
		Pkg  string `yaml:"pkg"`
		Desc string `yaml:"desc"`
	} `yaml:"deny"`
}

// TestLinter_holdsTheSameRules: the linter tells while one types, this package
// tells in every run of the tests; two lists that drift apart would tell neither.
func TestLinter_holdsTheSameRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	require.NoError(t, err)
	var config lintConfig
	require.NoError(t, yaml.Unmarshal(text, &config))
	have := config.Linters.Settings.Depguard.Rules
	require.Len(t, have, len(rules))
	for _, r := range rules {
		lint, ok := have[r.name]
		require.True(t, ok, "depguard has no rule %s", r.name)
		require.ElementsMatch(t, r.files(), lint.Files, "%s: files", r.name)
		require.ElementsMatch(t, r.allows(), lint.Allow, "%s: allow", r.name)
		var denied []string
		for _, d := range lint.Deny {
			denied = append(denied, d.Pkg)
			require.Equal(t, r.reason, d.Desc, "%s: the reason for %s", r.name, d.Pkg)
		}
		require.ElementsMatch(t, r.denies(), denied, "%s: deny", r.name)
	}
}

func (r rule) files() []string {
	var globs []string
	for _, in := range r.in {
		if in == "." {
			return []string{"$all"}
		}
		globs = append(globs, "${config-path}/"+in+"/**")
	}
	for _, ex := range r.except {
		globs = append(globs, "!${config-path}/"+ex+"/**")
	}
	return append(globs, "!$test")
}

func (r rule) allows() []string {
	var list []string
	for _, own := range r.own {
		list = append(list, module+"/"+own)
	}
	return list
}

func (r rule) denies() []string {
	list := slices.Clone(r.deny)
	if r.own != nil {
		list = append(list, module)
	}
	return list
}
