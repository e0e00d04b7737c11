package arch

import (
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
