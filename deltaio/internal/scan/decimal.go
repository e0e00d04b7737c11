package scan

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// toDecimal reads every physical form of a decimal, and the integers that
// Delta widens to decimals. The scale may grow, never shrink; a value that has
// more digits than the wanted precision is an error, whatever precision the
// file claims.
func toDecimal(d schema.Decimal, n *footer.Node) (convert, error) {
	refused := fmt.Errorf("%w: the file has %s, which is not read as %s", ErrUnsupported, describe(n), d)
	scale, unsigned := 0, false
	if n.Logical.Kind == footer.KindDecimal {
		scale = int(n.Logical.Scale)
	} else {
		var ok bool
		if ok, unsigned = plainInteger(n); !ok {
			return nil, refused
		}
	}
	raise := d.Scale - scale
	if scale < 0 || raise < 0 || raise > d.Precision {
		return nil, refused
	}
	f := newFitter(d, raise)
	switch {
	case n.Type == footer.Int32 && unsigned:
		return intDecimals[uint32](f), nil
	case n.Type == footer.Int32:
		return intDecimals[int32](f), nil
	case n.Type == footer.Int64 && unsigned:
		return unsignedDecimals(f), nil
	case n.Type == footer.Int64:
		return intDecimals[int64](f), nil
	case n.Type == footer.FixedLenByteArray || n.Type == footer.ByteArray:
		return bigEndianDecimals(f), nil
	}
	return nil, refused
}

// bound is the largest unscaled value of p digits.
func bound(p int) (hi, lo uint64) {
	lo = 1
	for range p {
		h, l := bits.Mul64(lo, 10)
		hi, lo = hi*10+h, l
	}
	if lo == 0 {
		hi--
	}
	return hi, lo - 1
}

// fitter checks values before their scale is raised.
type fitter struct {
	d      schema.Decimal
	raise  int
	hi, lo uint64 // bound of the value before
}

func newFitter(d schema.Decimal, raise int) fitter {
	hi, lo := bound(d.Precision - raise)
	return fitter{d, raise, hi, lo}
}

// put writes the value at out, its scale raised.
func (f *fitter) put(out []uint64, hi int64, lo uint64) error {
	ahi, alo := uint64(hi), lo
	if hi < 0 {
		var borrow uint64
		alo, borrow = bits.Sub64(0, lo, 0)
		ahi, _ = bits.Sub64(0, uint64(hi), borrow)
	}
	if ahi > f.hi || ahi == f.hi && alo > f.lo {
		return fmt.Errorf("%w: a value has more than %d digits before its scale is raised by %d, too many for %s", ErrCorrupt, f.d.Precision-f.raise, f.raise, f.d)
	}
	if f.raise > 0 {
		v := decimal128.New(hi, lo).IncreaseScaleBy(int32(f.raise))
		hi, lo = v.HighBits(), v.LowBits()
	}
	out[0], out[1] = lo, uint64(hi)
	return nil
}

// intDecimals reads integers; most fit without any work.
func intDecimals[T int32 | int64 | uint32](f fitter) convert {
	top := int64(math.MaxInt64)
	if f.hi == 0 && f.lo < math.MaxInt64 {
		top = int64(f.lo)
	}
	if f.raise > 0 {
		top = 0
	}
	return func(src, dst *page.Vector) error {
		in := page.View[T](src.Data)
		out := page.View[uint64](grown(dst, len(in)))
		for i, v := range in {
			x := int64(v)
			if x <= top && x >= -top {
				out[2*i], out[2*i+1] = uint64(x), uint64(x>>63)
			} else if err := f.put(out[2*i:], x>>63, uint64(x)); err != nil {
				return err
			}
		}
		return nil
	}
}

func unsignedDecimals(f fitter) convert {
	return func(src, dst *page.Vector) error {
		in := page.View[uint64](src.Data)
		out := page.View[uint64](grown(dst, len(in)))
		for i, x := range in {
			if err := f.put(out[2*i:], 0, x); err != nil {
				return err
			}
		}
		return nil
	}
}

// bigEndianDecimals reads two's complement bytes, most significant first, of
// fixed or variable length.
func bigEndianDecimals(f fitter) convert {
	return func(src, dst *page.Vector) error {
		n := src.Len()
		out := page.View[uint64](grown(dst, n))
		for i := range n {
			var b []byte
			if src.Width > 0 {
				b = src.Data[i*src.Width : (i+1)*src.Width]
			} else {
				b = src.Data[src.Offsets[i]:src.Offsets[i+1]]
			}
			hi, lo, err := bigEndian(b)
			if err != nil {
				return err
			}
			if err := f.put(out[2*i:], hi, lo); err != nil {
				return err
			}
		}
		return nil
	}
}

// bigEndian reads a number of any length that fits 128 bits.
func bigEndian(b []byte) (hi int64, lo uint64, err error) {
	if len(b) == 0 {
		return 0, 0, fmt.Errorf("%w: a decimal without bytes", ErrCorrupt)
	}
	sign := byte(int8(b[0]) >> 7) // 0x00 or 0xff
	for len(b) > 16 {
		if b[0] != sign {
			return 0, 0, fmt.Errorf("%w: a decimal of more than 128 bits", ErrCorrupt)
		}
		b = b[1:]
	}
	if byte(int8(b[0])>>7) != sign && len(b) == 16 {
		return 0, 0, fmt.Errorf("%w: a decimal of more than 128 bits", ErrCorrupt)
	}
	h := uint64(int64(int8(sign)))
	l := h
	for _, c := range b {
		h = h<<8 | l>>56
		l = l<<8 | uint64(c)
	}
	return int64(h), l, nil
}
