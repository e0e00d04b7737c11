// Package rowhash digests multisets of rows independently of their order, of
// the way they are cut into batches, and of how a file encoded them. It proves
// that two sets of rows are the same; it is no defence against somebody who
// forges rows on purpose.
//
// Invariants:
//  1. Equal rows of equal schemas hash alike, whatever batch, row order,
//     dictionary or physical type carried them.
//  2. A row's hash covers the name and the type of every column, and tells null
//     from empty, -0.0 from 0.0, and where one nested value ends.
//  3. Sum is a group: Add and Sub are inverses (mod 2^128 and 2^64), so
//     duplicates count. It never cancels pairs as XOR would.
package rowhash

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Hash128 is the hash of one row.
type Hash128 struct{ Lo, Hi uint64 }

// Sum is the digest of a multiset of rows: how many, and the sum of their
// hashes mod 2^128. The zero value is the empty set.
type Sum struct {
	Count uint64 `json:"count"`
	Lo    uint64 `json:"lo"`
	Hi    uint64 `json:"hi"`
}

// String gives count and hash, such as 42:00..ff.
func (s Sum) String() string { return fmt.Sprintf("%d:%016x%016x", s.Count, s.Hi, s.Lo) }

// Add gives the digest of the union of two multisets.
func (s Sum) Add(o Sum) Sum { return Sum{} }

// Sub takes the rows of o away again.
func (s Sum) Sub(o Sum) Sum { return Sum{} }

// Hasher hashes rows of one schema.
type Hasher struct{}

// New makes a hasher over the columns of s, except those named (as a marker
// column). Columns are found in records by name, so their order is free.
func New(s *schema.Struct, exclude ...string) *Hasher { return &Hasher{} }

// Rows hashes each row of rec.
func (h *Hasher) Rows(rec arrow.Record) ([]Hash128, error) {
	return nil, errors.New("rowhash: not there yet")
}

// Sum digests all rows of rec.
func (h *Hasher) Sum(rec arrow.Record) (Sum, error) { return Sum{}, errors.New("rowhash: not there yet") }

// Masked digests the rows of rec for which keep is true.
func (h *Hasher) Masked(rec arrow.Record, keep func(i int) bool) (Sum, error) {
	return Sum{}, errors.New("rowhash: not there yet")
}
