package rowtext

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Digest collects rows and gives the checksum of the multiset. It keeps 32
// bytes a row.
type Digest struct {
	enc  *Encoder
	rows [][sha256.Size]byte
}

// NewDigest makes a digest of rows of s.
func NewDigest(s *schema.Struct) *Digest { return &Digest{enc: New(s)} }

// Add takes the rows of rec for which keep is true; nil keeps all.
func (d *Digest) Add(rec arrow.Record, keep func(row int) bool) error {
	return d.enc.Rows(rec, func(i int, text []byte) error {
		if keep == nil || keep(i) {
			d.rows = append(d.rows, sha256.Sum256(text))
		}
		return nil
	})
}

// Count is the number of rows taken.
func (d *Digest) Count() int64 { return int64(len(d.rows)) }

// Sum is the checksum in lowercase hex: SHA-256 over the sorted hex SHA-256 of
// every row, each followed by a newline.
func (d *Digest) Sum() string {
	slices.SortFunc(d.rows, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	var line [2*sha256.Size + 1]byte
	line[2*sha256.Size] = '\n'
	for i := range d.rows {
		hex.Encode(line[:], d.rows[i][:])
		h.Write(line[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
