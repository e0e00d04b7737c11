package conform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/spec"
)

// ReadJSON yields the records of a file with one JSON object a line. paths are
// what is taken out of them: member names, with dots into nested objects. Numbers
// keep their digits. other is told of each top-level member that no path names.
func ReadJSON(r io.Reader, file string, o spec.SourceOptions, paths []string, other func(name string)) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		enc, err := findEncoding(o.Encoding)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", file, err))
			return
		}
		in, err := enc.open(r)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", file, err))
			return
		}
		j := &jsonReader{in: in, enc: enc, paths: paths, other: other, seen: map[string]bool{}}
		for _, p := range paths {
			j.tops = append(j.tops, strings.Split(p, ".")[0])
		}
		for {
			b, err := j.batch(file)
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", file, err))
				return
			}
			if b == nil || !yield(b, nil) {
				return
			}
		}
	}
}

type jsonReader struct {
	in    *bufio.Reader
	enc   textEncoding
	paths []string
	tops  []string
	other func(string)
	seen  map[string]bool
}

func (j *jsonReader) batch(file string) (*Batch, error) {
	b := &Batch{File: file, Names: j.paths}
	builders := make([]*array.StringBuilder, len(j.paths))
	for i := range builders {
		builders[i] = array.NewStringBuilder(memory.DefaultAllocator)
		defer builders[i].Release()
	}
	size := 0
	for b.Rows < batchRows && size < batchBytes {
		line, err := j.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		size += len(line)
		if reason := j.record(b, line, builders); reason != nil {
			if b.Broken == nil {
				b.Broken = map[int]Broken{}
			}
			b.Broken[b.Rows] = j.enc.broken(*reason, line)
			for _, builder := range builders {
				builder.AppendNull()
			}
		}
		b.Lines = append(b.Lines, j.enc.text(line))
		b.Rows++
	}
	if b.Rows == 0 {
		return nil, nil
	}
	b.Columns = make([]arrow.Array, len(builders))
	for i, builder := range builders {
		b.Columns[i] = builder.NewArray()
	}
	return b, nil
}

// line gives the next line that is not blank.
func (j *jsonReader) line() ([]byte, error) {
	for {
		line, err := j.in.ReadBytes('\n')
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// record appends the values of one line, or says why there are none.
func (j *jsonReader) record(b *Batch, line []byte, out []*array.StringBuilder) *Reason {
	if !j.enc.valid(line) {
		return &Reason{Code: CodeEncoding, Detail: "it has bytes that are not " + j.enc.name}
	}
	if j.enc.single != nil {
		line = []byte(j.enc.text(line))
	}
	if !json.Valid(line) || line[0] != '{' {
		return &Reason{Code: CodeJSON, Detail: "want one JSON object a line"}
	}
	values := make([]json.RawMessage, len(j.paths))
	if twice := j.walk(line, "", values); twice != "" {
		return &Reason{Code: CodeTwice, Detail: "member " + twice + " is there twice"}
	}
	for _, v := range values {
		if lostSurrogate(v) {
			return &Reason{Code: CodeJSON, Detail: "it has half of a surrogate pair, which is no character"}
		}
	}
	for i, v := range values {
		if text, ok := scalarText(v); ok {
			out[i].Append(text)
		} else {
			out[i].AppendNull()
		}
		if len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
			b.setNumber(i, b.Rows)
		}
	}
	return nil
}

// lostSurrogate: decoding would put U+FFFD where the text has none.
func lostSurrogate(v json.RawMessage) bool {
	if len(v) == 0 || v[0] != '"' || !bytes.Contains(bytes.ToLower(v), []byte(`\ud`)) {
		return false
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		return true
	}
	return strings.ContainsRune(s, '\ufffd') && !bytes.ContainsRune(v, '\ufffd') && !bytes.Contains(bytes.ToLower(v), []byte(`\ufffd`))
}

// walk finds the values of the paths in an object that is valid JSON. It gives
// the name of a member that is there twice, where a path needs it.
func (j *jsonReader) walk(object []byte, prefix string, values []json.RawMessage) (twice string) {
	members(object, func(name string, value []byte) {
		path := prefix + name
		wanted := false
		for i, p := range j.paths {
			switch {
			case p == path:
				wanted = true
				if values[i] != nil {
					twice = path
				}
				values[i] = value
			case strings.HasPrefix(p, path+"."):
				wanted = true
			}
		}
		if !wanted {
			if prefix == "" && j.other != nil && !j.seen[name] && !slices.Contains(j.tops, name) {
				j.seen[name] = true
				j.other(name)
			}
			return
		}
		if value[0] == '{' {
			if t := j.walk(value, path+".", values); t != "" {
				twice = t
			}
		}
	})
	return twice
}

// members yields the members of an object that is valid JSON.
func members(object []byte, yield func(name string, value []byte)) {
	i := skipSpace(object, 1)
	for i < len(object) && object[i] == '"' {
		end := skipString(object, i)
		name := string(object[i+1 : end-1])
		if strings.Contains(name, `\`) {
			_ = json.Unmarshal(object[i:end], &name) // valid: it was checked as a whole
		}
		i = skipSpace(object, end)
		i = skipSpace(object, i+1) // the colon
		stop := skipValue(object, i)
		yield(name, object[i:stop])
		i = skipSpace(object, stop)
		if i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// scalarText is a value as text; ok is false for null and what is not there.
// Objects and lists stay JSON.
func scalarText(v json.RawMessage) (string, bool) {
	switch {
	case v == nil || string(v) == "null":
		return "", false
	case v[0] == '"':
		var s string
		_ = json.Unmarshal(v, &s) // valid: it was checked as a whole
		return s, true
	}
	return string(v), true
}
