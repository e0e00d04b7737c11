package page

import (
	"fmt"
	"io"
)

// window reads a byte range of an object front to back, in pieces of at least
// size bytes.
type window struct {
	r        io.ReaderAt
	pos, end int64 // of the object: the next byte to hand out, the range's end
	size     int
	buf      []byte // bytes from pos on
	own      []byte // memory of buf
}

// peek gives at least n bytes from the current position, fewer only where the
// range ends. They are valid until the next call.
func (w *window) peek(n int) ([]byte, error) {
	if left := w.end - w.pos; int64(n) > left {
		n = int(left)
	}
	if len(w.buf) >= n {
		return w.buf, nil
	}
	want := n
	if more := min(int64(w.size), w.end-w.pos); int64(want) < more {
		want = int(more)
	}
	if cap(w.own) < want {
		bigger := make([]byte, want)
		copy(bigger, w.buf)
		w.own = bigger
	} else {
		copy(w.own[:cap(w.own)], w.buf)
	}
	have := len(w.buf)
	w.buf = w.own[:want]
	got, err := w.r.ReadAt(w.buf[have:], w.pos+int64(have))
	if got < want-have {
		w.buf = w.buf[:have]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes at %d: %w", want-have, w.pos+int64(have), err)
	}
	return w.buf, nil
}

// advance steps over n bytes that peek gave.
func (w *window) advance(n int) {
	w.buf = w.buf[n:]
	w.pos += int64(n)
}

// seek moves to an absolute position.
func (w *window) seek(pos int64) {
	w.pos, w.buf = pos, nil
}
