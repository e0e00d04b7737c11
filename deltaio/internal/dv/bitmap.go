package dv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Magic numbers of the two serialised forms. The portable one, little endian, is
// the protocol's; the native one was written before it, in either byte order, and
// is what the protocol's example of an inline set shows.
const (
	magicPortable = 1681511377
	magicNative   = 1681511376
)

// decode reads a serialised set. Everything in it is checked: a wrong bit
// deletes a row.
func decode(data []byte) (set *roaring64.Bitmap, err error) {
	defer func() { // the library checks less than it indexes
		if p := recover(); p != nil {
			set, err = nil, fmt.Errorf("set is damaged: %v", p)
		}
	}()
	if len(data) < 4 {
		return nil, errors.New("set is shorter than its magic number")
	}
	body := data[4:]
	switch {
	case binary.LittleEndian.Uint32(data) == magicPortable:
	case binary.LittleEndian.Uint32(data) == magicNative:
		body, err = portableOfNative(body, binary.LittleEndian)
	case binary.BigEndian.Uint32(data) == magicNative:
		body, err = portableOfNative(body, binary.BigEndian)
	default:
		err = fmt.Errorf("magic number %d is not known", binary.LittleEndian.Uint32(data))
	}
	if err != nil {
		return nil, err
	}
	set = roaring64.New()
	n, err := set.ReadPortableFrom(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("set is damaged: %w", err)
	}
	if n != int64(len(body)) {
		return nil, fmt.Errorf("set is damaged: %d bytes behind its end", int64(len(body))-n)
	}
	if set.IsEmpty() {
		return set, nil
	}
	if err := set.Validate(); err != nil {
		return nil, fmt.Errorf("set is damaged: %w", err)
	}
	if set.Maximum() > 1<<63-1 {
		return nil, errors.New("set is damaged: it holds a negative row")
	}
	return set, nil
}

// portableOfNative puts the bitmaps of the native form, which are numbered by
// their place, into the frame of the portable one.
func portableOfNative(b []byte, order binary.ByteOrder) ([]byte, error) {
	if len(b) < 4 {
		return nil, errors.New("set is damaged: no count of bitmaps")
	}
	count := int64(int32(order.Uint32(b)))
	b = b[4:]
	out := make([]byte, 8, len(b)+8)
	kept := uint64(0)
	for i := range count {
		if len(b) < 4 {
			return nil, fmt.Errorf("set is damaged: bitmap %d is missing", i)
		}
		size := int64(int32(order.Uint32(b)))
		if b = b[4:]; size < 0 || size > int64(len(b)) {
			return nil, fmt.Errorf("set is damaged: bitmap %d is cut off", i)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(i))
		out = append(out, b[:size]...)
		b = b[size:]
		kept++
	}
	if len(b) > 0 || count < 0 {
		return nil, errors.New("set is damaged: bytes behind its end")
	}
	binary.LittleEndian.PutUint64(out, kept)
	return out, nil
}

// encode serialises a set in the portable form; the set stays as it is.
func encode(set *roaring64.Bitmap) ([]byte, error) {
	if set.Maximum() > 1<<63-1 {
		return nil, fmt.Errorf("row %d is out of range", set.Maximum())
	}
	c := set.Clone()
	c.RunOptimize()
	body, err := c.ToPortableBytes()
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(nil, magicPortable), body...), nil
}
