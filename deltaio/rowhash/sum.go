package rowhash

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Hash128 is the hash of one row.
type Hash128 struct{ Lo, Hi uint64 }

// Sum is the digest of a multiset of rows: how many, and the sum of their
// hashes mod 2^128. The zero value is the empty set. Sums compare with ==.
type Sum struct{ Count, Lo, Hi uint64 }

// Add gives the digest of the union of two multisets.
func (s Sum) Add(o Sum) Sum {
	lo, carry := bits.Add64(s.Lo, o.Lo, 0)
	hi, _ := bits.Add64(s.Hi, o.Hi, carry)
	return Sum{s.Count + o.Count, lo, hi}
}

// Sub takes the rows of o away again.
func (s Sum) Sub(o Sum) Sum {
	lo, borrow := bits.Sub64(s.Lo, o.Lo, 0)
	hi, _ := bits.Sub64(s.Hi, o.Hi, borrow)
	return Sum{s.Count - o.Count, lo, hi}
}

// AddRow adds one row.
func (s *Sum) AddRow(h Hash128) {
	var carry uint64
	s.Count++
	s.Lo, carry = bits.Add64(s.Lo, h.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, h.Hi, carry)
}

// String gives the number of rows and the hash, such as
// 42:0123456789abcdef0123456789abcdef.
func (s Sum) String() string { return fmt.Sprintf("%d:%016x%016x", s.Count, s.Hi, s.Lo) }

// ParseSum is the inverse of String.
func ParseSum(text string) (Sum, error) {
	count, hash, ok := strings.Cut(text, ":")
	if !ok || len(hash) != 32 {
		return Sum{}, fmt.Errorf("row digest %q: want rows:32 hex digits", text)
	}
	var s Sum
	var err [3]error
	s.Count, err[0] = strconv.ParseUint(count, 10, 64)
	s.Hi, err[1] = strconv.ParseUint(hash[:16], 16, 64)
	s.Lo, err[2] = strconv.ParseUint(hash[16:], 16, 64)
	for _, e := range err {
		if e != nil {
			return Sum{}, fmt.Errorf("row digest %q: want rows:32 hex digits", text)
		}
	}
	return s, nil
}

// MarshalText lets a Sum travel in JSON as its String: numbers of 64 bits lose
// digits in many readers of JSON.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Sum) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSum(string(text))
	return err
}
