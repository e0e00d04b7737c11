package page

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

const (
	// headerWindow is how much is looked at first for a page header, maxHeader
	// how long it may be: statistics inside are as long as values are.
	headerWindow = 256
	maxHeader    = 16 << 20
	// plainPage is the size up to which a page header is believed on its own;
	// larger pages must fit the chunk's uncompressed size in the footer.
	plainPage = 64 << 20
)

// Reader reads one column chunk. Use: Fill, then Levels (or DefBits) for some
// entries and Values for those of them that are there, again until the page is
// used up, Fill, ... until io.EOF.
type Reader struct {
	leaf  *footer.Node
	chunk *footer.Chunk
	src   window
	width int
	seen  int64 // entries of the pages entered so far

	dict   *dictionary
	data   []byte // memory of decompressed pages
	left   int    // entries left in the page
	rep    hybrid
	def    hybrid
	values decoder
	at     Mark // of the page entered
	kept   decoders
	// SkipValues reads levels only: values are neither decoded nor checked.
	SkipValues bool
}

// decoders are kept from page to page for their memory.
type decoders struct {
	plainFixed  plainFixed
	plainBool   plainBool
	rleBool     rleBool
	plainVar    plainVar
	dictValues  *dictValues
	deltaValues *deltaValues
	deltaLength deltaLength
	deltaBytes  deltaBytes
	streamSplit streamSplit
}

// Mark is a position in a chunk: an entry of a page.
type Mark struct {
	page    int64 // where the page's header starts
	before  int64 // entries before the page
	entries int   // entries of the page
}

// NewReader reads chunk, a column chunk of the leaf, in pieces of at least
// window bytes.
func NewReader(r io.ReaderAt, leaf *footer.Node, chunk *footer.Chunk, size int) *Reader {
	start, end := chunk.Bounds()
	return &Reader{leaf: leaf, chunk: chunk, width: leaf.Width(), src: window{r: r, pos: start, end: end, size: size}}
}

// Left is how many entries of the page have not been read.
func (r *Reader) Left() int { return r.left }

// Fill makes sure that entries are left in the page, entering the next one
// where necessary: io.EOF when the chunk is used up.
func (r *Reader) Fill() error {
	for r.left == 0 {
		if err := r.finish(); err != nil {
			return err
		}
		if r.seen == r.chunk.NumValues {
			return io.EOF
		}
		if err := r.nextPage(); err != nil {
			return err
		}
	}
	return nil
}

// finish checks that the page's values are used up together with its levels.
func (r *Reader) finish() error {
	v := r.values
	r.values = nil
	if v == nil {
		return nil
	}
	return v.done()
}

func (r *Reader) nextPage() error {
	for {
		at := r.src.pos
		h, err := r.header()
		if err != nil {
			return err
		}
		body, err := r.body(&h)
		if err != nil {
			return fmt.Errorf("page at %d: %w", at, err)
		}
		switch h.Type {
		case footer.DictionaryPage:
			if !r.SkipValues {
				err = r.enterDictionary(&h, body)
			}
		case footer.DataPage:
			err = r.enterV1(&h, body)
		case footer.DataPageV2:
			err = r.enterV2(&h, body)
		case footer.IndexPage:
			continue
		default:
			err = corrupt("page type %d", h.Type)
		}
		if err != nil {
			return fmt.Errorf("page at %d: %w", at, err)
		}
		if h.Type != footer.DictionaryPage {
			r.at = Mark{page: at, before: r.seen - int64(r.left), entries: r.left}
			return nil
		}
	}
}

func (r *Reader) header() (footer.Header, error) {
	for n := headerWindow; ; n *= 4 {
		at := r.src.pos
		b, err := r.src.peek(n)
		if err != nil {
			return footer.Header{}, err
		}
		if len(b) == 0 {
			return footer.Header{}, corrupt("the chunk ends after %d of %d values", r.seen, r.chunk.NumValues)
		}
		h, size, more, err := footer.ParseHeader(b)
		if err == nil {
			r.src.advance(size)
			return h, nil
		}
		if !more || n >= maxHeader || int64(n) >= r.src.end-at {
			return footer.Header{}, fmt.Errorf("page header at %d: %w", at, err)
		}
	}
}

// body gives the bytes of a page as they are stored, sizes and checksum
// checked.
func (r *Reader) body(h *footer.Header) ([]byte, error) {
	if h.CompressedSize < 0 || int64(h.CompressedSize) > r.src.end-r.src.pos {
		return nil, corrupt("%d bytes, %d are left in the chunk", h.CompressedSize, r.src.end-r.src.pos)
	}
	if h.UncompressedSize < 0 || h.UncompressedSize > maxPage ||
		h.UncompressedSize > plainPage && int64(h.UncompressedSize) > r.chunk.UncompressedSize {
		return nil, corrupt("a size of %d bytes uncompressed", h.UncompressedSize)
	}
	size := int(h.CompressedSize)
	b, err := r.src.peek(size)
	if err != nil {
		return nil, err
	}
	b = b[:size]
	r.src.advance(size)
	if h.HasCRC && h.Type != footer.IndexPage {
		if got := crc32.ChecksumIEEE(b); got != h.CRC {
			return nil, corrupt("checksum %08x, its header says %08x", got, h.CRC)
		}
	}
	return b, nil
}

// Levels reads the next len(def) entries, at most Left: their repetition levels
// where the column has any (rep may be nil otherwise), their definition levels
// where it has any (def is zeroed otherwise).
func (r *Reader) Levels(def, rep []byte) error {
	r.left -= len(def)
	if r.leaf.MaxRep > 0 {
		if err := r.rep.read8(rep, r.leaf.MaxRep); err != nil {
			return err
		}
	}
	if r.leaf.MaxDef == 0 {
		clear(def)
		return nil
	}
	return r.def.read8(def, r.leaf.MaxDef)
}

// DefBits reads the next n entries, at most Left, of a column that has no
// repetition and a definition level of at most 1, as bits of the zeroed bitmap
// dst from position at, and counts those that are there.
func (r *Reader) DefBits(dst []byte, at, n int) (present int, err error) {
	r.left -= n
	if r.leaf.MaxDef == 0 {
		SetBits(dst, at, n)
		return n, nil
	}
	return r.def.readBits(dst, at, n)
}

// Values appends the next n values of the page to v.
func (r *Reader) Values(v *Vector, n int) error {
	if n == 0 {
		return nil
	}
	if r.values == nil {
		return corrupt("no page to read values from")
	}
	return r.values.read(v, n)
}

// Position gives the page entered and how many of its entries are read. It can be
// restored when the values of those entries have been read too.
func (r *Reader) Position() (m Mark, skip int) {
	return r.at, r.at.entries - r.left
}

// Restore goes back to the page of a mark, at its first entry.
func (r *Reader) Restore(m Mark) error {
	r.values, r.left = nil, 0
	if m == (Mark{}) { // before the first page
		start, _ := r.chunk.Bounds()
		r.src.seek(start)
		r.seen, r.dict = 0, nil
		return nil
	}
	r.src.seek(m.page)
	r.seen = m.before
	return r.nextPage()
}
