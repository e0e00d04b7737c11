package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

var errEmpty = errors.New("the document is empty")

// Document is what a file of this package holds: a RetentionPolicy, a
// PurgeLakehouse, a RestoreRequest, a PartitionCheck or a SilverTable.
type Document interface {
	// Validate lists everything that is wrong with the document as it would run.
	// A nil loader leaves out whether a time zone exists.
	Validate(zones ZoneLoader) Problems
}

// Parse reads a retention policy from YAML or JSON, as written: without
// defaults, and not yet validated. Its errors are Problems.
func Parse(data []byte) (RetentionPolicy, error) {
	return parse[RetentionPolicy](data, KindRetentionPolicy)
}

// ParsePurgeLakehouse reads a list of policies as Parse reads one.
func ParsePurgeLakehouse(data []byte) (PurgeLakehouse, error) {
	return parse[PurgeLakehouse](data, KindPurgeLakehouse)
}

// ParseRestoreRequest reads a restore request as Parse reads a policy.
func ParseRestoreRequest(data []byte) (RestoreRequest, error) {
	return parse[RestoreRequest](data, KindRestoreRequest)
}

// ParsePartitionCheck reads a partition check as Parse reads a policy.
func ParsePartitionCheck(data []byte) (PartitionCheck, error) {
	return parse[PartitionCheck](data, KindPartitionCheck)
}

// ParseSilverTable reads a Silver spec as Parse reads a policy.
func ParseSilverTable(data []byte) (SilverTable, error) {
	return parse[SilverTable](data, KindSilverTable)
}

func parse[T any](data []byte, kind string) (T, error) {
	var doc, none T
	n, err := tree(data)
	if err != nil {
		return none, unreadable(err, kind)
	}
	if _, problems := decode(n, &doc, kind); len(problems) > 0 {
		return none, problems
	}
	return doc, nil
}

// Check reads a document of any kind and validates it. The problems of both
// carry their lines; the document is nil where it cannot be read.
func Check(data []byte, zones ZoneLoader) (Document, Problems) {
	n, err := tree(data)
	if err != nil {
		return nil, unreadable(err, KindRetentionPolicy)
	}
	k := n.get("kind")
	if k == nil || k.kind != kindText {
		return check[RetentionPolicy](n, KindRetentionPolicy, zones)
	}
	switch k.text {
	case KindRetentionPolicy:
		return check[RetentionPolicy](n, KindRetentionPolicy, zones)
	case KindPurgeLakehouse:
		return check[PurgeLakehouse](n, KindPurgeLakehouse, zones)
	case KindRestoreRequest:
		return check[RestoreRequest](n, KindRestoreRequest, zones)
	case KindPartitionCheck:
		return check[PartitionCheck](n, KindPartitionCheck, zones)
	case KindSilverTable:
		return check[SilverTable](n, KindSilverTable, zones)
	}
	kinds := slices.Sorted(maps.Keys(documents))
	return nil, Problems{{Path: "kind", Line: k.line, Example: "kind: " + or(nearest(k.text, kinds), KindRetentionPolicy),
		Message: fmt.Sprintf("%q is unknown; allowed: %s", shorten(k.text), strings.Join(kinds, ", "))}}
}

func check[T Document](n *node, kind string, zones ZoneLoader) (Document, Problems) {
	var doc T
	lines, unread := decode(n, &doc, kind)
	problems := doc.Validate(zones)
	for i := range problems {
		problems[i].Line = lineFor(problems[i].Path, lines)
	}
	if len(unread) == 0 {
		return doc, problems
	}
	return nil, append(unread, unrelated(problems, unread)...)
}

// unrelated leaves out problems that may only follow from a part that could not
// be read: a misspelt key looks like a missing one.
func unrelated(problems, unread Problems) Problems {
	sections := map[string]bool{}
	for _, p := range unread {
		s := section(p.Path)
		if s == p.Path {
			return nil // a whole section: anything may follow from it
		}
		sections[s] = true
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return sections[section(p.Path)] })
}

// section is the key of the policy that path lies in: "criteria",
// "policies[2].criteria".
func section(path string) string {
	prefix := ""
	if head, rest, inList := strings.Cut(path, "]."); inList && strings.HasPrefix(path, "policies[") {
		prefix, path = head+"].", rest
	}
	first, _, _ := strings.Cut(path, ".")
	return prefix + first
}

// UnmarshalJSON is as strict as Parse. It does not validate.
func (p *RetentionPolicy) UnmarshalJSON(data []byte) error {
	return unmarshal(data, p, KindRetentionPolicy)
}

// UnmarshalJSON is as strict as ParsePurgeLakehouse. It does not validate.
func (l *PurgeLakehouse) UnmarshalJSON(data []byte) error {
	return unmarshal(data, l, KindPurgeLakehouse)
}

// UnmarshalJSON is as strict as ParseRestoreRequest. It does not validate.
func (r *RestoreRequest) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, KindRestoreRequest)
}

// UnmarshalJSON is as strict as ParsePartitionCheck. It does not validate.
func (p *PartitionCheck) UnmarshalJSON(data []byte) error {
	return unmarshal(data, p, KindPartitionCheck)
}

// UnmarshalJSON is as strict as ParseSilverTable. It does not validate.
func (t *SilverTable) UnmarshalJSON(data []byte) error {
	return unmarshal(data, t, KindSilverTable)
}

func unmarshal(data []byte, v any, kind string) error {
	n, err := jsonTree(data)
	if err != nil {
		return unreadable(err, kind)
	}
	n.forgetLines()
	_, problems := decode(n, v, kind)
	return problems.Err()
}

// tree reads text as JSON where it is JSON, else as YAML.
func tree(data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) > maxBytes:
		return nil, fmt.Errorf("the document is larger than %d KiB", maxBytes>>10)
	case !utf8.Valid(data):
		return nil, errors.New("the document is not UTF-8 text")
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errEmpty
	case json.Valid(data):
		return jsonTree(data)
	}
	return yamlTree(data)
}

// decode fills v, a pointer to a document of the kind, from the tree.
func decode(n *node, v any, kind string) (map[string]int, Problems) {
	d := &decoder{keys: documents[kind].keys, whole: documents[kind].example, lines: map[string]int{}}
	if n.kind == kindNull {
		return nil, unreadable(errEmpty, kind)
	}
	if k := n.get("kind"); k != nil && k.text != kind {
		if _, other := documents[k.text]; other {
			d.add("kind", k.line, "kind: "+kind, "this is a %s, not a %s", k.text, kind)
			return nil, d.problems
		}
	}
	d.value(n, reflect.ValueOf(v).Elem(), "", false)
	return d.lines, d.problems
}

// unreadable is a document of which nothing can be read.
func unreadable(err error, kind string) Problems {
	p := Problem{Message: err.Error()}
	if errors.Is(err, errEmpty) {
		p.Example = documents[kind].example
	}
	return Problems{p}
}

// lineFor is the line of the path, or of the nearest key above it that was
// written.
func lineFor(path string, lines map[string]int) int {
	for path != "" {
		if line, ok := lines[path]; ok {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return 0
}
