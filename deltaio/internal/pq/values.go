package pq

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// values are the non-null values of a page in one of three forms: codes of a
// dictionary, fixed-width values one after the other, or byte arrays in PLAIN
// form (each behind its length).
type values struct {
	n     int
	coded bool
	codes []uint32
	fixed []byte
	plain []byte
	offs  []uint32 // n+1 offsets into plain
	// enc is the encoding to write them in: the one they were read in, where it
	// is not a dictionary.
	enc format.Encoding
}

// each visits the values of a form that is not coded.
func (v *values) each(width int, visit func([]byte) error) error {
	if width > 0 {
		for b := v.fixed; len(b) >= width; b = b[width:] {
			if err := visit(b[:width]); err != nil {
				return err
			}
		}
		return nil
	}
	for b := v.plain; len(b) >= 4; {
		n := 4 + int(le32(b))
		if err := visit(b[4:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// dictionary holds the values that codes stand for.
type dictionary struct {
	n     int
	width int
	fixed []byte   // width > 0
	plain []byte   // width == 0, each value behind its length
	offs  []uint32 // n+1 offsets into plain
}

// entry is a value in its PLAIN form, the length of byte arrays included.
func (d *dictionary) entry(i int) []byte {
	if d.width > 0 {
		return d.fixed[i*d.width : (i+1)*d.width]
	}
	return d.plain[d.offs[i]:d.offs[i+1]]
}

// value is a value without the length.
func (d *dictionary) value(i int) []byte {
	if d.width > 0 {
		return d.fixed[i*d.width : (i+1)*d.width]
	}
	return d.plain[d.offs[i]+4 : d.offs[i+1]]
}

// add appends a value in its PLAIN form.
func (d *dictionary) add(entry []byte) {
	if d.width > 0 {
		d.fixed = append(d.fixed, entry...)
	} else {
		if len(d.offs) == 0 {
			d.offs = append(d.offs, 0)
		}
		d.plain = append(d.plain, entry...)
		d.offs = append(d.offs, uint32(len(d.plain)))
	}
	d.n++
}

// bytes are all entries in PLAIN form.
func (d *dictionary) bytes() []byte {
	if d.width > 0 {
		return d.fixed
	}
	return d.plain
}

func (d *dictionary) reset(width int) {
	d.n, d.width, d.fixed, d.plain, d.offs = 0, width, d.fixed[:0], d.plain[:0], d.offs[:0]
}

// readDictionary takes n PLAIN values of raw, which it keeps.
func readDictionary(raw []byte, width, n int) (*dictionary, error) {
	d := &dictionary{n: n, width: width}
	if width > 0 {
		if n > len(raw)/width {
			return nil, fmt.Errorf("dictionary of %d values: %w", n, io.ErrUnexpectedEOF)
		}
		d.fixed = raw[:n*width]
		return d, nil
	}
	if n > len(raw)/4 {
		return nil, fmt.Errorf("dictionary of %d values: %w", n, io.ErrUnexpectedEOF)
	}
	offs, err := plainOffsets(nil, raw, n)
	if err != nil {
		return nil, fmt.Errorf("dictionary of %d values: %w", n, err)
	}
	d.plain, d.offs = raw[:offs[n]], offs
	return d, nil
}

// plainOffsets finds where each of n byte arrays starts, and where the last ends.
func plainOffsets(offs []uint32, b []byte, n int) ([]uint32, error) {
	offs = append(grow(offs[:0], n+1), 0)
	pos := 0
	for range n {
		if len(b)-pos < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := int(binary.LittleEndian.Uint32(b[pos:]))
		if size > len(b)-pos-4 {
			return nil, io.ErrUnexpectedEOF
		}
		pos += 4 + size
		offs = append(offs, uint32(pos))
	}
	return offs, nil
}
