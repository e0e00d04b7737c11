// Package footer decodes what Parquet files say about themselves: the file
// metadata at their end, the headers of their pages, and the schema tree. It
// reads Thrift's compact protocol directly instead of by reflection, for three
// reasons: nothing is allocated that the input does not justify, presence
// survives (a missing null count is not zero, a missing checksum is not zero),
// and fields newer than the decoder's libraries (exactness of bounds) are kept.
//
// It refuses encrypted files and schema trees that contradict themselves; it
// knows nothing of values.
//
// Invariants:
//  1. No input makes it panic, loop, or allocate more than a small multiple of
//     the input's length.
//  2. Byte slices and strings of the result alias the input or are copies of
//     it; the caller keeps the input unchanged.
package footer

import "errors"

var (
	// ErrCorrupt: the bytes are not what the Parquet format allows.
	ErrCorrupt = errors.New("corrupt Parquet file")
	// ErrUnsupported: the file uses a part of the format that is not read here.
	ErrUnsupported = errors.New("unsupported Parquet file")
)
