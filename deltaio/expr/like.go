package expr

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// likePattern is a compiled LIKE pattern: pieces of literal text and of _,
// separated by %.
type likePattern struct {
	pieces [][]likeChar
}

// likeChar is one character, or any one.
type likeChar struct {
	r   rune
	any bool
}

// compileLike reads a pattern. The escape character may stand before %, _ and
// itself only, as StringUtils.escapeLikeRegex demands.
func compileLike(pattern string, escape rune) (*likePattern, error) {
	p := &likePattern{pieces: [][]likeChar{nil}}
	add := func(c likeChar) {
		last := len(p.pieces) - 1
		p.pieces[last] = append(p.pieces[last], c)
	}
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			if r != '_' && r != '%' && r != escape {
				return nil, fmt.Errorf("LIKE pattern %q: the escape character %q may not stand before %q", pattern, escape, r)
			}
			add(likeChar{r: r})
			escaped = false
		case r == escape:
			escaped = true
		case r == '%':
			p.pieces = append(p.pieces, nil)
		case r == '_':
			add(likeChar{any: true})
		default:
			add(likeChar{r: r})
		}
	}
	if escaped {
		return nil, fmt.Errorf("LIKE pattern %q ends with the escape character", pattern)
	}
	return p, nil
}

// prefix is the literal text each match begins with; whole says that every text
// that begins so matches.
func (p *likePattern) prefix() (prefix []byte, whole bool) {
	for _, c := range p.pieces[0] {
		if c.any {
			return prefix, false
		}
		prefix = utf8.AppendRune(prefix, c.r)
	}
	return prefix, len(p.pieces) == 2 && len(p.pieces[1]) == 0
}

func (p *likePattern) kernel(n int, args []*vec) (*vec, error) {
	x := args[0]
	match := p.matcher()
	out := newBits(n)
	for i := range n {
		if !x.isNull(i) && match(x.bytes(i)) {
			setBit(out, i)
		}
	}
	return boolVec(n, out, x.nullMask(n)), nil
}

// matcher picks the cheapest test for the shape of the pattern.
func (p *likePattern) matcher() func([]byte) bool {
	texts := make([][]byte, len(p.pieces))
	for i, piece := range p.pieces {
		for _, c := range piece {
			if c.any {
				return p.match
			}
			texts[i] = utf8.AppendRune(texts[i], c.r)
		}
	}
	switch {
	case len(texts) == 1:
		return func(s []byte) bool { return bytes.Equal(s, texts[0]) }
	case len(texts) == 2:
		return func(s []byte) bool {
			return len(s) >= len(texts[0])+len(texts[1]) && bytes.HasPrefix(s, texts[0]) && bytes.HasSuffix(s, texts[1])
		}
	case len(texts) == 3 && len(texts[0]) == 0 && len(texts[2]) == 0:
		return func(s []byte) bool { return bytes.Contains(s, texts[1]) }
	}
	return p.match
}

// match is the general test: the first piece at the start, the last at the end,
// those between at their earliest place. It is linear in the text for each
// piece.
func (p *likePattern) match(s []byte) bool {
	first, last := p.pieces[0], p.pieces[len(p.pieces)-1]
	n := matchPiece(first, s)
	if n < 0 {
		return false
	}
	s = s[n:]
	if len(p.pieces) == 1 {
		return len(s) == 0
	}
	for _, piece := range p.pieces[1 : len(p.pieces)-1] {
		for {
			if n = matchPiece(piece, s); n >= 0 {
				break
			}
			if len(s) == 0 {
				return false
			}
			_, size := utf8.DecodeRune(s)
			s = s[size:]
		}
		s = s[n:]
	}
	tail := len(s)
	for range last {
		if tail == 0 {
			return false
		}
		_, size := utf8.DecodeLastRune(s[:tail])
		tail -= size
	}
	return matchPiece(last, s[tail:]) == len(s)-tail
}

// matchPiece gives the bytes that a piece covers at the start of s, or -1.
func matchPiece(piece []likeChar, s []byte) int {
	i := 0
	for _, c := range piece {
		if i >= len(s) {
			return -1
		}
		r, size := utf8.DecodeRune(s[i:])
		if !c.any && (r != c.r || r == utf8.RuneError && size == 1) {
			return -1
		}
		i += size
	}
	return i
}

// likeKernel matches patterns that differ by row.
func likeKernel(escape rune) kernel {
	return func(n int, args []*vec) (*vec, error) {
		x, pattern := args[0], args[1]
		out := newBits(n)
		null := orBits(x.spreadNull(n), pattern.spreadNull(n))
		for i := range n {
			if null != nil && getBit(null, i) {
				continue
			}
			p, err := compileLike(pattern.str(i), escape)
			if err != nil {
				return nil, err
			}
			if p.match(x.bytes(i)) {
				setBit(out, i)
			}
		}
		return boolVec(n, out, append([]uint64(nil), null...)), nil
	}
}

func lowerKernel(n int, args []*vec) (*vec, error) { return mapText(schema.String, n, args[0], lower) }
func upperKernel(n int, args []*vec) (*vec, error) { return mapText(schema.String, n, args[0], upper) }

// mapText applies f, which appends to dst, to each text.
func mapText(typ schema.Type, n int, x *vec, f func(dst, s []byte) []byte) (*vec, error) {
	out := newVec(typ, n)
	out.null = x.spreadNull(n)
	for i := range n {
		if !out.isNull(i) {
			out.data = f(out.data, x.bytes(i))
		}
		out.endString()
	}
	return out, nil
}
