package rowhash

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/zeebo/xxh3"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Seeds that set values, nulls and whole rows apart.
const (
	nullSeed = 0x6e756c6c6e756c6c
	rowSeed  = 0x726f77726f77726f
)

// Hasher hashes rows of one schema. It is safe for concurrent use.
type Hasher struct{ cols []hashedColumn }

type hashedColumn struct {
	name string
	t    schema.Type
	seed uint64
	null xxh3.Uint128
}

// New makes a hasher over the columns of s, except those named (as a marker
// column). Columns are found in records by name, so their order is free.
func New(s *schema.Struct, exclude ...string) *Hasher {
	h := &Hasher{}
	for i := range s.Fields {
		f := &s.Fields[i]
		if slices.Contains(exclude, f.Name) {
			continue
		}
		seed := xxh3.HashString(f.Name + "\x00" + f.Type.String())
		h.cols = append(h.cols, hashedColumn{f.Name, f.Type, seed, xxh3.Hash128Seed(nil, seed^nullSeed)})
	}
	return h
}

// Rows hashes each row of rec.
func (h *Hasher) Rows(rec arrow.Record) ([]Hash128, error) {
	rows := make([]Hash128, rec.NumRows())
	for i := range h.cols {
		c := &h.cols[i]
		at := rec.Schema().FieldIndices(c.name)
		if len(at) != 1 {
			return nil, fmt.Errorf("hash rows: the record has %d columns %s", len(at), c.name)
		}
		if err := c.add(rows, rec.Column(at[0])); err != nil {
			return nil, fmt.Errorf("hash rows: column %s: %w", c.name, err)
		}
	}
	var b [16]byte
	for i := range rows {
		binary.LittleEndian.PutUint64(b[:], rows[i].Lo)
		binary.LittleEndian.PutUint64(b[8:], rows[i].Hi)
		u := xxh3.Hash128Seed(b[:], rowSeed)
		rows[i] = Hash128{u.Lo, u.Hi}
	}
	return rows, nil
}

// Sum digests all rows of rec.
func (h *Hasher) Sum(rec arrow.Record) (Sum, error) {
	return h.Masked(rec, nil)
}

// Masked digests the rows of rec for which keep is true; nil keeps all.
func (h *Hasher) Masked(rec arrow.Record, keep func(i int) bool) (Sum, error) {
	rows, err := h.Rows(rec)
	if err != nil {
		return Sum{}, err
	}
	var s Sum
	for i, r := range rows {
		if keep == nil || keep(i) {
			s.AddRow(r)
		}
	}
	return s, nil
}
