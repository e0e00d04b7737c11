package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// source is one Go file of the module.
type source struct {
	dir  string // slash-separated, relative to the root
	name string
	file *ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s source) imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		paths = append(paths, p)
	}
	return paths
}

// sources parses every Go file, whatever its build tags.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(p, rel)
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{dir: path.Dir(rel), name: path.Base(rel), file: f})
		return nil
	}))
	require.NotEmpty(t, all)
	return all
}

// skipDir leaves out what go build ./... leaves out, and modules of their own.
func skipDir(p, rel string) error {
	name := filepath.Base(rel)
	if rel == "." {
		return nil
	}
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// under tells whether an import path or folder lies at or below the place that
// pattern names.
func under(p, pattern string) bool {
	if exact, ok := strings.CutSuffix(pattern, "$"); ok {
		return p == exact
	}
	return pattern == "." || p == pattern || strings.HasPrefix(p, pattern+"/")
}

func underAny(p string, patterns []string) bool {
	for _, pattern := range patterns {
		if under(p, pattern) {
			return true
		}
	}
	return false
}

// breach is "" when the rule allows the import.
func (r rule) breach(imported string) string {
	if underAny(imported, r.deny) {
		return "must not import " + imported
	}
	own, isOwn := strings.CutPrefix(imported+"/", module+"/")
	if isOwn && r.own != nil && !underAny(strings.TrimSuffix(own, "/"), r.own) {
		return fmt.Sprintf("may import of this module only %s, not %s", strings.Join(r.own, ", "), own)
	}
	return ""
}

func (r rule) covers(s source) bool {
	return underAny(s.dir, r.in) && !underAny(s.dir, r.except) && (!s.isTest() || r.name == "server")
}

func TestImports_followTheArchitecture(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range all {
				if !r.covers(s) {
					continue
				}
				for _, imported := range s.imports(t) {
					if why := r.breach(imported); why != "" {
						t.Errorf("%s/%s: %s: %s", s.dir, s.name, why, r.reason)
					}
				}
			}
		})
	}
}

func TestRule_breach(t *testing.T) {
	t.Parallel()
	r := rule{own: []string{"spec", "activities$"}, deny: []string{"os", "net$"}}
	for imported, allowed := range map[string]bool{
		"fmt": true, "os": false, "os/exec": false, "oslo": true, "net": false, "net/url": true,
		module + "/spec": true, module + "/spec/x": true, module + "/special": false,
		module + "/activities": true, module + "/activities/x": false, module: false, module + "x/y": true,
	} {
		require.Equal(t, allowed, r.breach(imported) == "", imported)
	}
	require.Empty(t, rule{}.breach(module+"/anything"), "no list, no limit")
}

func TestRules_namedOnceWithAReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rules {
		require.False(t, seen[r.name], r.name)
		seen[r.name] = true
		require.NotEmpty(t, r.reason, r.name)
		require.NotEmpty(t, r.in, r.name)
	}
}
