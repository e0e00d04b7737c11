package pq

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// The encodings beyond PLAIN and dictionaries. They are decoded here, bounded
// by the number of values that the page promises, and encoded by parquet-go.

// decodeOther decodes into the page's values.
func (d *pageDecoder) decodeOther(b []byte, enc format.Encoding) error {
	v, l := &d.page.vals, d.leaf
	var err error
	switch {
	case enc == format.RLE && l.typ == format.Boolean:
		if len(b) < 4 || int64(le32(b)) > int64(len(b)-4) {
			if v.n == 0 {
				return nil
			}
			return io.ErrUnexpectedEOF
		}
		d.out, err = decodeHybrid(d.out[:0], b[4:4+int(le32(b))], 1, v.n)
		v.fixed = d.out
	case enc == format.DeltaBinaryPacked && (l.typ == format.Int32 || l.typ == format.Int64):
		if d.ints, _, err = unpackDeltas(d.ints[:0], b, v.n); err != nil {
			return err
		}
		d.out = appendInts(d.out[:0], d.ints, l.width)
		v.fixed = d.out
	case enc == format.DeltaLengthByteArray && l.typ == format.ByteArray:
		return d.deltaLengths(b)
	case enc == format.DeltaByteArray && (l.typ == format.ByteArray || l.typ == format.FixedLenByteArray):
		return d.deltaStrings(b)
	case enc == format.ByteStreamSplit && l.width > 0 && l.typ != format.Boolean && l.typ != format.Int96:
		if len(b) != v.n*l.width {
			return fmt.Errorf("%d bytes for %d values", len(b), v.n)
		}
		d.out = joinStreams(d.out[:0], b, l.width)
		v.fixed = d.out
	default:
		return fmt.Errorf("not supported for %s", l.typ)
	}
	return err
}

func appendInts(dst []byte, ints []int64, width int) []byte {
	dst = grow(dst, len(ints)*width)
	for _, x := range ints {
		if width == 4 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	}
	return dst
}

func joinStreams(dst, src []byte, width int) []byte {
	n := len(src) / width
	dst = grow(dst, len(src))[:len(src)]
	for k := range width {
		for i, x := range src[k*n : (k+1)*n] {
			dst[i*width+k] = x
		}
	}
	return dst
}

// unpackDeltas appends n numbers of a DELTA_BINARY_PACKED block sequence and
// gives the bytes it took.
func unpackDeltas(dst []int64, src []byte, n int) ([]int64, int, error) {
	r := varints{b: src}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	value := r.varint()
	if r.bad {
		return dst, 0, io.ErrUnexpectedEOF
	}
	if total != uint64(n) {
		return dst, 0, fmt.Errorf("%d numbers where the page has %d", total, n)
	}
	if minis == 0 || block == 0 || block > 1<<20 || block%minis != 0 || block/minis%8 != 0 {
		return dst, 0, fmt.Errorf("blocks of %d in %d parts are malformed", block, minis)
	}
	if n == 0 {
		return dst, r.pos, nil
	}
	dst = append(grow(dst, n), value)
	per := int(block / minis)
	for left := n - 1; left > 0; {
		least := r.varint()
		widths := r.take(int(minis))
		if r.bad {
			return dst, 0, io.ErrUnexpectedEOF
		}
		for _, w := range widths {
			if left == 0 {
				break
			}
			if w > 64 {
				return dst, 0, fmt.Errorf("bit width %d is out of range", w)
			}
			k := min(per, left)
			bytes := r.takeUpTo(per * int(w) / 8)
			if len(bytes)*8 < k*int(w) {
				return dst, 0, io.ErrUnexpectedEOF
			}
			for i := range k {
				value += least + int64(bitsAt(bytes, i*int(w), int(w)))
				dst = append(dst, value)
			}
			left -= k
		}
	}
	return dst, r.pos, nil
}

// bitsAt reads up to 64 bits from a bit offset, least significant first.
func bitsAt(b []byte, bit, width int) uint64 {
	if width == 0 {
		return 0
	}
	var w [9]byte
	copy(w[:], b[bit>>3:])
	shift := bit & 7
	v := binary.LittleEndian.Uint64(w[:]) >> shift
	if shift > 0 {
		v |= uint64(w[8]) << (64 - shift)
	}
	return v & (^uint64(0) >> (64 - width))
}

// varints reads numbers off a slice; bad is set when it ends too early.
type varints struct {
	b   []byte
	pos int
	bad bool
}

func (r *varints) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.pos += n
	return v
}

func (r *varints) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *varints) take(n int) []byte {
	if n > len(r.b)-r.pos {
		r.bad = true
		return nil
	}
	r.pos += n
	return r.b[r.pos-n : r.pos]
}

// takeUpTo takes n bytes or what is left: the last part may be cut short.
func (r *varints) takeUpTo(n int) []byte { return r.take(min(n, len(r.b)-r.pos)) }

// deltaLengths decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
func (d *pageDecoder) deltaLengths(b []byte) error {
	v := &d.page.vals
	var used int
	var err error
	if d.ints, used, err = unpackDeltas(d.ints[:0], b, v.n); err != nil {
		return err
	}
	b = b[used:]
	d.out, d.offs = d.out[:0], append(d.offs[:0], 0)
	for _, size := range d.ints {
		if size < 0 || size > int64(len(b)) {
			return fmt.Errorf("length %d: %w", size, io.ErrUnexpectedEOF)
		}
		d.appendString(b[:size])
		b = b[size:]
	}
	v.plain, v.offs = d.out, d.offs
	return nil
}

func (d *pageDecoder) appendString(parts ...[]byte) {
	at := len(d.out)
	d.out = append(d.out, 0, 0, 0, 0)
	for _, p := range parts {
		d.out = append(d.out, p...)
	}
	binary.LittleEndian.PutUint32(d.out[at:], uint32(len(d.out)-at-4))
	d.offs = append(d.offs, uint32(len(d.out)))
}

// deltaStrings decodes DELTA_BYTE_ARRAY: shared prefix lengths, suffix lengths,
// suffixes.
func (d *pageDecoder) deltaStrings(b []byte) error {
	v := &d.page.vals
	prefixes, used, err := unpackDeltas(d.ints2[:0], b, v.n)
	if err != nil {
		return err
	}
	d.ints2, b = prefixes, b[used:]
	if d.ints, used, err = unpackDeltas(d.ints[:0], b, v.n); err != nil {
		return err
	}
	b = b[used:]
	d.out, d.offs = d.out[:0], append(d.offs[:0], 0)
	var last []byte
	for i, size := range d.ints {
		if size < 0 || size > int64(len(b)) || prefixes[i] < 0 || prefixes[i] > int64(len(last)) {
			return fmt.Errorf("lengths %d and %d: %w", prefixes[i], size, io.ErrUnexpectedEOF)
		}
		if int64(len(d.out))+4+prefixes[i]+size > maxPage {
			return fmt.Errorf("page is larger than %d bytes", maxPage)
		}
		d.appendString(last[:prefixes[i]], b[:size])
		b = b[size:]
		last = d.out[d.offs[i]+4:]
	}
	if d.leaf.width == 0 {
		v.plain, v.offs = d.out, d.offs
		return nil
	}
	return d.fixStrings()
}

// fixStrings takes the lengths off again, for FIXED_LEN_BYTE_ARRAY.
func (d *pageDecoder) fixStrings() error {
	v, w := &d.page.vals, d.leaf.width
	fixed := make([]byte, 0, v.n*w)
	for i := range v.n {
		x := d.out[d.offs[i]+4 : d.offs[i+1]]
		if len(x) != w {
			return fmt.Errorf("value of %d bytes in a column of %d", len(x), w)
		}
		fixed = append(fixed, x...)
	}
	v.fixed = fixed
	return nil
}

// encodeOther appends values in one of the encodings that decodeOther reads.
func encodeOther(dst []byte, enc format.Encoding, t format.Type, width int, vals []byte) ([]byte, error) {
	var out []byte
	var err error
	switch enc {
	case format.DeltaBinaryPacked:
		var e delta.BinaryPackedEncoding
		if t == format.Int32 {
			out, err = e.EncodeInt32(nil, toInts[int32](vals, 4))
		} else {
			out, err = e.EncodeInt64(nil, toInts[int64](vals, 8))
		}
	case format.DeltaLengthByteArray:
		var e delta.LengthByteArrayEncoding
		data, offs := splitPlain(vals)
		out, err = e.EncodeByteArray(nil, data, offs)
	case format.DeltaByteArray:
		var e delta.ByteArrayEncoding
		if width > 0 {
			out, err = e.EncodeFixedLenByteArray(nil, vals, width)
		} else {
			data, offs := splitPlain(vals)
			out, err = e.EncodeByteArray(nil, data, offs)
		}
	case format.ByteStreamSplit:
		var e bytestreamsplit.Encoding
		out, err = e.EncodeFixedLenByteArray(nil, vals, width)
	default:
		err = fmt.Errorf("encoding %s cannot be written", enc)
	}
	return append(dst, out...), err
}

func toInts[T int32 | int64](b []byte, width int) []T {
	out := make([]T, 0, len(b)/width)
	for ; len(b) >= width; b = b[width:] {
		if width == 4 {
			out = append(out, T(int32(le32(b))))
		} else {
			out = append(out, T(int64(le64(b))))
		}
	}
	return out
}

// splitPlain separates PLAIN byte arrays into bytes and n+1 offsets.
func splitPlain(b []byte) (data []byte, offs []uint32) {
	data, offs = make([]byte, 0, len(b)), []uint32{0}
	for len(b) >= 4 {
		n := 4 + int(le32(b))
		data = append(data, b[4:n]...)
		offs = append(offs, uint32(len(data)))
		b = b[n:]
	}
	return data, offs
}
