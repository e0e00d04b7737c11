// Package dv reads and writes the sets of deleted rows that deletion vector
// descriptors of the log point to (PROTOCOL.md, "Deletion Vector Format").
//
// It refuses a set whose size, checksum or cardinality differs from the
// descriptor, an unknown format, and files outside the table's root.
//
// Invariant: a set that is returned has exactly the cardinality the log says.
package dv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const (
	fileVersion  = 1 // first byte of a file of deletion vectors
	sizeBytes    = 4 // before each set
	checksumSize = 4 // behind each set
)

// ErrCorrupt: a deletion vector is not what its format or the log says. Reading
// it again gives the same.
var ErrCorrupt = errors.New("corrupt")

// Read gives the rows that the deletion vector deletes, by their position in
// the data file.
func Read(ctx context.Context, s storage.Store, d *log.DeletionVector) (*roaring64.Bitmap, error) {
	set, err := read(ctx, s, d)
	var unread *readError
	var outside *log.AbsolutePathError
	switch {
	case err == nil:
		return set, nil
	case errors.As(err, &unread), errors.As(err, &outside):
		return nil, fmt.Errorf("deletion vector %s: %w", shortID(d), err)
	}
	return nil, fmt.Errorf("deletion vector %s: %w: %w", shortID(d), ErrCorrupt, err)
}

// readError: the store did not give the bytes; what they hold is not known.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

// shortID keeps inline sets out of messages.
func shortID(d *log.DeletionVector) string {
	id := d.ID()
	if len(id) > 64 {
		return id[:64] + "..."
	}
	return id
}

func read(ctx context.Context, s storage.Store, d *log.DeletionVector) (*roaring64.Bitmap, error) {
	if d == nil {
		return nil, errors.New("there is none")
	}
	if d.SizeInBytes < 0 || d.Cardinality < 0 {
		return nil, fmt.Errorf("descriptor says %d bytes and %d rows", d.SizeInBytes, d.Cardinality)
	}
	data, err := bytesOf(ctx, s, d)
	if err != nil {
		return nil, err
	}
	set, err := decode(data)
	if err != nil {
		return nil, err
	}
	if n := set.GetCardinality(); n != uint64(d.Cardinality) {
		return nil, fmt.Errorf("holds %d rows, but the log says %d", n, d.Cardinality)
	}
	return set, nil
}

// bytesOf gives the serialised set.
func bytesOf(ctx context.Context, s storage.Store, d *log.DeletionVector) ([]byte, error) {
	key, inFile, err := Key(s.URL(), d)
	if err != nil {
		return nil, err
	}
	if !inFile {
		return inlineBytes(d)
	}
	r, err := s.Open(ctx, key)
	if err != nil {
		return nil, &readError{err}
	}
	defer r.Close() //nolint:errcheck // nothing was written
	data, err := fileBytes(r, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return data, nil
}

// inlineBytes decodes a set that stands in the log; the encoding pads to a
// multiple of four bytes.
func inlineBytes(d *log.DeletionVector) ([]byte, error) {
	data, err := z85Decode(d.PathOrInlineDv)
	if err != nil {
		return nil, err
	}
	size := int(d.SizeInBytes)
	if size > len(data) || size <= len(data)-4 {
		return nil, fmt.Errorf("%d bytes inline, but the log says %d", len(data), size)
	}
	return data[:size], nil
}

func fileBytes(r storage.Reader, d *log.DeletionVector) ([]byte, error) {
	var offset int64
	if d.Offset != nil {
		offset = int64(*d.Offset)
	}
	total := sizeBytes + int64(d.SizeInBytes) + checksumSize
	if size := r.Info().Size; offset < 0 || offset+total > size {
		return nil, fmt.Errorf("bytes %d to %d of a file of %d", offset, offset+total, size)
	}
	var version [1]byte
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, 1), version[:]); err != nil {
		return nil, &readError{fmt.Errorf("read: %w", err)}
	}
	if version[0] != fileVersion {
		return nil, fmt.Errorf("format version %d is not known", version[0])
	}
	buf := make([]byte, total)
	if _, err := io.ReadFull(io.NewSectionReader(r, offset, total), buf); err != nil {
		return nil, &readError{fmt.Errorf("read: %w", err)}
	}
	if n := binary.BigEndian.Uint32(buf); int64(n) != int64(d.SizeInBytes) {
		return nil, fmt.Errorf("%d bytes at offset %d, but the log says %d", n, offset, d.SizeInBytes)
	}
	data, checksum := buf[sizeBytes:total-checksumSize], binary.BigEndian.Uint32(buf[total-checksumSize:])
	if crc32.ChecksumIEEE(data) != checksum {
		return nil, fmt.Errorf("checksum of the set at offset %d does not match: the file is damaged", offset)
	}
	return data, nil
}

// WriteFile writes sets into one new file under a key made by FileKey and gives
// their descriptors, in the same order. Empty sets are refused: a file without
// deleted rows has no deletion vector. On an error nothing is visible.
func WriteFile(ctx context.Context, s storage.Store, key string, sets []*roaring64.Bitmap) ([]*log.DeletionVector, error) {
	path, err := pathOfKey(key)
	if err != nil {
		return nil, err
	}
	w, err := s.Create(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("write deletion vectors: %w", err)
	}
	defer w.Abort()
	out, err := writeSets(w, path, sets)
	if err != nil {
		return nil, fmt.Errorf("write deletion vectors to %s: %w", key, err)
	}
	if _, err := w.Commit(ctx); err != nil {
		return nil, fmt.Errorf("write deletion vectors: %w", err)
	}
	return out, nil
}

func writeSets(w io.Writer, path string, sets []*roaring64.Bitmap) ([]*log.DeletionVector, error) {
	if _, err := w.Write([]byte{fileVersion}); err != nil {
		return nil, err
	}
	offset := int64(1)
	out := make([]*log.DeletionVector, len(sets))
	for i, set := range sets {
		if set == nil || set.IsEmpty() {
			return nil, fmt.Errorf("set %d is empty", i)
		}
		data, err := encode(set)
		if err != nil {
			return nil, fmt.Errorf("set %d: %w", i, err)
		}
		at, end := int32(offset), offset+sizeBytes+int64(len(data))+checksumSize
		if end > 1<<31-1 {
			return nil, fmt.Errorf("more than 2 GiB in one file: write fewer sets into each")
		}
		buf := binary.BigEndian.AppendUint32(make([]byte, 0, end-offset), uint32(len(data)))
		buf = append(buf, data...)
		buf = binary.BigEndian.AppendUint32(buf, crc32.ChecksumIEEE(data))
		if _, err := w.Write(buf); err != nil {
			return nil, err
		}
		out[i] = &log.DeletionVector{
			StorageType: log.DVRelative, PathOrInlineDv: path, Offset: &at,
			SizeInBytes: int32(len(data)), Cardinality: int64(set.GetCardinality()),
		}
		offset = end
	}
	return out, nil
}
