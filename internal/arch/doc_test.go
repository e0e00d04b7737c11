package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// minDoc keeps "Package x does x." from passing as a doc.
const minDoc = 60

func TestPackages_sayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	docs := map[string]string{} // by folder
	names := map[string]string{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		names[s.dir] = s.file.Name.Name
		if s.file.Doc != nil {
			docs[s.dir] += s.file.Doc.Text()
		}
	}
	for dir, name := range names {
		doc := docs[dir]
		want := "Package " + name + " "
		if name == "main" {
			want = "Command "
		}
		switch {
		case doc == "":
			t.Errorf("%s: no package comment: say what it owns, what it refuses, and its invariants", dir)
		case !strings.HasPrefix(doc, want):
			t.Errorf("%s: the package comment starts with %q, not with %q", dir, firstLine(doc), want)
		case len(doc) < minDoc:
			t.Errorf("%s: the package comment says too little: %q", dir, doc)
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// TestPackages_haveNamesThatSayWhatTheyHold: a drawer for everything has no
// invariants.
func TestPackages_haveNamesThatSayWhatTheyHold(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		switch s.file.Name.Name {
		case "util", "utils", "common", "helpers", "helper", "types", "misc", "shared":
			t.Errorf("%s/%s: package %s: name it by what it holds", s.dir, s.name, s.file.Name.Name)
		}
	}
}

// TestExported_isDocumented: what others may use says what it does. Test files,
// programs and the methods that an interface's contract describes are free.
func TestExported_isDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.isTest() || s.file.Name.Name == "main" {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s/%s: %s has no doc comment", s.dir, s.name, name)
			}
		}
	}
}

// undocumented names the exported identifiers of a declaration that neither have
// a comment nor stand in a group that has one.
func undocumented(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && d.Recv == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var names []string
		for _, spec := range d.Specs {
			names = append(names, bareNames(spec)...)
		}
		return names
	}
	return nil
}

func bareNames(spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
			return []string{s.Name.Name}
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil {
			return nil
		}
		for _, name := range s.Names {
			if name.IsExported() {
				return []string{name.Name}
			}
		}
	}
	return nil
}
