// Package page reads the pages of one column chunk: headers, checksums,
// decompression, levels, and every encoding of values. It yields levels and
// dense physical values (those that are there, one after another); what they
// mean is the caller's.
//
// Invariants:
//  1. Reads never leave the chunk's byte range, and the number of entries read
//     is exactly the one the footer states.
//  2. A page whose checksum is stated and wrong is refused.
//  3. Values decode to as many as are asked for or to an error; a page of plain
//     or delta values that holds more than its levels call for is refused too,
//     since then one of the two is damaged.
//  4. Sizes read from headers are checked before memory is taken for them.
package page

import (
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

// ErrTooLarge: the values asked for exceed the Vector's limit. The reader's
// position is undefined afterwards; Restore a mark and ask for fewer.
var ErrTooLarge = errors.New("values exceed the memory allowed for a batch")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{footer.ErrCorrupt}, args...)...)
}
