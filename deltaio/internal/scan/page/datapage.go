package page

import (
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

// unpack decompresses src to size bytes of memory that the next page reuses.
func (r *Reader) unpack(src []byte, size int) ([]byte, error) {
	if r.chunk.Codec == footer.Uncompressed {
		if len(src) != size {
			return nil, corrupt("%d bytes uncompressed, its header says %d", len(src), size)
		}
		return src, nil
	}
	if cap(r.data) < size {
		if err := plausible(r.chunk.Codec, src, size); err != nil {
			return nil, err
		}
		r.data = make([]byte, size)
	}
	dst := r.data[:size]
	return dst, decompress(r.chunk.Codec, dst, src)
}

func (r *Reader) enterDictionary(h *footer.Header, body []byte) error {
	if r.dict != nil || r.seen > 0 {
		return corrupt("a second dictionary")
	}
	if h.Encoding != footer.Plain && h.Encoding != footer.PlainDictionary {
		return fmt.Errorf("%w: a dictionary in encoding %d", footer.ErrUnsupported, h.Encoding)
	}
	if r.leaf.Type == footer.Boolean || h.NumValues < 0 {
		return corrupt("a dictionary of %d values of %s", h.NumValues, r.leaf.Type)
	}
	b, err := r.unpack(body, int(h.UncompressedSize))
	if err != nil {
		return err
	}
	d := &dictionary{}
	if err := d.load(b, int(h.NumValues), r.width); err != nil {
		return err
	}
	r.dict = d
	return nil
}

// enter starts a data page of n entries.
func (r *Reader) enter(n int32) error {
	if n < 0 || int64(n) > r.chunk.NumValues-r.seen {
		return corrupt("%d values, %d are left in the chunk", n, r.chunk.NumValues-r.seen)
	}
	r.left = int(n)
	r.seen += int64(n)
	return nil
}

func (r *Reader) enterV1(h *footer.Header, body []byte) error {
	b, err := r.unpack(body, int(h.UncompressedSize))
	if err != nil {
		return err
	}
	if err := r.enter(h.NumValues); err != nil {
		return err
	}
	if r.leaf.MaxRep > 0 {
		if b, err = r.levelsV1(&r.rep, b, h.RepEncoding, r.leaf.MaxRep); err != nil {
			return err
		}
	}
	if r.leaf.MaxDef > 0 {
		if b, err = r.levelsV1(&r.def, b, h.DefEncoding, r.leaf.MaxDef); err != nil {
			return err
		}
	}
	return r.enterValues(h.Encoding, b)
}

func (r *Reader) levelsV1(into *hybrid, b []byte, e footer.Encoding, limit int) (rest []byte, err error) {
	width := bitsFor(limit)
	switch e {
	case footer.RLE:
		section, rest, err := prefixed(b)
		into.reset(section, width)
		return rest, err
	case footer.BitPacked:
		// Deprecated: no length, most significant bit first.
		size := (r.left*int(width) + 7) / 8
		if size > len(b) {
			return nil, corrupt("levels of %d bytes exceed the page", size)
		}
		into.resetBigEndian(b[:size], width, r.left)
		return b[size:], nil
	}
	return nil, fmt.Errorf("%w: levels in encoding %d", footer.ErrUnsupported, e)
}

func (r *Reader) enterV2(h *footer.Header, body []byte) error {
	if h.RepLength < 0 || h.DefLength < 0 || int64(h.RepLength)+int64(h.DefLength) > int64(len(body)) ||
		int64(h.RepLength)+int64(h.DefLength) > int64(h.UncompressedSize) {
		return corrupt("levels of %d and %d bytes exceed the page", h.RepLength, h.DefLength)
	}
	if err := r.enter(h.NumValues); err != nil {
		return err
	}
	rep, def, values := body[:h.RepLength], body[h.RepLength:h.RepLength+h.DefLength], body[h.RepLength+h.DefLength:]
	r.rep.reset(rep, bitsFor(r.leaf.MaxRep))
	r.def.reset(def, bitsFor(r.leaf.MaxDef))
	size := int(h.UncompressedSize - h.RepLength - h.DefLength)
	if h.Compressed {
		var err error
		if values, err = r.unpack(values, size); err != nil {
			return err
		}
	} else if len(values) != size {
		return corrupt("%d bytes of values, its header says %d", len(values), size)
	}
	return r.enterValues(h.Encoding, values)
}

// bitsFor is the bit width of levels up to limit.
func bitsFor(limit int) uint {
	w := uint(0)
	for limit>>w > 0 {
		w++
	}
	return w
}

func (r *Reader) enterValues(e footer.Encoding, b []byte) error {
	if r.SkipValues {
		return nil
	}
	// A page whose values are all null may hold no bytes at all, in any encoding.
	if len(b) == 0 && r.leaf.MaxDef > 0 {
		r.values = noValues{}
		return nil
	}
	// A flipped bit makes plain values of any others: page headers have no
	// checksum, but the footer lists the encodings. Writers are careless with
	// the old ones only.
	if e >= footer.DeltaBinaryPacked && e != footer.RLEDictionary && len(r.chunk.Encodings) > 0 && !slices.Contains(r.chunk.Encodings, e) {
		return corrupt("encoding %d, which the footer does not list", e)
	}
	v, err := r.decoder(e, b)
	r.values = v
	return err
}

// decoder picks the decoder of an encoding for the column's type.
func (r *Reader) decoder(e footer.Encoding, b []byte) (decoder, error) {
	d := &r.kept
	t := r.leaf.Type
	switch {
	case e == footer.Plain && t == footer.Boolean:
		d.plainBool = plainBool{b: b}
		return &d.plainBool, nil
	case e == footer.Plain && t == footer.ByteArray:
		d.plainVar.b = b
		return &d.plainVar, nil
	case e == footer.Plain:
		d.plainFixed = plainFixed{b, r.width}
		return &d.plainFixed, nil
	case e == footer.PlainDictionary || e == footer.RLEDictionary:
		if r.dict == nil {
			return nil, corrupt("dictionary indices without a dictionary")
		}
		if d.dictValues == nil {
			d.dictValues = &dictValues{}
		}
		return d.dictValues, d.dictValues.reset(b, r.dict)
	case e == footer.RLE && t == footer.Boolean:
		return &d.rleBool, d.rleBool.reset(b)
	case e == footer.DeltaBinaryPacked && (t == footer.Int32 || t == footer.Int64):
		if d.deltaValues == nil {
			d.deltaValues = &deltaValues{}
		}
		return d.deltaValues, d.deltaValues.ints.reset(b, r.left)
	case e == footer.DeltaLengthByteArray && t == footer.ByteArray:
		return &d.deltaLength, d.deltaLength.reset(b, r.left)
	case e == footer.DeltaByteArray && (t == footer.ByteArray || t == footer.FixedLenByteArray):
		return &d.deltaBytes, d.deltaBytes.reset(b, r.left)
	case e == footer.ByteStreamSplit && r.width >= 2 && t != footer.Int96:
		return &d.streamSplit, d.streamSplit.reset(b, r.width)
	}
	return nil, fmt.Errorf("%w: values of %s in encoding %d", footer.ErrUnsupported, t, e)
}

// noValues is the decoder of a page without values.
type noValues struct{}

func (noValues) read(_ *Vector, n int) error {
	if n > 0 {
		return corrupt("a page without values, %d needed", n)
	}
	return nil
}

func (noValues) done() error { return nil }
