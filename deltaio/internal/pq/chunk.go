package pq

import (
	"github.com/parquet-go/parquet-go/format"
)

const (
	defaultPageBytes = 1 << 20
	// pageRows bounds the rows of a page, so that the page index stays selective.
	pageRows = 20_000
	// spill is how much encoded data waits before it is written, where no
	// dictionary page has to come first.
	spill = 256 << 10
)

// chunkWriter encodes one column chunk of an output.
//
// Dictionary codes of the source are renumbered in the order of first use, and
// the dictionary written holds what was used: no other value of the source's
// gets into the output. A page whose source page had another encoding (writers
// fall back to PLAIN within a chunk) starts a new page here.
type chunkWriter struct {
	leaf      *outLeaf
	out       *fileWriter // nil: gather statistics only
	codec     format.CompressionCodec
	pageBytes int
	hold      bool // write nothing before finish

	// the page being filled
	coded    bool
	enc      format.Encoding
	def, rep []byte
	codes    []uint32
	vals     []byte // fixed width or PLAIN
	nvals    int
	rows     int // that start in the page
	used     []uint64
	pageStat bounds

	// the dictionary: entries in use, and source code -> code here + 1
	source *dictionary
	remap  []uint32
	dict   dictionary

	// the chunk
	start    int64 // of its first byte, once something is written
	spilled  bool
	body     []byte
	pages    []pageEntry
	values   int64 // entries
	nulls    int64
	allRows  int64
	unpacked int64 // uncompressed size
	stat     bounds
	usage    encodingUsage

	entrySel, valueSel []byte // scratch
	picked             []uint32
	raw, packed        []byte
}

// pageEntry is what the page index says of a page.
type pageEntry struct {
	offset   int64 // from the first data page
	size     int32
	firstRow int64
	nulls    int64
	values   int64
	lo, hi   []byte
	bounded  bool
}

// encodingUsage counts pages by encoding.
type encodingUsage []format.PageEncodingStats

func (u *encodingUsage) count(t format.PageType, e format.Encoding) {
	for i := range *u {
		if x := &(*u)[i]; x.PageType == t && x.Encoding == e {
			x.Count++
			return
		}
	}
	*u = append(*u, format.PageEncodingStats{PageType: t, Encoding: e, Count: 1})
}

// open starts a chunk, keeping buffers.
func (c *chunkWriter) open(l *outLeaf, out *fileWriter, codec format.CompressionCodec, pageBytes int) {
	c.leaf, c.out, c.codec, c.pageBytes = l, out, codec, pageBytes
	c.startPage()
	c.source, c.remap = nil, c.remap[:0]
	c.dict.reset(l.width)
	c.used = c.used[:0]
	c.start, c.spilled, c.body, c.pages = 0, false, c.body[:0], c.pages[:0]
	c.values, c.nulls, c.allRows, c.unpacked = 0, 0, 0, 0
	c.pageStat.order, c.stat.order = l.order, l.order
	c.stat.reset()
	c.usage = nil
}

func (c *chunkWriter) startPage() {
	c.def, c.rep, c.codes, c.vals = c.def[:0], c.rep[:0], c.codes[:0], c.vals[:0]
	c.nvals, c.rows = 0, 0
	clear(c.used)
	c.pageStat.reset()
}

// setDictionary announces the source's dictionary, before any page.
func (c *chunkWriter) setDictionary(d *dictionary) {
	c.source = d
	c.remap = grow(c.remap[:0], d.n)[:d.n]
	clear(c.remap)
}

// append takes the rows of b that sel selects (a byte a row, 0 or 1), or all of
// them when sel is nil.
func (c *chunkWriter) append(b *batch, sel []byte) error {
	begun := b.rep != nil && b.rep[0] != 0
	if !begun && c.entries() > 0 && c.full(b) {
		if err := c.flush(); err != nil {
			return err
		}
	}
	if c.entries() == 0 {
		c.coded, c.enc = b.vals.coded, b.vals.enc
	} else if b.vals.n > 0 && (c.coded != b.vals.coded || c.enc != b.vals.enc && !c.coded) {
		return c.mixed(b, sel, begun)
	}
	if sel == nil {
		return c.appendAll(b)
	}
	return c.appendSome(b, sel, begun)
}

// mixed handles a batch in another encoding than the page's that continues a
// row: the values are brought to PLAIN, since a page holds one encoding and a
// row does not end here.
func (c *chunkWriter) mixed(b *batch, sel []byte, begun bool) error {
	if !begun {
		if err := c.flush(); err != nil {
			return err
		}
		return c.append(b, sel)
	}
	if c.coded {
		c.vals = c.vals[:0]
		for _, code := range c.codes {
			c.vals = append(c.vals, c.dict.entry(int(code))...)
		}
		c.pageStat.addCodes(&c.dict, c.used)
		clear(c.used)
		c.codes, c.coded = c.codes[:0], false
	}
	c.enc = format.Plain
	nb := *b
	nb.vals = c.source.expand(&b.vals)
	nb.vals.enc = format.Plain
	if sel == nil {
		return c.appendAll(&nb)
	}
	return c.appendSome(&nb, sel, begun)
}

// expand gives the values that codes stand for.
func (d *dictionary) expand(v *values) values {
	if !v.coded {
		return *v
	}
	out := values{n: v.n}
	if d.width == 0 {
		out.offs = append(out.offs, 0)
	}
	for _, code := range v.codes {
		e := d.entry(int(code))
		if d.width > 0 {
			out.fixed = append(out.fixed, e...)
			continue
		}
		out.plain = append(out.plain, e...)
		out.offs = append(out.offs, uint32(len(out.plain)))
	}
	return out
}

func (c *chunkWriter) entries() int {
	if c.leaf.maxDef > 0 {
		return len(c.def)
	}
	return c.nvals
}

// full says whether the page should end before b is added.
func (c *chunkWriter) full(b *batch) bool {
	return c.rows+b.starts > pageRows || len(c.vals) >= c.pageBytes || 4*len(c.codes) >= c.pageBytes ||
		c.coded != b.vals.coded && b.vals.n > 0
}

func (c *chunkWriter) appendAll(b *batch) error {
	c.def = append(c.def, b.def...)
	c.rep = append(c.rep, b.rep...)
	c.rows += b.starts
	c.nvals += b.vals.n
	switch v := &b.vals; {
	case v.coded:
		c.addCodes(v.codes)
	case c.leaf.width > 0:
		c.vals = append(c.vals, v.fixed...)
	default:
		c.vals = append(c.vals, v.plain[v.offs[0]:v.offs[v.n]]...)
	}
	return nil
}

func (c *chunkWriter) appendSome(b *batch, sel []byte, begun bool) error {
	entries := sel
	if b.rep != nil {
		c.entrySel = selectEntries(c.entrySel, sel, b.rep)
		entries = c.entrySel
		c.rep = keepBytes(c.rep, b.rep, entries)
	}
	c.rows += popcount(sel)
	if begun {
		c.rows -= int(sel[0]) // it started in an earlier page
	}
	chosen := entries
	if b.def != nil {
		c.def = keepBytes(c.def, b.def, entries)
		if b.nulls > 0 {
			c.valueSel = selectValues(c.valueSel, entries, b.def, byte(c.leaf.maxDef))
			chosen = c.valueSel
		}
	}
	switch v := &b.vals; {
	case v.coded:
		c.picked = keepCodes(c.picked[:0], v.codes, chosen)
		c.nvals += len(c.picked)
		c.addCodes(c.picked)
	case c.leaf.width > 0:
		at := len(c.vals)
		c.vals = keepFixed(c.vals, v.fixed, c.leaf.width, chosen)
		c.nvals += (len(c.vals) - at) / c.leaf.width
	default:
		c.vals = keepPlain(c.vals, v.plain, v.offs, chosen)
		c.nvals += popcount(chosen)
	}
	return nil
}

// addCodes renumbers codes of the source's dictionary.
func (c *chunkWriter) addCodes(codes []uint32) {
	at := len(c.codes)
	c.codes = grow(c.codes, len(codes))[:at+len(codes)]
	out := c.codes[at:]
	if c.source == nil { // codes of our own dictionary
		for len(c.used)*64 < c.dict.n {
			c.used = append(c.used, 0)
		}
		for i, code := range codes {
			out[i] = code
			c.used[code>>6] |= 1 << (code & 63)
		}
		return
	}
	for i, code := range codes {
		n := c.remap[code]
		if n == 0 {
			n = c.adopt(code)
		}
		out[i] = n - 1
		c.used[(n-1)>>6] |= 1 << ((n - 1) & 63)
	}
}

// adopt takes an entry of the source's dictionary into ours.
func (c *chunkWriter) adopt(code uint32) uint32 {
	c.dict.add(c.source.entry(int(code)))
	n := uint32(c.dict.n)
	c.remap[code] = n
	if int(n) > len(c.used)*64 {
		c.used = append(c.used, 0)
	}
	return n
}

// flush ends the page.
func (c *chunkWriter) flush() error {
	n := c.entries()
	if n == 0 {
		return nil
	}
	switch {
	case c.coded:
		c.pageStat.addCodes(&c.dict, c.used)
	case c.leaf.width > 0:
		c.pageStat.addFixed(c.vals, c.leaf.width)
	default:
		c.pageStat.addPlain(c.vals)
	}
	e := pageEntry{firstRow: c.allRows, nulls: int64(n - c.nvals), values: int64(n)}
	if c.out != nil {
		if err := c.encode(&e); err != nil {
			return err
		}
	}
	e.lo, e.hi, e.bounded = cutBounds(&c.pageStat, c.leaf.typ)
	c.pages = append(c.pages, e)
	c.stat.merge(&c.pageStat)
	c.values += int64(n)
	c.nulls += e.nulls
	c.allRows += int64(c.rows)
	c.startPage()
	return nil
}
