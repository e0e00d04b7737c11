package pq

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// dataPage is a data page decoded to levels and values.
type dataPage struct {
	n        int    // entries: values and nulls
	def, rep []byte // nil where the leaf has no such levels
	vals     values
}

// pageDecoder decodes the pages of one chunk. Its buffers are reused: a page is
// valid until the next one.
type pageDecoder struct {
	leaf  *leaf
	codec format.CompressionCodec
	dict  *dictionary

	page  dataPage
	raw   []byte
	codes []uint32
	out   []byte
	offs  []uint32
	ints  []int64
	ints2 []int64
}

func (d *pageDecoder) open(l *leaf, c format.CompressionCodec) {
	d.leaf, d.codec, d.dict = l, c, nil
}

// dictionary decodes a dictionary page.
func (d *pageDecoder) dictionary(p *page) (*dictionary, error) {
	h := p.header.Dictionary.V
	if d.dict != nil {
		return nil, fmt.Errorf("a second dictionary in one chunk")
	}
	if h.Encoding != format.Plain && h.Encoding != format.PlainDictionary {
		return nil, fmt.Errorf("dictionary encoding %s is not supported", h.Encoding)
	}
	if h.NumValues < 0 {
		return nil, fmt.Errorf("dictionary of %d values", h.NumValues)
	}
	if d.leaf.typ == format.Boolean {
		return nil, fmt.Errorf("dictionary of booleans is not supported")
	}
	if err := checkSize(d.codec, p.body, int(p.header.UncompressedSize)); err != nil {
		return nil, err
	}
	raw := make([]byte, p.header.UncompressedSize) // kept as long as the chunk
	if err := decompress(d.codec, raw, p.body); err != nil {
		return nil, err
	}
	var err error
	d.dict, err = readDictionary(raw, d.leaf.width, int(h.NumValues))
	return d.dict, err
}

// data decodes a data page of either version.
func (d *pageDecoder) data(p *page) (*dataPage, error) {
	d.page.n = p.entries()
	var body []byte
	var enc format.Encoding
	var err error
	if p.header.Type == format.DataPage {
		enc = p.header.V1.V.Encoding
		body, err = d.levelsV1(p)
	} else {
		enc = p.header.V2.V.Encoding
		body, err = d.levelsV2(p)
	}
	if err != nil {
		return nil, err
	}
	if err := d.checkLevels(); err != nil {
		return nil, err
	}
	d.page.vals.n = d.page.n
	if d.leaf.maxDef > 0 {
		d.page.vals.n = countByte(d.page.def, byte(d.leaf.maxDef))
	}
	return &d.page, d.values(body, enc)
}

func (d *pageDecoder) levelsV1(p *page) ([]byte, error) {
	raw, err := d.unpacked(p.body, int(p.header.UncompressedSize))
	if err != nil {
		return nil, err
	}
	h := &p.header.V1.V
	if d.page.rep, raw, err = levelsV1(d.page.rep, raw, d.leaf.maxRep, h.RepEncoding, d.page.n); err != nil {
		return nil, fmt.Errorf("repetition levels: %w", err)
	}
	if d.page.def, raw, err = levelsV1(d.page.def, raw, d.leaf.maxDef, h.DefEncoding, d.page.n); err != nil {
		return nil, fmt.Errorf("definition levels: %w", err)
	}
	return raw, nil
}

// levelsV1 reads levels with their length in front and gives what follows them.
func levelsV1(dst, raw []byte, top int, enc format.Encoding, n int) (levels, rest []byte, err error) {
	if top == 0 {
		return nil, raw, nil
	}
	width := widthFor(top)
	switch enc {
	case format.RLE:
		if len(raw) < 4 || int64(le32(raw)) > int64(len(raw)-4) {
			return nil, nil, io.ErrUnexpectedEOF
		}
		size := 4 + int(le32(raw))
		levels, err = decodeHybrid(dst[:0], raw[4:size], width, n)
		return levels, raw[size:], err
	case format.BitPacked:
		levels, size, err := unpackMSB(dst[:0], raw, width, n)
		if err != nil {
			return nil, nil, err
		}
		return levels, raw[size:], nil
	}
	return nil, nil, fmt.Errorf("encoding %s is not supported", enc)
}

func (d *pageDecoder) levelsV2(p *page) ([]byte, error) {
	h := &p.header.V2.V
	rep, def := int64(h.RepLength), int64(h.DefLength)
	if rep < 0 || def < 0 || rep+def > int64(len(p.body)) || rep+def > int64(p.header.UncompressedSize) {
		return nil, fmt.Errorf("levels of %d and %d bytes do not fit the page", rep, def)
	}
	var err error
	d.page.rep, d.page.def, err = d.levelSlicesV2(p.body[:rep], p.body[rep:rep+def])
	if err != nil {
		return nil, err
	}
	body := p.body[rep+def:]
	size := int(int64(p.header.UncompressedSize) - rep - def)
	if d.codec == format.Uncompressed || h.IsCompressed.Valid && !h.IsCompressed.V {
		return body, nil
	}
	if len(body) == 0 { // a page of nulls alone
		return nil, nil
	}
	return d.unpacked(body, size)
}

func (d *pageDecoder) levelSlicesV2(repBytes, defBytes []byte) (rep, def []byte, err error) {
	if d.leaf.maxRep > 0 {
		if rep, err = decodeHybrid(d.page.rep[:0], repBytes, widthFor(d.leaf.maxRep), d.page.n); err != nil {
			return nil, nil, fmt.Errorf("repetition levels: %w", err)
		}
	}
	if d.leaf.maxDef > 0 {
		if def, err = decodeHybrid(d.page.def[:0], defBytes, widthFor(d.leaf.maxDef), d.page.n); err != nil {
			return nil, nil, fmt.Errorf("definition levels: %w", err)
		}
	}
	return rep, def, nil
}

func (d *pageDecoder) checkLevels() error {
	for _, v := range d.page.def {
		if int(v) > d.leaf.maxDef {
			return fmt.Errorf("definition level %d, the most is %d", v, d.leaf.maxDef)
		}
	}
	for _, v := range d.page.rep {
		if int(v) > d.leaf.maxRep {
			return fmt.Errorf("repetition level %d, the most is %d", v, d.leaf.maxRep)
		}
	}
	return nil
}

// unpacked gives the decompressed bytes, valid until the next page.
func (d *pageDecoder) unpacked(body []byte, size int) ([]byte, error) {
	if d.codec == format.Uncompressed && len(body) == size {
		return body, nil
	}
	if cap(d.raw) < size {
		if err := checkSize(d.codec, body, size); err != nil {
			return nil, err
		}
		d.raw = make([]byte, size)
	}
	raw := d.raw[:size]
	return raw, decompress(d.codec, raw, body)
}

// values decodes the values of the page.
func (d *pageDecoder) values(b []byte, enc format.Encoding) error {
	v := &d.page.vals
	*v = values{n: v.n, enc: enc}
	switch enc {
	case format.PlainDictionary, format.RLEDictionary:
		return d.coded(b)
	case format.Plain:
		return d.plain(b)
	}
	if err := d.decodeOther(b, enc); err != nil {
		return fmt.Errorf("%s: %w", enc, err)
	}
	return nil
}

func (d *pageDecoder) coded(b []byte) error {
	v := &d.page.vals
	v.coded = true
	if d.dict == nil {
		return fmt.Errorf("a page of dictionary codes without a dictionary")
	}
	if v.n == 0 { // writers leave the codes out altogether
		return nil
	}
	if len(b) == 0 {
		return fmt.Errorf("dictionary codes: %w", io.ErrUnexpectedEOF)
	}
	var err error
	if d.codes, err = decodeHybrid(d.codes[:0], b[1:], int(b[0]), v.n); err != nil {
		return err
	}
	v.codes = d.codes
	top := uint32(0)
	for _, c := range v.codes {
		top = max(top, c)
	}
	if int64(top) >= int64(d.dict.n) {
		return fmt.Errorf("code %d in a dictionary of %d values", top, d.dict.n)
	}
	return nil
}

func (d *pageDecoder) plain(b []byte) error {
	v := &d.page.vals
	switch {
	case d.leaf.typ == format.Boolean:
		if (v.n+7)/8 > len(b) {
			return fmt.Errorf("%d booleans: %w", v.n, io.ErrUnexpectedEOF)
		}
		d.out = unpack(d.out[:0], b, 1, v.n)
		v.fixed = d.out
	case d.leaf.width > 0:
		if v.n > len(b)/d.leaf.width {
			return fmt.Errorf("%d values: %w", v.n, io.ErrUnexpectedEOF)
		}
		v.fixed = b[:v.n*d.leaf.width]
	default:
		offs, err := plainOffsets(d.offs, b, v.n)
		if err != nil {
			return fmt.Errorf("%d values: %w", v.n, err)
		}
		d.offs = offs
		v.plain, v.offs = b[:offs[v.n]], offs
	}
	return nil
}

func countByte(b []byte, x byte) int {
	n := 0
	for _, v := range b {
		if v == x {
			n++
		}
	}
	return n
}
