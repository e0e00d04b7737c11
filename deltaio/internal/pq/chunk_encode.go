package pq

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// encode writes the page's bytes to the body.
func (c *chunkWriter) encode(e *pageEntry) error {
	raw, enc, err := c.encodeBody(c.raw[:0])
	if err != nil {
		return err
	}
	c.raw = raw
	return c.encodePage(e, raw, enc)
}

func (c *chunkWriter) encodePage(e *pageEntry, raw []byte, enc format.Encoding) error {
	h := pageHeader{Type: format.DataPage, V1: thrift.New(dataHeaderV1{
		NumValues: int32(e.values), Encoding: enc, DefEncoding: format.RLE, RepEncoding: format.RLE})}
	at := len(c.body)
	var err error
	if c.body, err = c.appendPage(c.body, &h, raw); err != nil {
		return err
	}
	e.offset = c.written() + int64(at)
	e.size = int32(len(c.body) - at)
	c.usage.count(format.DataPage, enc)
	if !c.hold && c.source == nil && len(c.body) >= spill {
		return c.spillBody()
	}
	return nil
}

// written is how many bytes of data pages have left the body.
func (c *chunkWriter) written() int64 {
	if !c.spilled {
		return 0
	}
	return c.out.off - c.start
}

func (c *chunkWriter) spillBody() error {
	if !c.spilled {
		c.start, c.spilled = c.out.off, true
	}
	err := c.out.write(c.body)
	c.body = c.body[:0]
	return err
}

// encodeBody appends levels and values.
func (c *chunkWriter) encodeBody(raw []byte) ([]byte, format.Encoding, error) {
	if c.leaf.maxRep > 0 {
		raw = appendLevels(raw, c.rep, c.leaf.maxRep)
	}
	if c.leaf.maxDef > 0 {
		raw = appendLevels(raw, c.def, c.leaf.maxDef)
	}
	if c.coded && c.nvals > 0 { // codes of nulls alone would want a dictionary
		width := max(1, widthFor(c.dict.n-1))
		raw = append(raw, byte(width))
		return encodeHybrid(raw, c.codes, width), format.RLEDictionary, nil
	}
	if c.nvals == 0 {
		return raw, format.Plain, nil
	}
	if c.leaf.typ == format.Boolean {
		return appendBits(raw, c.vals), format.Plain, nil
	}
	switch c.enc {
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray, format.ByteStreamSplit:
		raw, err := encodeOther(raw, c.enc, c.leaf.typ, c.leaf.width, c.vals)
		return raw, c.enc, err
	}
	return append(raw, c.vals...), format.Plain, nil
}

func appendLevels(raw, levels []byte, top int) []byte {
	at := len(raw)
	raw = append(raw, 0, 0, 0, 0)
	raw = encodeHybrid(raw, levels, widthFor(top))
	binary.LittleEndian.PutUint32(raw[at:], uint32(len(raw)-at-4))
	return raw
}

// appendBits packs booleans, a byte each, to a bit each.
func appendBits(dst, vals []byte) []byte {
	for i := 0; i < len(vals); i += 8 {
		b := byte(0)
		for k, v := range vals[i:min(i+8, len(vals))] {
			b |= v << k
		}
		dst = append(dst, b)
	}
	return dst
}

// appendPage compresses raw and appends header and body.
func (c *chunkWriter) appendPage(dst []byte, h *pageHeader, raw []byte) ([]byte, error) {
	at := len(dst)
	body, err := pack(c.codec, c.packed[:0], raw)
	if err != nil {
		return dst, err
	}
	c.packed = body
	if n := max(len(raw), len(body)); n > maxPage {
		return dst, fmt.Errorf("page of %d bytes is larger than %d", n, maxPage)
	}
	h.UncompressedSize, h.CompressedSize = int32(len(raw)), int32(len(body))
	h.CRC = thrift.New(int32(crc32.ChecksumIEEE(body)))
	if dst, err = appendThrift(dst, h); err != nil {
		return dst, err
	}
	c.unpacked += int64(len(dst)-at) + int64(len(raw))
	return append(dst, body...), nil
}

// finish writes what is left and describes the chunk.
func (c *chunkWriter) finish() (*chunkResult, error) {
	if err := c.flush(); err != nil || c.out == nil {
		return nil, err
	}
	m := columnMeta{Type: c.leaf.typ, Path: c.leaf.path, Codec: c.codec, NumValues: c.values}
	if !c.spilled {
		c.start = c.out.off
	}
	if c.dict.n > 0 {
		m.DictionaryPageOffset = thrift.New(c.out.off)
		if err := c.writeDictionary(); err != nil {
			return nil, err
		}
	}
	m.DataPageOffset = c.out.off
	if c.spilled {
		m.DataPageOffset = c.start
	}
	if err := c.out.write(c.body); err != nil {
		return nil, err
	}
	c.body = c.body[:0]
	m.TotalCompressedSize = c.out.off - c.start
	m.TotalUncompressedSize = c.unpacked
	m.Encodings, m.EncodingStats = c.usage.list(), thrift.Slice[format.PageEncodingStats](c.usage)
	m.Statistics = thrift.New(chunkStatistics(&c.stat, c.leaf.typ, c.nulls))
	res := &chunkResult{chunk: columnChunk{FileOffset: c.start, Meta: thrift.New(m)}}
	return res, res.buildIndex(c.leaf, m.DataPageOffset, c.pages, c.stat.nan)
}

func (c *chunkWriter) writeDictionary() error {
	h := pageHeader{Type: format.DictionaryPage, Dictionary: thrift.New(dictionaryHeader{
		NumValues: int32(c.dict.n), Encoding: format.Plain})}
	page, err := c.appendPage(nil, &h, c.dict.bytes())
	if err != nil {
		return err
	}
	c.usage.count(format.DictionaryPage, format.Plain)
	return c.out.write(page)
}

// list gives the encodings used, levels included.
func (u encodingUsage) list() thrift.Slice[format.Encoding] {
	out := thrift.Slice[format.Encoding]{format.RLE}
	seen := map[format.Encoding]bool{format.RLE: true}
	for _, x := range u {
		if !seen[x.Encoding] {
			seen[x.Encoding] = true
			out = append(out, x.Encoding)
		}
	}
	return out
}
