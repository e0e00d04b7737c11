package pq

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Created is the created_by of files of this package. Its version vouches for
// statistics: it rises when those of earlier ones turn out wrong (see trust.go).
const Created = "lakewarden version 2 (build 0)"

// fileWriter lays out one Parquet file: chunks as they come, the page index and
// the footer at the end.
type fileWriter struct {
	w      *bufio.Writer
	off    int64
	leaves []*outLeaf
	meta   fileMeta
	group  []*chunkResult   // of the row group being written
	done   [][]*chunkResult // of the row groups written, for the page index
	start  int64
}

func newFileWriter(w io.Writer, s *outSchema, created string, kv []keyValue) (*fileWriter, error) {
	if created == "" {
		created = Created
	}
	f := &fileWriter{w: bufio.NewWriterSize(w, 64<<10), leaves: s.leaves}
	f.meta = fileMeta{Version: 1, Schema: s.elements, RowGroups: thrift.Slice[rowGroup]{}, KeyValues: kv, CreatedBy: thrift.New(created)}
	for range s.leaves {
		f.meta.ColumnOrders = append(f.meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	return f, f.write([]byte(magic))
}

func (f *fileWriter) write(b []byte) error {
	n, err := f.w.Write(b)
	f.off += int64(n)
	return err
}

// startGroup begins a row group.
func (f *fileWriter) startGroup() { f.group, f.start = nil, f.off }

// add takes the next chunk of the row group, in the order of the leaves.
func (f *fileWriter) add(r *chunkResult) { f.group = append(f.group, r) }

// endGroup completes a row group; src is where bloom filters are copied from.
func (f *fileWriter) endGroup(rows int64, sorting []format.SortingColumn, src *source) error {
	if len(f.group) != len(f.leaves) {
		return fmt.Errorf("row group has %d column chunks of %d", len(f.group), len(f.leaves))
	}
	rg := rowGroup{NumRows: rows, SortingColumns: sorting, FileOffset: thrift.New(f.start)}
	packed := int64(0)
	for _, r := range f.group {
		rg.TotalByteSize += r.chunk.Meta.V.TotalUncompressedSize
		packed += r.chunk.Meta.V.TotalCompressedSize
		if r.bloom != nil {
			if err := f.copyBloom(r, src); err != nil {
				return err
			}
		}
	}
	rg.TotalCompressedSize = thrift.New(packed)
	if n := len(f.meta.RowGroups); n < 1<<15 { // the field has 16 bits
		rg.Ordinal = thrift.New(int16(n))
	}
	f.meta.RowGroups = append(f.meta.RowGroups, rg)
	f.meta.NumRows += rows
	f.done = append(f.done, f.group)
	return nil
}

func (f *fileWriter) copyBloom(r *chunkResult, src *source) error {
	b, err := src.readRange(r.bloom.off, r.bloom.size)
	if err != nil {
		return fmt.Errorf("bloom filter: %w", err)
	}
	r.chunk.Meta.V.BloomOffset = thrift.New(f.off)
	r.chunk.Meta.V.BloomLength = thrift.New(int32(len(b)))
	return f.write(b)
}

// close writes page index and footer.
func (f *fileWriter) close() error {
	for _, group := range f.done {
		for _, r := range group {
			if len(r.columnIndex) > 0 {
				r.chunk.ColumnIndexOffset, r.chunk.ColumnIndexLength = thrift.New(f.off), thrift.New(int32(len(r.columnIndex)))
				if err := f.write(r.columnIndex); err != nil {
					return err
				}
			}
		}
	}
	for g, group := range f.done {
		for _, r := range group {
			if len(r.offsetIndex) > 0 {
				r.chunk.OffsetIndexOffset, r.chunk.OffsetIndexLength = thrift.New(f.off), thrift.New(int32(len(r.offsetIndex)))
				if err := f.write(r.offsetIndex); err != nil {
					return err
				}
			}
			f.meta.RowGroups[g].Columns = append(f.meta.RowGroups[g].Columns, r.chunk)
		}
	}
	footer, err := appendThrift(nil, &f.meta)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	tail := append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...)
	if err := f.write(append(footer, tail...)); err != nil {
		return err
	}
	return f.w.Flush()
}
