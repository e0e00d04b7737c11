package conform

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Batch is a run of raw records of one source.
type Batch struct {
	// File is where the records come from, for _SourceFile.
	File string
	// Names and Columns are the source's columns. Text of CSV and JSON is String.
	Names   []string
	Columns []arrow.Array
	Rows    int
	// Typed says that values which are no strings have types of their own.
	Typed bool
	// numbers are the cells, by column and row, that were written as numbers.
	numbers map[int]map[int]bool
	// Broken are the records that could not be read; their cells are null. Text is
	// the record as it stood.
	Broken map[int]Broken
	// Lines are the records as they stood, for formats whose records are JSON. Nil:
	// they are written from the cells.
	Lines []string
	// Deletes are the records that a change feed calls deletes. Nil: none.
	Deletes []bool
}

// Broken is a record that could not be read.
type Broken struct {
	Reason Reason
	Text   string
	// Base64 says that the text is not text but bytes, in Base64.
	Base64 bool
}

// Release lets the columns go.
func (b *Batch) Release() {
	for _, c := range b.Columns {
		if c != nil {
			c.Release()
		}
	}
}

func (b *Batch) setNumber(column, row int) {
	if b.numbers == nil {
		b.numbers = map[int]map[int]bool{}
	}
	if b.numbers[column] == nil {
		b.numbers[column] = map[int]bool{}
	}
	b.numbers[column][row] = true
}

// column finds a source column: by its name, else the only one that differs in
// case alone.
func (b *Batch) column(name string) int {
	found := -1
	for i, n := range b.Names {
		if n == name {
			return i
		}
		if strings.EqualFold(n, name) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// Members of a raw record that could not be read.
const (
	rawText   = "_record"
	rawBase64 = "_record_base64"
)

// raw writes record i as JSON: what quarantine keeps, and replays.
func (b *Batch) raw(i int) string {
	if broken, ok := b.Broken[i]; ok {
		name := rawText
		if broken.Base64 {
			name = rawBase64
		}
		return "{" + quoted(name) + ":" + quoted(broken.Text) + "}"
	}
	if b.Lines != nil {
		return b.Lines[i]
	}
	var out strings.Builder
	out.WriteByte('{')
	for j, name := range b.Names {
		if j > 0 {
			out.WriteByte(',')
		}
		out.WriteString(quoted(name) + ":")
		if c := b.Columns[j]; c.IsNull(i) {
			out.WriteString("null")
		} else {
			out.WriteString(quoted(textOf(c, i)))
		}
	}
	out.WriteByte('}')
	return out.String()
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
