package conform

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/spec"
)

const (
	// batchRows is how many records a batch holds at most.
	batchRows = 16 << 10
	// batchBytes cuts batches of long records.
	batchBytes = 8 << 20
	// maxRecord bounds one record: what is longer is a quote that is never closed.
	maxRecord = 16 << 20
)

// csvReader cuts a file into records by RFC 4180.
type csvReader struct {
	in     *bufio.Reader
	enc    textEncoding
	delim  byte
	quote  byte
	rest   []byte // read, and not yet cut
	eof    bool
	err    error
	names  []string
	cells  [][]byte
	record []byte
}

// ReadCSV yields the records of a CSV file. The consumer releases each batch. A
// file without a byte has no records.
func ReadCSV(r io.Reader, file string, o spec.SourceOptions) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		c, err := newCSV(r, o)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", file, err))
			return
		}
		if err := c.header(o.Header == nil || *o.Header); err != nil {
			yield(nil, fmt.Errorf("%s: %w", file, err))
			return
		}
		for {
			b, err := c.batch(file)
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

func newCSV(r io.Reader, o spec.SourceOptions) (*csvReader, error) {
	enc, err := findEncoding(o.Encoding)
	if err != nil {
		return nil, err
	}
	c := &csvReader{enc: enc, delim: ',', quote: '"'}
	if o.Delimiter != "" {
		c.delim = o.Delimiter[0]
	}
	if o.Quote != "" {
		c.quote = o.Quote[0]
	}
	c.in, err = enc.open(r)
	return c, err
}

// header names the columns. Without a header record they are named by the first
// record's width, which stays to be read.
func (c *csvReader) header(has bool) error {
	reason, ok := c.next()
	if !ok {
		return c.err
	}
	if reason != nil || !c.enc.valid(c.record) {
		if has {
			return errors.New("the header cannot be read: its quotes or its encoding are wrong")
		}
	}
	if !has {
		for i := range c.cells {
			c.names = append(c.names, "_c"+strconv.Itoa(i+1))
		}
		c.unread()
		return nil
	}
	for _, cell := range c.cells {
		c.names = append(c.names, c.enc.text(cell))
	}
	return nil
}

// unread puts the record back.
func (c *csvReader) unread() {
	c.rest = append(append(bytes.Clone(c.record), '\n'), c.rest...)
}

// batch reads up to batchRows records; nil at the end.
func (c *csvReader) batch(file string) (*Batch, error) {
	b := &Batch{File: file, Names: c.names}
	builders := make([]*array.StringBuilder, len(c.names))
	for i := range builders {
		builders[i] = array.NewStringBuilder(memory.DefaultAllocator)
		builders[i].Reserve(batchRows)
		defer builders[i].Release()
	}
	size := 0
	for b.Rows < batchRows && size < batchBytes {
		reason, ok := c.next()
		if !ok {
			break
		}
		size += len(c.record)
		if reason == nil {
			reason = c.judge()
		}
		if reason != nil {
			if b.Broken == nil {
				b.Broken = map[int]Broken{}
			}
			b.Broken[b.Rows] = c.enc.broken(*reason, c.record)
			for _, builder := range builders {
				builder.AppendNull()
			}
		} else {
			c.append(builders)
		}
		b.Rows++
	}
	if c.err != nil {
		return nil, c.err
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

func (c *csvReader) append(builders []*array.StringBuilder) {
	for i, cell := range c.cells {
		if c.enc.single == nil {
			builders[i].BinaryBuilder.Append(cell)
		} else {
			builders[i].Append(c.enc.text(cell))
		}
	}
}

func (c *csvReader) judge() *Reason {
	if !c.enc.valid(c.record) {
		return &Reason{Code: CodeEncoding, Detail: "it has bytes that are not " + c.enc.name}
	}
	if len(c.cells) != len(c.names) {
		return &Reason{Code: CodeRagged, Detail: fmt.Sprintf("it has %d cells, the header has %d", len(c.cells), len(c.names))}
	}
	return nil
}

// next cuts one record into c.cells and c.record; empty lines between records of
// several columns are passed over. ok is false at the end.
func (c *csvReader) next() (reason *Reason, ok bool) {
	for {
		size, reason := c.cut()
		if size < 0 {
			return nil, false
		}
		c.rest = c.rest[size:]
		if len(c.record) == 0 && len(c.names) != 1 && reason == nil {
			continue
		}
		return reason, true
	}
}

// fill reads more; false when there is none.
func (c *csvReader) fill() bool {
	if c.eof || c.err != nil {
		return false
	}
	block := make([]byte, 256<<10)
	n, err := io.ReadAtLeast(c.in, block, 1)
	c.rest = append(c.rest[:len(c.rest):len(c.rest)], block[:n]...)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		c.eof = true
	} else if err != nil {
		c.err = err
	}
	return n > 0
}

// cut finds the record at the start of c.rest and its size, line end included;
// -1 at the end.
func (c *csvReader) cut() (size int, reason *Reason) {
	for {
		if len(c.rest) == 0 && !c.fill() {
			return -1, nil
		}
		size, reason, whole := c.try()
		if whole {
			return size, reason
		}
		if len(c.rest) > maxRecord {
			return c.line(&Reason{Code: CodeTooLong, Detail: "a quote that opens here is not closed within 16 MiB"})
		}
		if !c.fill() {
			if c.err != nil {
				return -1, nil
			}
			if size, reason, whole = c.try(); whole {
				return size, reason
			}
			return c.line(&Reason{Code: CodeQuote, Detail: "a quote that opens here is never closed"})
		}
	}
}

// line takes one line as a broken record.
func (c *csvReader) line(reason *Reason) (int, *Reason) {
	end, size := len(c.rest), len(c.rest)
	if i := bytes.IndexByte(c.rest, '\n'); i >= 0 {
		end, size = i, i+1
	}
	c.record = bytes.TrimSuffix(c.rest[:end], []byte("\r"))
	c.cells = c.cells[:0]
	return size, reason
}

// try cuts the record in c.rest; whole is false when its end is not there yet.
func (c *csvReader) try() (size int, reason *Reason, whole bool) {
	c.cells = c.cells[:0]
	for i := 0; ; {
		var cell []byte
		var next int
		if i < len(c.rest) && c.rest[i] == c.quote {
			var bad bool
			cell, next, bad, whole = c.quoted(i)
			if !whole {
				return 0, nil, false
			}
			if bad {
				if !c.eof && bytes.IndexByte(c.rest, '\n') < 0 {
					return 0, nil, false
				}
				size, reason := c.line(&Reason{Code: CodeQuote, Detail: "text follows a closing quote"})
				return size, reason, true
			}
		} else {
			next = i
			for next < len(c.rest) && c.rest[next] != c.delim && c.rest[next] != '\n' {
				next++
			}
			if next == len(c.rest) && !c.eof {
				return 0, nil, false
			}
			cell = c.rest[i:next]
			if next == len(c.rest) || c.rest[next] == '\n' {
				cell = bytes.TrimSuffix(cell, []byte("\r"))
			}
		}
		c.cells = append(c.cells, cell)
		if next >= len(c.rest) || c.rest[next] == '\n' {
			c.record = bytes.TrimSuffix(c.rest[:min(next, len(c.rest))], []byte("\r"))
			return min(next+1, len(c.rest)), nil, true
		}
		i = next + 1
	}
}

// quoted reads the cell whose quote opens at i. next is where its delimiter or
// line end stands.
func (c *csvReader) quoted(i int) (cell []byte, next int, bad, whole bool) {
	start := i + 1
	doubled := false
	for j := start; ; j++ {
		k := bytes.IndexByte(c.rest[j:], c.quote)
		if k < 0 {
			return nil, 0, false, false
		}
		j += k
		if j+1 >= len(c.rest) && !c.eof {
			return nil, 0, false, false
		}
		if j+1 < len(c.rest) && c.rest[j+1] == c.quote {
			doubled = true
			j++
			continue
		}
		cell, next = c.rest[start:j], j+1
		if doubled {
			cell = bytes.ReplaceAll(cell, []byte{c.quote, c.quote}, []byte{c.quote})
		}
		if next+1 >= len(c.rest) && !c.eof {
			return nil, 0, false, false // a line end may follow that is not here yet
		}
		if next < len(c.rest) && c.rest[next] == '\r' && (next+1 == len(c.rest) || c.rest[next+1] == '\n') {
			next++
		}
		bad = next < len(c.rest) && c.rest[next] != c.delim && c.rest[next] != '\n'
		return cell, next, bad, true
	}
}
