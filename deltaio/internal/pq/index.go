package pq

import (
	"bytes"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// boundBytes is where text bounds are cut in chunk statistics and page index.
	boundBytes = 64
	// maxBoundBytes: a bound that cannot be cut is left out beyond this size.
	maxBoundBytes = 4096
)

// chunkResult is a written chunk and what the footer needs of it.
type chunkResult struct {
	chunk       columnChunk
	columnIndex []byte // encoded; empty: none
	offsetIndex []byte
	bloom       *span // of the source, copied behind the row group
}

// span is a byte range of the source file.
type span struct{ off, size int64 }

// cutBounds gives bounds as PLAIN values, byte arrays cut to about boundBytes.
func cutBounds(b *bounds, t format.Type) (lo, hi []byte, ok bool) {
	lo, hi, ok = b.plain()
	if !ok || t != format.ByteArray || b.order != orderBytes {
		return lo, hi, ok
	}
	lo = cutLow(lo, boundBytes)
	cut, raised := cutHigh(hi, boundBytes)
	if raised {
		return lo, cut, true
	}
	return lo, hi, len(hi) <= maxBoundBytes
}

func chunkStatistics(b *bounds, t format.Type, nulls int64) statistics {
	st := statistics{NullCount: thrift.New(nulls)}
	lo, hi, ok := cutBounds(b, t)
	if !ok {
		return st
	}
	full0, full1, _ := b.plain()
	st.MinValue, st.MaxValue = thrift.New(lo), thrift.New(hi)
	st.MinExact = thrift.New(bytes.Equal(lo, full0))
	st.MaxExact = thrift.New(bytes.Equal(hi, full1))
	return st
}

// buildIndex makes the page index of an encoded chunk. There is no column index
// when a page that holds values has no bounds: readers would take the page for
// empty.
func (r *chunkResult) buildIndex(l *outLeaf, base int64, pages []pageEntry, nan bool) error {
	oi := format.OffsetIndex{PageLocations: make(thrift.Slice[format.PageLocation], len(pages))}
	ci := format.ColumnIndex{BoundaryOrder: boundaryOrder(l.order, pages)}
	whole := !nan && l.order != orderNone
	for i, p := range pages {
		oi.PageLocations[i] = format.PageLocation{Offset: base + p.offset, CompressedPageSize: p.size, FirstRowIndex: p.firstRow}
		empty := p.nulls == p.values
		whole = whole && (empty || p.bounded)
		lo, hi := p.lo, p.hi
		if empty {
			lo, hi = []byte{}, []byte{}
		}
		ci.NullPages = append(ci.NullPages, empty)
		ci.MinValues = append(ci.MinValues, lo)
		ci.MaxValues = append(ci.MaxValues, hi)
		ci.NullCounts = append(ci.NullCounts, p.nulls)
	}
	var err error
	if r.offsetIndex, err = appendThrift(nil, &oi); err != nil || !whole {
		return err
	}
	r.columnIndex, err = appendThrift(nil, &ci)
	return err
}

func boundaryOrder(o order, pages []pageEntry) format.BoundaryOrder {
	up, down := true, true
	var last *pageEntry
	for i := range pages {
		p := &pages[i]
		if !p.bounded {
			continue
		}
		if last != nil {
			lo, hi := o.compare(last.lo, p.lo), o.compare(last.hi, p.hi)
			up = up && lo <= 0 && hi <= 0
			down = down && lo >= 0 && hi >= 0
		}
		last = p
	}
	switch {
	case up:
		return format.Ascending
	case down:
		return format.Descending
	}
	return format.Unordered
}
