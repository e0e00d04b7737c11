package pq

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const magic = "PAR1"

// maxFooter bounds what is read as a footer.
const maxFooter = 256 << 20

// source is an open Parquet file whose footer was read and checked.
type source struct {
	r       storage.Reader
	key     string
	dataEnd int64 // where the footer begins
	meta    fileMeta
	root    *node
	leaves  []*leaf
	writer  writerID
}

// openSource reads the footer and checks that schema, row groups and chunks
// agree with each other.
func openSource(r storage.Reader) (s *source, err error) {
	info := r.Info()
	defer recoverAs(&err)
	s = &source{r: r, key: info.Key}
	footer, err := readFooter(r, info.Size)
	if err != nil {
		return nil, err
	}
	s.dataEnd = info.Size - 8 - int64(len(footer))
	if n, err := decodeThrift(footer, &s.meta); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	} else if n != len(footer) {
		return nil, fmt.Errorf("footer: %d bytes beyond its end", len(footer)-n)
	}
	if s.meta.Encryption.Valid {
		return nil, fmt.Errorf("file is encrypted: encrypted Parquet files are not supported")
	}
	if s.root, err = buildTree(s.meta.Schema); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	s.leaves = s.root.leaves()
	for i, l := range s.leaves {
		if i < len(s.meta.ColumnOrders) {
			_, l.ordered = s.meta.ColumnOrders[i].Value.(*format.TypeDefinedOrder)
		}
	}
	s.writer = parseWriter(s.meta.CreatedBy.V)
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	return s, nil
}

func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	if size < 12 {
		return nil, fmt.Errorf("not a Parquet file: %d bytes", size)
	}
	var tail [8]byte
	if _, err := r.ReadAt(tail[:], size-8); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read footer: %w", err)
	}
	switch string(tail[4:]) {
	case magic:
	case "PARE":
		return nil, fmt.Errorf("file is encrypted: encrypted Parquet files are not supported")
	default:
		return nil, fmt.Errorf("not a Parquet file: it ends in %q", tail[4:])
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n == 0 || n > size-12 || n > maxFooter {
		return nil, fmt.Errorf("footer length %d is out of range in a file of %d bytes", n, size)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read footer: %w", err)
	}
	return footer, nil
}

func (s *source) check() error {
	var rows int64
	for g := range s.meta.RowGroups {
		rg := &s.meta.RowGroups[g]
		if rg.NumRows < 0 || rg.NumRows > 1<<31 {
			return fmt.Errorf("row group %d claims %d rows", g, rg.NumRows)
		}
		rows += rg.NumRows
		if len(rg.Columns) != len(s.leaves) {
			return fmt.Errorf("row group %d has %d column chunks, the schema %d columns", g, len(rg.Columns), len(s.leaves))
		}
		for i, l := range s.leaves {
			if err := s.checkChunk(&rg.Columns[i], l, rg.NumRows); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", g, l.name(), err)
			}
		}
	}
	if rows != s.meta.NumRows {
		return fmt.Errorf("row groups hold %d rows, the file %d", rows, s.meta.NumRows)
	}
	return nil
}

func (s *source) checkChunk(c *columnChunk, l *leaf, rows int64) error {
	m := &c.Meta.V
	switch {
	case c.Crypto.Valid || c.EncryptedMeta.Valid:
		return fmt.Errorf("column is encrypted: encrypted Parquet files are not supported")
	case c.FilePath.V != "":
		return fmt.Errorf("column lies in another file, %q: not supported", c.FilePath.V)
	case !c.Meta.Valid:
		return fmt.Errorf("no metadata")
	case m.Type != l.typ:
		return fmt.Errorf("chunk is %s, the schema says %s", m.Type, l.typ)
	case !slices.Equal([]string(m.Path), l.path):
		return fmt.Errorf("chunk belongs to column %q", []string(m.Path))
	case m.NumValues < 0 || m.NumValues > 1<<40 || l.maxRep == 0 && m.NumValues != rows:
		return fmt.Errorf("chunk claims %d values for %d rows", m.NumValues, rows)
	}
	if off := chunkStart(m); m.NumValues > 0 && (off < int64(len(magic)) || off >= s.dataEnd) {
		return fmt.Errorf("chunk starts at %d, outside of the data", off)
	}
	return nil
}

// chunkStart is the offset of a chunk's first page. Writers that leave the
// dictionary offset out, or zero, put the dictionary at the data page offset.
func chunkStart(m *columnMeta) int64 {
	if d, ok := m.DictionaryPageOffset.Get(); ok && d >= int64(len(magic)) && d < m.DataPageOffset {
		return d
	}
	return m.DataPageOffset
}

// readRange reads a range that a header names, checked against the data's end.
func (s *source) readRange(off, n int64) ([]byte, error) {
	if off < int64(len(magic)) || n < 0 || off > s.dataEnd || n > s.dataEnd-off {
		return nil, fmt.Errorf("range %d+%d lies outside of the data", off, n)
	}
	b := make([]byte, n)
	if _, err := s.r.ReadAt(b, off); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// recoverAs turns a panic of a codec into an error. The codecs that panic on
// corrupt bytes are foreign; nothing of their state outlives the call.
func recoverAs(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("corrupt data: %v", p)
	}
}
