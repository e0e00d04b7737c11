package pq

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// bounds gather the least and greatest of the values added. NaN is no value of
// the order: it is remembered instead, since with a NaN around no bound may be
// told (readers disagree on where NaN sorts).
type bounds struct {
	order  order
	has    bool
	nan    bool
	i0, i1 int64   // orderBool, orderInt32, orderInt64
	f0, f1 float64 // orderFloat, orderDouble
	b0, b1 []byte  // orderBytes, orderDecimal
	p0, p1 uint64  // the first eight bytes of b0 and b1
}

func (b *bounds) reset() { b.has, b.nan = false, false }

// addFixed adds values of a fixed width, one after the other.
func (b *bounds) addFixed(vals []byte, width int) {
	if len(vals) == 0 {
		return
	}
	switch b.order {
	case orderBool:
		for i := range vals {
			b.addInt(int64(vals[i]))
		}
	case orderInt32:
		b.addInts(minMax32(vals))
	case orderInt64:
		b.addInts(minMax64(vals))
	case orderFloat, orderDouble:
		for ; len(vals) > 0; vals = vals[width:] {
			b.addFloat(b.order.float(vals))
		}
	case orderBytes, orderDecimal:
		for ; len(vals) > 0; vals = vals[width:] {
			b.addBytes(vals[:width])
		}
	}
}

func minMax32(vals []byte) (int64, int64) {
	lo := int32(binary.LittleEndian.Uint32(vals))
	hi := lo
	for ; len(vals) >= 4; vals = vals[4:] {
		v := int32(binary.LittleEndian.Uint32(vals))
		lo, hi = min(lo, v), max(hi, v)
	}
	return int64(lo), int64(hi)
}

func minMax64(vals []byte) (int64, int64) {
	lo := int64(binary.LittleEndian.Uint64(vals))
	hi := lo
	for ; len(vals) >= 8; vals = vals[8:] {
		v := int64(binary.LittleEndian.Uint64(vals))
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// addPlain adds byte arrays in their PLAIN form.
func (b *bounds) addPlain(vals []byte) {
	if b.order != orderBytes && b.order != orderDecimal {
		return
	}
	for len(vals) >= 4 {
		n := 4 + int(binary.LittleEndian.Uint32(vals))
		b.addBytes(vals[4:n])
		vals = vals[n:]
	}
}

// addCodes adds the entries of a dictionary whose bits are set in used.
func (b *bounds) addCodes(d *dictionary, used []uint64) {
	if b.order == orderNone {
		return
	}
	for w, word := range used {
		for ; word != 0; word &= word - 1 {
			v := d.value(w<<6 + bits.TrailingZeros64(word))
			switch b.order {
			case orderBool, orderInt32, orderInt64:
				b.addInt(b.order.int(v))
			case orderFloat, orderDouble:
				b.addFloat(b.order.float(v))
			default:
				b.addBytes(v)
			}
		}
	}
}

func (b *bounds) addInt(v int64) { b.addInts(v, v) }

func (b *bounds) addInts(lo, hi int64) {
	if !b.has {
		b.i0, b.i1, b.has = lo, hi, true
		return
	}
	b.i0, b.i1 = min(b.i0, lo), max(b.i1, hi)
}

func (b *bounds) addFloat(v float64) {
	switch {
	case v != v:
		b.nan = true
	case !b.has:
		b.f0, b.f1, b.has = v, v, true
	case v < b.f0:
		b.f0 = v
	case v > b.f1:
		b.f1 = v
	}
}

func prefix(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var p [8]byte
	copy(p[:], v)
	return binary.BigEndian.Uint64(p[:])
}

func (b *bounds) addBytes(v []byte) {
	if !b.has {
		b.setLow(v)
		b.setHigh(v)
		b.has = true
		return
	}
	if b.order == orderDecimal {
		if compareDecimal(v, b.b0) < 0 {
			b.setLow(v)
		}
		if compareDecimal(v, b.b1) > 0 {
			b.setHigh(v)
		}
		return
	}
	p := prefix(v)
	if p < b.p0 || p == b.p0 && bytes.Compare(v, b.b0) < 0 {
		b.setLow(v)
	}
	if p > b.p1 || p == b.p1 && bytes.Compare(v, b.b1) > 0 {
		b.setHigh(v)
	}
}

func (b *bounds) setLow(v []byte)  { b.b0, b.p0 = append(b.b0[:0], v...), prefix(v) }
func (b *bounds) setHigh(v []byte) { b.b1, b.p1 = append(b.b1[:0], v...), prefix(v) }

// merge adds what o gathered under the same order.
func (b *bounds) merge(o *bounds) {
	b.nan = b.nan || o.nan
	if !o.has {
		return
	}
	switch b.order {
	case orderBool, orderInt32, orderInt64:
		b.addInts(o.i0, o.i1)
	case orderFloat, orderDouble:
		b.addFloat(o.f0)
		b.addFloat(o.f1)
	case orderBytes, orderDecimal:
		b.addBytes(o.b0)
		b.addBytes(o.b1)
	}
}

// addBounds adds believed bounds of a footer, PLAIN encoded.
func (b *bounds) addBounds(lo, hi []byte) {
	switch b.order {
	case orderBool, orderInt32, orderInt64:
		b.addInts(b.order.int(lo), b.order.int(hi))
	case orderFloat, orderDouble:
		b.addFloat(b.order.float(lo))
		b.addFloat(b.order.float(hi))
	case orderBytes, orderDecimal:
		b.addBytes(lo)
		b.addBytes(hi)
	}
}

// plain gives the bounds as PLAIN values; ok is false when there are none that
// may be told.
func (b *bounds) plain() (lo, hi []byte, ok bool) {
	if !b.has || b.nan || b.order == orderNone {
		return nil, nil, false
	}
	switch b.order {
	case orderBool, orderInt32, orderInt64:
		return b.order.putInt(b.i0), b.order.putInt(b.i1), true
	case orderFloat, orderDouble:
		lo, hi = widenZeros(b.order, b.order.putFloat(b.f0), b.order.putFloat(b.f1))
		return lo, hi, true
	}
	return bytes.Clone(b.b0), bytes.Clone(b.b1), true
}

// cutLow shortens a lower bound to about n bytes: a prefix sorts no later.
func cutLow(v []byte, n int) []byte {
	if len(v) <= n {
		return v
	}
	return v[:runeCut(v, n)]
}

// cutHigh shortens an upper bound to about n bytes and raises it, so that it
// stays one; ok is false when that is impossible.
func cutHigh(v []byte, n int) (_ []byte, ok bool) {
	if len(v) <= n {
		return v, true
	}
	v = v[:runeCut(v, n)]
	if utf8.Valid(v) {
		return raiseText(v)
	}
	v = bytes.Clone(v)
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] != 0xFF {
			v[i]++
			return v[:i+1], true
		}
	}
	return nil, false
}

// runeCut is the greatest cut at n or before that splits no UTF-8 sequence.
func runeCut(v []byte, n int) int {
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(v[i]) {
			return i
		}
	}
	return n
}

// raiseText gives the least text, of no more code points, that sorts after
// every text which starts with v.
func raiseText(v []byte) ([]byte, bool) {
	for len(v) > 0 {
		r, size := utf8.DecodeLastRune(v)
		v = v[:len(v)-size]
		switch {
		case r >= utf8.MaxRune:
			continue
		case r == 0xD7FF: // the surrogates are no code points of UTF-8
			r = 0xE000
		default:
			r++
		}
		return utf8.AppendRune(bytes.Clone(v), r), true
	}
	return nil, false
}
