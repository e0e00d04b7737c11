package pq

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/format"
)

const (
	defaultRowGroupRows = 1 << 20
	// rowGroupBytes closes a row group early, so that what a Writer holds stays
	// bounded however wide the rows are.
	rowGroupBytes = 128 << 20
)

// Writer writes Arrow records as one Parquet file. It is for one goroutine. An
// error makes it unusable: every later call returns it.
type Writer struct {
	columns  []writerColumn
	file     *fileWriter
	leaves   []*outLeaf
	chunks   []*leafWriter // nil for constants
	constant chunkWriter
	stats    []leafStats
	codec    format.CompressionCodec
	page     int
	limit    int
	rows     int // of the row group being filled
	total    int64
	err      error
}

// writerColumn is a top-level column that comes from the records.
type writerColumn struct {
	name string
	node *outNode
}

// WriterOptions of NewWriter.
type WriterOptions struct {
	Options
	Codec string // as in Output; empty: zstd
}

// NewWriter starts a file. Source and SourceID of the columns are ignored;
// constant columns, and those that Options.Clear names, are filled in.
func NewWriter(w io.Writer, cols []Column, opt WriterOptions) (*Writer, error) {
	if opt.Codec == "" {
		opt.Codec = "zstd"
	}
	codec, err := codecOf(opt.Codec)
	if err != nil {
		return nil, err
	}
	out := &Writer{codec: codec, page: opt.PageBytes, limit: opt.RowGroupRows}
	if out.page <= 0 {
		out.page = defaultPageBytes
	}
	if out.limit <= 0 {
		out.limit = defaultRowGroupRows
	}
	s, err := out.plan(cols, opt.Clear)
	if err != nil {
		return nil, err
	}
	out.leaves = s.leaves
	out.stats = newLeafStats(s.leaves, nil)
	if out.file, err = newFileWriter(w, s, opt.Created, nil); err != nil {
		return nil, err
	}
	out.chunks = make([]*leafWriter, len(s.leaves))
	for _, c := range out.columns {
		c.node.eachLeaf(func(l *outLeaf) { out.chunks[out.indexOf(l)] = &leafWriter{} })
	}
	out.startGroup()
	return out, nil
}

func (w *Writer) indexOf(l *outLeaf) int {
	for i := range w.leaves {
		if w.leaves[i] == l {
			return i
		}
	}
	return -1
}

// Write appends the rows of rec, which has the columns that are not constant,
// by Field.Name, in any order. It keeps nothing of rec.
func (w *Writer) Write(rec arrow.Record) error {
	if w.err != nil {
		return w.err
	}
	w.err = w.write(rec)
	return w.err
}

func (w *Writer) write(rec arrow.Record) error {
	arrays, err := w.arrays(rec)
	if err != nil {
		return err
	}
	step := w.step(arrays, int(rec.NumRows()))
	for lo := 0; lo < int(rec.NumRows()); {
		hi := min(lo+step, int(rec.NumRows()), lo+w.limit-w.rows)
		if err := w.slice(arrays, lo, hi); err != nil {
			return err
		}
		w.rows += hi - lo
		lo = hi
		if w.rows >= w.limit || w.held() >= rowGroupBytes {
			if err := w.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrays finds the columns of a record.
func (w *Writer) arrays(rec arrow.Record) ([]arrow.Array, error) {
	out := make([]arrow.Array, len(w.columns))
	for i, c := range w.columns {
		at := rec.Schema().FieldIndices(c.name)
		if len(at) != 1 {
			return nil, fmt.Errorf("record has %d columns named %s, want one", len(at), c.name)
		}
		out[i] = rec.Column(at[0])
	}
	return out, nil
}

// step is how many rows are shredded at a time: fewer where rows are wide, so
// that pages stay near their size.
func (w *Writer) step(arrays []arrow.Array, rows int) int {
	step := batchEntries
	for _, a := range arrays {
		if n := sizeOf(a.Data()); n > 0 {
			step = min(step, int(int64(w.page)*int64(rows)/n))
		}
	}
	return max(step, 1)
}

// sizeOf is the memory behind an array, its children's included.
func sizeOf(d arrow.ArrayData) int64 {
	n := int64(0)
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += sizeOf(c)
	}
	return n
}

func (w *Writer) slice(arrays []arrow.Array, lo, hi int) error {
	for i, c := range w.columns {
		sh := shredder{w: w}
		if err := sh.column(c.node, arrays[i], lo, hi); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return nil
}

func (w *Writer) startGroup() {
	w.rows = 0
	w.file.startGroup()
	for i, c := range w.chunks {
		if c != nil {
			c.open(w.leaves[i], w.file, w.codec, w.page)
		}
	}
}

// held is the size of what is encoded and not written yet.
func (w *Writer) held() int64 {
	n := int64(0)
	for _, c := range w.chunks {
		if c != nil {
			n += int64(len(c.chunk.body) + len(c.chunk.dict.bytes()))
		}
	}
	return n
}

func (w *Writer) endGroup() error {
	if w.rows == 0 {
		return nil
	}
	w.file.startGroup()
	for i, l := range w.leaves {
		res, c, err := w.endChunk(i)
		if err != nil {
			return fmt.Errorf("column %s: %w", strings.Join(l.path, "."), err)
		}
		w.stats[i].addChunk(c)
		w.file.add(res)
	}
	if err := w.file.endGroup(int64(w.rows), nil, nil); err != nil {
		return err
	}
	w.total += int64(w.rows)
	w.startGroup()
	return nil
}

func (w *Writer) endChunk(i int) (*chunkResult, *chunkWriter, error) {
	if w.chunks[i] == nil {
		res, err := w.constant.constantChunk(w.leaves[i], w.file, w.codec, w.rows)
		return res, &w.constant, err
	}
	c := &w.chunks[i].chunk
	res, err := c.finish()
	return res, c, err
}

// Bytes is the size of what lies encoded so far, for callers that cut files by
// size.
func (w *Writer) Bytes() int64 { return w.file.off + w.held() }

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return w.total + int64(w.rows) }

// Close writes what is left and the footer. It does not close the io.Writer.
func (w *Writer) Close() (Result, error) {
	if w.err != nil {
		return Result{}, w.err
	}
	w.err = errors.New("writer is closed")
	if err := w.endGroup(); err != nil {
		return Result{}, err
	}
	if err := w.file.close(); err != nil {
		return Result{}, err
	}
	return Result{Rows: w.total, Bytes: w.file.off, Stats: fileStats(w.total, w.leaves, w.stats, false)}, nil
}
