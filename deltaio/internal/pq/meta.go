package pq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The thrift structures of parquet.thrift that this package reads and writes.
// They mirror parquet-go's package format, which cannot tell an absent optional
// field from a zero one: null_count absent and null_count 0 mean different
// things, and a rewrite must not turn one into the other.

type fileMeta struct {
	Version      int32                            `thrift:"1,required"`
	Schema       thrift.Slice[element]            `thrift:"2,required"`
	NumRows      int64                            `thrift:"3,required"`
	RowGroups    thrift.Slice[rowGroup]           `thrift:"4,required"`
	KeyValues    thrift.Slice[keyValue]           `thrift:"5,optional"`
	CreatedBy    thrift.Null[string]              `thrift:"6,optional"`
	ColumnOrders thrift.Slice[format.ColumnOrder] `thrift:"7,optional"`
	Encryption   thrift.Null[opaque]              `thrift:"8,optional"`
}

// opaque stands for a struct of which only the presence counts.
type opaque struct{}

type keyValue struct {
	Key   string              `thrift:"1,required"`
	Value thrift.Null[string] `thrift:"2,optional"`
}

type element struct {
	Type          thrift.Null[format.Type]                `thrift:"1,optional"`
	TypeLength    thrift.Null[int32]                      `thrift:"2,optional"`
	Repetition    thrift.Null[format.FieldRepetitionType] `thrift:"3,optional"`
	Name          string                                  `thrift:"4,required"`
	NumChildren   thrift.Null[int32]                      `thrift:"5,optional"`
	ConvertedType thrift.Null[deprecated.ConvertedType]   `thrift:"6,optional"`
	Scale         thrift.Null[int32]                      `thrift:"7,optional"`
	Precision     thrift.Null[int32]                      `thrift:"8,optional"`
	FieldID       thrift.Null[int32]                      `thrift:"9,optional"`
	Logical       format.LogicalType                      `thrift:"10,optional"`
}

type rowGroup struct {
	Columns             thrift.Slice[columnChunk]          `thrift:"1,required"`
	TotalByteSize       int64                              `thrift:"2,required"`
	NumRows             int64                              `thrift:"3,required"`
	SortingColumns      thrift.Slice[format.SortingColumn] `thrift:"4,optional"`
	FileOffset          thrift.Null[int64]                 `thrift:"5,optional"`
	TotalCompressedSize thrift.Null[int64]                 `thrift:"6,optional"`
	Ordinal             thrift.Null[int16]                 `thrift:"7,optional"`
}

type columnChunk struct {
	FilePath          thrift.Null[string]     `thrift:"1,optional"`
	FileOffset        int64                   `thrift:"2,required"`
	Meta              thrift.Null[columnMeta] `thrift:"3,optional"`
	OffsetIndexOffset thrift.Null[int64]      `thrift:"4,optional"`
	OffsetIndexLength thrift.Null[int32]      `thrift:"5,optional"`
	ColumnIndexOffset thrift.Null[int64]      `thrift:"6,optional"`
	ColumnIndexLength thrift.Null[int32]      `thrift:"7,optional"`
	Crypto            thrift.Null[opaque]     `thrift:"8,optional"`
	EncryptedMeta     thrift.Null[[]byte]     `thrift:"9,optional"`
}

type columnMeta struct {
	Type                  format.Type                            `thrift:"1,required"`
	Encodings             thrift.Slice[format.Encoding]          `thrift:"2,required"`
	Path                  thrift.Slice[string]                   `thrift:"3,required"`
	Codec                 format.CompressionCodec                `thrift:"4,required"`
	NumValues             int64                                  `thrift:"5,required"`
	TotalUncompressedSize int64                                  `thrift:"6,required"`
	TotalCompressedSize   int64                                  `thrift:"7,required"`
	DataPageOffset        int64                                  `thrift:"9,required"`
	DictionaryPageOffset  thrift.Null[int64]                     `thrift:"11,optional"`
	Statistics            thrift.Null[statistics]                `thrift:"12,optional"`
	EncodingStats         thrift.Slice[format.PageEncodingStats] `thrift:"13,optional"`
	BloomOffset           thrift.Null[int64]                     `thrift:"14,optional"`
	BloomLength           thrift.Null[int32]                     `thrift:"15,optional"`
	SizeStatistics        thrift.Null[sizeStatistics]            `thrift:"16,optional"`
}

type statistics struct {
	Max           thrift.Null[[]byte] `thrift:"1,optional"` // deprecated: signed order
	Min           thrift.Null[[]byte] `thrift:"2,optional"` // deprecated: signed order
	NullCount     thrift.Null[int64]  `thrift:"3,optional"`
	DistinctCount thrift.Null[int64]  `thrift:"4,optional"`
	MaxValue      thrift.Null[[]byte] `thrift:"5,optional"`
	MinValue      thrift.Null[[]byte] `thrift:"6,optional"`
	MaxExact      thrift.Null[bool]   `thrift:"7,optional"`
	MinExact      thrift.Null[bool]   `thrift:"8,optional"`
}

type sizeStatistics struct {
	UnencodedBytes thrift.Null[int64]  `thrift:"1,optional"`
	Repetition     thrift.Slice[int64] `thrift:"2,optional"`
	Definition     thrift.Slice[int64] `thrift:"3,optional"`
}

type pageHeader struct {
	Type             format.PageType               `thrift:"1,required"`
	UncompressedSize int32                         `thrift:"2,required"`
	CompressedSize   int32                         `thrift:"3,required"`
	CRC              thrift.Null[int32]            `thrift:"4,optional"`
	V1               thrift.Null[dataHeaderV1]     `thrift:"5,optional"`
	Dictionary       thrift.Null[dictionaryHeader] `thrift:"7,optional"`
	V2               thrift.Null[dataHeaderV2]     `thrift:"8,optional"`
}

type dataHeaderV1 struct {
	NumValues   int32           `thrift:"1,required"`
	Encoding    format.Encoding `thrift:"2,required"`
	DefEncoding format.Encoding `thrift:"3,required"`
	RepEncoding format.Encoding `thrift:"4,required"`
}

type dataHeaderV2 struct {
	NumValues    int32             `thrift:"1,required"`
	NumNulls     int32             `thrift:"2,required"`
	NumRows      int32             `thrift:"3,required"`
	Encoding     format.Encoding   `thrift:"4,required"`
	DefLength    int32             `thrift:"5,required"`
	RepLength    int32             `thrift:"6,required"`
	IsCompressed thrift.Null[bool] `thrift:"7,optional"`
}

type dictionaryHeader struct {
	NumValues int32           `thrift:"1,required"`
	Encoding  format.Encoding `thrift:"2,required"`
}

type bloomHeader struct {
	NumBytes int32 `thrift:"1,required"`
}

var compact thrift.CompactProtocol

// errShort: the bytes end before the structure does.
var errShort = errors.New("thrift structure is cut off")

// decodeThrift reads one structure from the start of b and gives its length.
// Strings and byte slices of v alias b.
func decodeThrift(b []byte, v any) (int, error) {
	n, err := skim(b)
	if err != nil {
		return 0, err
	}
	return n, thrift.NewDecoder(compact.NewReaderFromBytes(b[:n:n])).Decode(v)
}

// appendThrift encodes v.
func appendThrift(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	err := thrift.NewEncoder(compact.NewWriter(buf)).Encode(v)
	return buf.Bytes(), err
}

const maxThriftDepth = 24

// skim walks one compact-protocol structure without building it and gives its
// length. The decoder trusts list sizes when it allocates, so nothing reaches
// it that was not walked here.
func skim(b []byte) (int, error) {
	s := skimmer{b: b}
	if err := s.structure(0); err != nil {
		return 0, err
	}
	return s.pos, nil
}

type skimmer struct {
	b   []byte
	pos int
}

func (s *skimmer) structure(depth int) error {
	if depth > maxThriftDepth {
		return fmt.Errorf("thrift structure is nested deeper than %d", maxThriftDepth)
	}
	for {
		if s.pos >= len(s.b) {
			return errShort
		}
		h := s.b[s.pos]
		s.pos++
		if h == 0 {
			return nil
		}
		if h>>4 == 0 { // long form: the field id follows
			if _, err := s.uvarint(); err != nil {
				return err
			}
		}
		if t := h & 15; t == 1 || t == 2 { // a boolean lies in the type
			continue
		}
		if err := s.value(h&15, depth); err != nil {
			return err
		}
	}
}

func (s *skimmer) value(t byte, depth int) error {
	switch t {
	case 1, 2, 3:
		return s.skip(1)
	case 4, 5, 6:
		_, err := s.uvarint()
		return err
	case 7:
		return s.skip(8)
	case 8:
		n, err := s.uvarint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case 9, 10:
		return s.list(depth)
	case 11:
		return s.mapping(depth)
	case 12:
		return s.structure(depth + 1)
	case 13:
		return s.skip(16)
	}
	return fmt.Errorf("thrift type %d is not known", t)
}

func (s *skimmer) list(depth int) error {
	if s.pos >= len(s.b) {
		return errShort
	}
	h := s.b[s.pos]
	s.pos++
	n := uint64(h >> 4)
	if n == 15 {
		var err error
		if n, err = s.uvarint(); err != nil {
			return err
		}
	}
	return s.items(n, depth, h&15)
}

func (s *skimmer) mapping(depth int) error {
	n, err := s.uvarint()
	if err != nil || n == 0 {
		return err
	}
	if s.pos >= len(s.b) {
		return errShort
	}
	h := s.b[s.pos]
	s.pos++
	return s.items(n, depth, h>>4, h&15)
}

// items walks n items, each a value of every given type.
func (s *skimmer) items(n uint64, depth int, types ...byte) error {
	if n > uint64(len(s.b)-s.pos) { // an item takes a byte at least
		return errShort
	}
	if depth > maxThriftDepth {
		return fmt.Errorf("thrift structure is nested deeper than %d", maxThriftDepth)
	}
	for range n {
		for _, t := range types {
			if err := s.value(t, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *skimmer) skip(n uint64) error {
	if n > uint64(len(s.b)-s.pos) {
		return errShort
	}
	s.pos += int(n)
	return nil
}

func (s *skimmer) uvarint() (uint64, error) {
	v, n := binary.Uvarint(s.b[s.pos:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errors.New("thrift number is out of range")
	}
	s.pos += n
	return v, nil
}
