package footer

import "fmt"

// Type is a Parquet physical type.
type Type int32

// The physical types.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var typeNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (t Type) String() string {
	if t >= 0 && int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", int32(t))
}

// Repetition says how often a field occurs in its parent.
type Repetition int32

// The repetitions.
const (
	Required Repetition = iota
	Optional
	Repeated
)

// Codec is a compression codec by its number in the format.
type Codec int32

// The codecs.
const (
	Uncompressed Codec = iota
	Snappy
	Gzip
	LZO
	Brotli
	LZ4 // the deprecated Hadoop framing
	Zstd
	LZ4Raw
)

// Encoding is an encoding of values or levels by its number in the format.
type Encoding int32

// The encodings.
const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2
	RLE                  Encoding = 3
	BitPacked            Encoding = 4
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
)

// Kind is what a column's annotation makes of its physical type.
type Kind int

// The kinds. KindNone is a column without annotation; KindOther has one that
// is not interpreted here.
const (
	KindNone Kind = iota
	KindString
	KindMap
	KindList
	KindEnum
	KindDecimal
	KindDate
	KindTime
	KindTimestamp
	KindInt
	KindUnknown // always null
	KindJSON
	KindBSON
	KindUUID
	KindFloat16
	KindVariant
	KindOther
)

// Unit is the unit of a timestamp.
type Unit int

// The units.
const (
	Millis Unit = iota
	Micros
	Nanos
)

// Logical is a column's annotation, from the logical type or, in older files,
// the converted type.
type Logical struct {
	Kind Kind
	// Scale and Precision are of a decimal.
	Scale, Precision int32
	// Unit and UTC (adjusted to UTC) are of a timestamp. UTC is true for the
	// converted types, which knew no other.
	Unit Unit
	UTC  bool
	// Bits and Signed are of an integer.
	Bits   int8
	Signed bool
}

// Element is one entry of the flattened schema.
type Element struct {
	Name        string
	Type        Type
	HasType     bool
	TypeLength  int32
	Repetition  Repetition
	NumChildren int32
	Logical     Logical
	FieldID     int32
	HasFieldID  bool
}

// Statistics of a column chunk; nil slices are absent bounds.
type Statistics struct {
	Min, Max           []byte // deprecated: ordered as the writer liked
	MinValue, MaxValue []byte
	NullCount          int64
	HasNullCount       bool
	// MinExact and MaxExact: absent (false, with Has… false) in older files.
	MinExact, HasMinExact bool
	MaxExact, HasMaxExact bool
}

// Chunk describes a column chunk.
type Chunk struct {
	Type             Type
	Path             []string
	Codec            Codec
	NumValues        int64
	UncompressedSize int64
	CompressedSize   int64
	DataPageOffset   int64
	DictPageOffset   int64 // 0: none stated
	Stats            *Statistics
	Encodings        []Encoding
	foreignFile      bool
	encrypted        bool
	hasMeta          bool
}

// RowGroup describes a row group.
type RowGroup struct {
	Chunks  []Chunk
	NumRows int64
}

// Meta is the file metadata.
type Meta struct {
	Elements  []Element
	NumRows   int64
	RowGroups []RowGroup
	KeyValue  map[string]string
	CreatedBy string
	// TypeOrdered has one entry a leaf column: whether its bounds follow the
	// order of the type. Empty in files that state no orders.
	TypeOrdered []bool
	encrypted   bool
}
