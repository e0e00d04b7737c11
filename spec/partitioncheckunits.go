package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Unit is a step of a calendar.
type Unit string

// Units of a Period.
const (
	Hour  Unit = "hour"
	Day   Unit = "day"
	Week  Unit = "week"
	Month Unit = "month"
)

// Period is a number of calendar units as people write it: "14 days", "1 hour".
// Empty means not given.
type Period string

// Parts gives number and unit.
func (p Period) Parts() (n int, unit Unit, err error) {
	number, name, ok := strings.Cut(string(p), " ")
	n, nerr := strconv.Atoi(number)
	unit = Unit(strings.TrimSuffix(name, "s"))
	switch unit {
	case Hour, Day, Week, Month:
	default:
		ok = false
	}
	if !ok || nerr != nil || n < 1 || n > maxPeriods || strconv.Itoa(n) != number {
		return 0, "", fmt.Errorf("%q is not a number of hours, days, weeks or months", string(p))
	}
	return n, unit, nil
}

// maxPeriods bounds a window: longer ones are typing errors.
const maxPeriods = 100000

// Bound is a value that a metric is compared with: a number, a percentage
// ("-50%") or text such as a day. Numbers keep their digits.
type Bound string

var numberForm = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

func (b *Bound) fromNode(n *node) string {
	if n.kind != kindNumber && (n.kind != kindText || strings.TrimSpace(n.text) == "") || n.kind == kindNumber && !numberForm.MatchString(n.text) {
		return "a number, a percentage or text"
	}
	*b = Bound(n.text)
	return ""
}

// IsNumber says whether the bound is a plain number.
func (b Bound) IsNumber() bool { return len(b) <= 40 && numberForm.MatchString(string(b)) }

// IsPercent says whether the bound is a percentage.
func (b Bound) IsPercent() bool {
	number, found := strings.CutSuffix(string(b), "%")
	return found && Bound(number).IsNumber()
}

// Number is the exact value of a number or a percentage: 50% is 1/2.
func (b Bound) Number() (*big.Rat, bool) {
	number, percent := strings.CutSuffix(string(b), "%")
	if !Bound(number).IsNumber() {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(number)
	if ok && percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	return r, ok
}

// MarshalJSON writes numbers as numbers.
func (b Bound) MarshalJSON() ([]byte, error) {
	if b.IsNumber() && json.Valid([]byte(b)) {
		return []byte(b), nil
	}
	return json.Marshal(string(b))
}

// UnmarshalJSON reads a number or text.
func (b *Bound) UnmarshalJSON(data []byte) error {
	n, err := jsonTree(data)
	if err != nil {
		return err
	}
	if want := b.fromNode(n); want != "" {
		return fmt.Errorf("want %s, got %s", want, n)
	}
	return nil
}

// Template is any value, as JSON, with placeholders such as {partition} in its
// texts.
type Template []byte

var placeholder = regexp.MustCompile(`\{[A-Za-z_]*\}`)

func (t *Template) fromNode(n *node) string {
	var b bytes.Buffer
	if err := n.writeJSON(&b); err != nil {
		return "values and lists of them"
	}
	*t = b.Bytes()
	return ""
}

func (n *node) writeJSON(b *bytes.Buffer) error {
	switch n.kind {
	case kindNull:
		b.WriteString("null")
	case kindNumber, kindBool:
		if !json.Valid([]byte(n.text)) { // YAML knows numbers that JSON does not
			return fmt.Errorf("%s is not written as JSON", n)
		}
		b.WriteString(n.text)
	case kindText:
		return writeText(b, n.text)
	case kindList:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := item.writeJSON(b); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case kindMap:
		return n.writeObject(b)
	}
	return nil
}

func (n *node) writeObject(b *bytes.Buffer) error {
	b.WriteByte('{')
	seen := map[string]bool{}
	for i, e := range n.entries {
		if seen[e.name] {
			return fmt.Errorf("%s is written twice", e.name)
		}
		seen[e.name] = true
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeText(b, e.name); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := e.value.writeJSON(b); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeText(b *bytes.Buffer, text string) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline that Encode adds
	return nil
}

// MarshalJSON gives the value itself.
func (t Template) MarshalJSON() ([]byte, error) {
	if len(t) == 0 {
		return []byte("null"), nil
	}
	return t, nil
}

// UnmarshalJSON takes any value.
func (t *Template) UnmarshalJSON(data []byte) error {
	n, err := jsonTree(data)
	if err != nil {
		return err
	}
	if want := t.fromNode(n); want != "" {
		return fmt.Errorf("want %s", want)
	}
	return nil
}

// Placeholders lists those in the template's texts, keys included.
func (t Template) Placeholders() []string { return placeholder.FindAllString(string(t), -1) }

// Fill gives the value with its placeholders replaced: what values has by name,
// without the braces. Replacements stay inside their text.
func (t Template) Fill(values map[string]string) (json.RawMessage, error) {
	if len(t) == 0 {
		return nil, nil
	}
	n, err := jsonTree(t)
	if err != nil {
		return nil, err
	}
	n.fill(values)
	var b bytes.Buffer
	if err := n.writeJSON(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (n *node) fill(values map[string]string) {
	if n.kind == kindText {
		n.text = placeholder.ReplaceAllStringFunc(n.text, func(p string) string {
			if v, ok := values[strings.Trim(p, "{}")]; ok {
				return v
			}
			return p
		})
	}
	for _, item := range n.items {
		item.fill(values)
	}
	for i := range n.entries {
		n.entries[i].value.fill(values)
	}
}
