package spec

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// decoder fills a Go value from a tree and collects every problem on the way.
type decoder struct {
	keys     keyTable
	whole    string // a right document
	problems Problems
	lines    map[string]int // line of each path that was written
}

func (d *decoder) add(path string, line int, example, format string, args ...any) {
	d.problems = append(d.problems, Problem{Path: path, Line: line, Message: fmt.Sprintf(format, args...), Example: example})
}

// written is a value that may be written in more than one form. fromNode takes
// it, or says what is wanted instead.
type written interface {
	fromNode(n *node) (want string)
}

// value decodes n into v, whose type decides what may be written. optional
// keys must not be empty: leaving one out is the way not to give it.
func (d *decoder) value(n *node, v reflect.Value, path string, optional bool) {
	if n.kind == kindNull {
		d.add(path, n.line, d.keys.example(path), "no value; write one or remove the key")
		return
	}
	if w, ok := v.Addr().Interface().(written); ok {
		if want := w.fromNode(n); want != "" {
			d.mismatch(n, path, want)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path, optional)
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	default:
		d.scalar(n, v, path, optional)
	}
}

func (d *decoder) structure(n *node, v reflect.Value, path string) {
	if n.kind != kindMap {
		d.mismatch(n, path, "keys and values")
		return
	}
	if len(n.entries) == 0 {
		d.add(path, n.line, d.keys.example(path), "empty; fill it or remove it")
		return
	}
	fields := fieldsOf(v.Type())
	seen := map[string]int{}
	for _, e := range n.entries {
		at := join(path, shorten(e.name))
		if line, twice := seen[e.name]; twice {
			d.duplicate(at, e.line, line)
			continue
		}
		seen[e.name] = e.line
		f, known := fields.byName[e.name]
		if !known {
			d.unknown(e, path, fields.names)
			continue
		}
		d.lines[at] = e.line
		d.value(e.value, v.Field(f.index), at, f.optional)
	}
}

func (d *decoder) duplicate(path string, line, first int) {
	where := ""
	if line > 0 {
		where = fmt.Sprintf(" (first in line %d)", first)
	}
	d.add(path, line, "", "written twice%s; keep one", where)
}

// unknown reports a key that does not exist, with the nearest one that does.
func (d *decoder) unknown(e entry, parent string, names []string) {
	path := join(parent, shorten(e.name))
	if near := nearest(e.name, names); near != "" {
		d.add(path, e.line, d.keys.example(join(parent, near)), "unknown key; did you mean %s?", near)
		return
	}
	right := d.keys.example(parent)
	if parent == "" {
		right = d.whole
	}
	d.add(path, e.line, right, "unknown key; keys here are %s", strings.Join(names, ", "))
}

func (d *decoder) list(n *node, v reflect.Value, path string) {
	if n.kind != kindList {
		d.mismatch(n, path, "a list")
		return
	}
	if len(n.items) == 0 {
		d.add(path, n.line, d.keys.example(path), "empty list; fill it or remove the key")
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.lines[at] = item.line
		d.value(item, out.Index(i), at, false)
	}
	v.Set(out)
}

var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (d *decoder) scalar(n *node, v reflect.Value, path string, optional bool) {
	switch v.Kind() {
	case reflect.String:
		d.text(n, v, path, optional)
	case reflect.Bool:
		if n.kind != kindBool {
			d.mismatch(n, path, "true or false")
			return
		}
		v.SetBool(n.text == "true")
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.text, 10, v.Type().Bits())
		if n.kind != kindNumber || !wholeNumber.MatchString(n.text) || err != nil {
			d.mismatch(n, path, "a whole number")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.text, 64)
		if n.kind != kindNumber || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			d.mismatch(n, path, "a number")
			return
		}
		v.SetFloat(f)
	default:
		panic(fmt.Sprintf("spec: %s has a Go type that documents cannot hold: %s", path, v.Type()))
	}
}

func (d *decoder) text(n *node, v reflect.Value, path string, optional bool) {
	switch {
	case n.kind != kindText && v.Type() == reflect.TypeFor[Duration]():
		d.mismatch(n, path, "a duration with its unit")
	case n.kind != kindText && v.Type() == reflect.TypeFor[Percent]():
		d.mismatch(n, path, "a percentage with its sign")
	case n.kind != kindText:
		d.mismatch(n, path, "text (in quotes, where it looks like something else)")
	case optional && strings.TrimSpace(n.text) == "":
		d.add(path, n.line, d.keys.example(path), "empty; fill it or remove the key")
	default:
		v.SetString(n.text)
	}
}

func (d *decoder) mismatch(n *node, path, want string) {
	d.add(path, n.line, d.keys.example(path), "want %s, got %s", want, n)
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

type field struct {
	index    int
	optional bool
}

type fields struct {
	names  []string // in the order of the Go type
	byName map[string]field
}

// fieldsOf lists the keys of a struct by their JSON names.
func fieldsOf(t reflect.Type) fields {
	out := fields{byName: map[string]field{}}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out.names = append(out.names, name)
		out.byName[name] = field{index: i, optional: options != ""}
	}
	return out
}
