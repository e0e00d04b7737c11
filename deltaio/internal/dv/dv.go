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
	"errors"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Read gives the rows that the deletion vector deletes, by their position in
// the data file.
func Read(ctx context.Context, s storage.Store, d *log.DeletionVector) (*roaring64.Bitmap, error) {
	return nil, errors.New("not built yet")
}

// Key is the storage key of the file that holds the deletion vector; "" and
// false for an inline one.
func Key(rootURL string, d *log.DeletionVector) (string, bool, error) {
	return "", false, errors.New("not built yet")
}

// FileKey names a new file for deletion vectors; prefix is a directory of one
// segment or "".
func FileKey(prefix string, id uuid.UUID) string { return "" }

// WriteFile writes sets into one new file under a key made by FileKey and gives
// their descriptors, in the same order.
func WriteFile(ctx context.Context, s storage.Store, key string, sets []*roaring64.Bitmap) ([]*log.DeletionVector, error) {
	return nil, errors.New("not built yet")
}
