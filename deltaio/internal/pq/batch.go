package pq

import (
	"encoding/binary"
	"math/bits"
)

// batchEntries is how many entries of a page are handed on at a time: small
// enough that a batch stays in the processor's cache, and that output pages end
// near their row limit.
const batchEntries = 4000

// batch is a run of entries of a page that starts and ends where rows do,
// except where the page itself begins or ends inside of a row.
type batch struct {
	n        int    // entries
	def, rep []byte // as in dataPage
	nulls    int
	vals     values
	row      int // of the row group, of the first entry
	rows     int // rows that have entries here, a begun one included
	starts   int // rows that start here
}

// batches cuts a data page. row is the row of the next entry, or behind it when
// the page starts with one.
type batches struct {
	page  *dataPage
	leaf  *leaf
	row   int // rows started so far
	pos   int // entries handed out
	val   int // values handed out
	limit int // entries of a batch
	cur   batch
}

// cut starts on a page. pageBytes bounds the values of one batch.
func (it *batches) cut(p *dataPage, l *leaf, row, pageBytes int) {
	it.page, it.leaf, it.row, it.pos, it.val = p, l, row, 0, 0
	it.limit = batchEntries
	if n := len(p.vals.plain); n > 0 { // wide values: fewer at a time
		it.limit = max(1, min(batchEntries, int(int64(p.vals.n)*int64(pageBytes)/int64(n))))
	}
}

// next gives the next batch, nil at the end of the page.
func (it *batches) next() *batch {
	p := it.page
	if it.pos == p.n {
		return nil
	}
	lo, hi := it.pos, min(it.pos+it.limit, p.n)
	if p.rep != nil { // go on to the end of the row
		for hi < p.n && p.rep[hi] != 0 {
			hi++
		}
	}
	b := &it.cur
	b.n, b.row, b.def, b.rep = hi-lo, it.row, nil, nil
	b.starts, b.nulls = b.n, 0
	if p.rep != nil {
		b.rep = p.rep[lo:hi]
		b.starts = countByte(b.rep, 0)
	}
	b.rows = b.starts
	if p.rep != nil && b.rep[0] != 0 {
		b.row--
		b.rows++
	}
	if p.def != nil {
		b.def = p.def[lo:hi]
		if p.vals.n < p.n {
			b.nulls = b.n - countByte(b.def, byte(it.leaf.maxDef))
		}
	}
	it.take(b, b.n-b.nulls)
	it.pos = hi
	it.row += b.starts
	return b
}

// take hands out the next n values of the page.
func (it *batches) take(b *batch, n int) {
	v, w := &it.page.vals, it.leaf.width
	b.vals = values{n: n, coded: v.coded, enc: v.enc}
	switch {
	case v.coded:
		b.vals.codes = v.codes[it.val : it.val+n]
	case w > 0:
		b.vals.fixed = v.fixed[it.val*w : (it.val+n)*w]
	default:
		b.vals.plain = v.plain
		b.vals.offs = v.offs[it.val : it.val+n+1]
	}
	it.val += n
}

// expand[b] holds the bits of b as bytes 0 and 1.
var expand = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return t
}()

// selectRows writes a byte, 0 or 1, for each row of [lo, lo+n) to dst.
func (b *Bitmap) selectRows(dst []byte, lo, n int) []byte {
	dst = grow(dst[:0], n+8)[:n+8]
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], expand[b.byteAt(lo+i)])
	}
	return dst[:n]
}

// byteAt gives the eight bits from row i on.
func (b *Bitmap) byteAt(i int) byte {
	w, s := i>>6, i&63
	v := b.words[w] >> s
	if s > 56 && w+1 < len(b.words) {
		v |= b.words[w+1] << (64 - s)
	}
	return byte(v)
}

// selectEntries spreads the selection of rows over the entries of each.
func selectEntries(dst, rows, rep []byte) []byte {
	dst = grow(dst[:0], len(rep))[:len(rep)]
	r := -1
	for i, level := range rep {
		if level == 0 || i == 0 {
			r++
		}
		dst[i] = rows[r]
	}
	return dst
}

// selectValues keeps the selection of the entries that have a value.
func selectValues(dst, entries, def []byte, top byte) []byte {
	dst = grow(dst[:0], len(def)+1)[:len(def)+1]
	k := 0
	for i, d := range def {
		dst[k] = entries[i]
		if d == top {
			k++
		}
	}
	return dst[:k]
}

// The keep functions append what is selected. They write every element and move
// on only past selected ones, without branches: masks are often random.

func keepBytes(dst, src, sel []byte) []byte {
	at := len(dst)
	dst = grow(dst, len(src)+1)[:at+len(src)+1]
	out := dst[at:]
	k := 0
	for i, v := range src {
		out[k] = v
		k += int(sel[i])
	}
	return dst[:at+k]
}

func keepCodes(dst, src []uint32, sel []byte) []uint32 {
	at := len(dst)
	dst = grow(dst, len(src)+1)[:at+len(src)+1]
	out := dst[at:]
	k := 0
	for i, v := range src {
		out[k] = v
		k += int(sel[i])
	}
	return dst[:at+k]
}

func keepFixed(dst, src []byte, width int, sel []byte) []byte {
	at := len(dst)
	dst = grow(dst, len(src)+width)[:at+len(src)+width]
	out := dst[at:]
	k := 0
	switch width {
	case 4:
		for _, s := range sel {
			binary.LittleEndian.PutUint32(out[k:], binary.LittleEndian.Uint32(src))
			src = src[4:]
			k += int(s) << 2
		}
	case 8:
		for _, s := range sel {
			binary.LittleEndian.PutUint64(out[k:], binary.LittleEndian.Uint64(src))
			src = src[8:]
			k += int(s) << 3
		}
	default:
		for _, s := range sel {
			copy(out[k:k+width], src)
			src = src[width:]
			k += int(s) * width
		}
	}
	return dst[:at+k]
}

// keepPlain copies runs of selected byte arrays.
func keepPlain(dst, plain []byte, offs []uint32, sel []byte) []byte {
	for i := 0; i < len(sel); {
		if sel[i] == 0 {
			i++
			continue
		}
		j := i + 1
		for j < len(sel) && sel[j] != 0 {
			j++
		}
		dst = append(dst, plain[offs[i]:offs[j]]...)
		i = j
	}
	return dst
}

func popcount(sel []byte) int {
	n := 0
	for len(sel) >= 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(sel))
		sel = sel[8:]
	}
	for _, s := range sel {
		n += int(s)
	}
	return n
}
