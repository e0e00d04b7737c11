package pq

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// Which footer statistics of a source are believed, for two ends: to carry them
// over with a chunk that is copied as bytes (our created_by then vouches for
// them) and to answer FileStats without decoding.
//
//	null_count          believed where present; a required column has none
//	INT32, INT64        min_value/max_value under a type-defined column order, else the
//	                    deprecated min/max, whose signed order is right for them
//	BOOLEAN             as INT32
//	FLOAT, DOUBLE       only from parquet-mr, parquet-cpp-arrow, parquet-rs 5+ and this package
//	                    from version 2 on, unless NaN (zeros widened to -0 and +0): parquet-go
//	                    and older parquet-rs let NaN spoil them, and files of our versions 0
//	                    and 1 may hold such bounds in chunks that they copied. They never
//	                    answer FileStats, since they do not tell whether NaN occurs
//	BYTE_ARRAY          min_value/max_value under a type-defined order from a writer that names
//	                    itself. The deprecated fields of parquet-mr compared bytes as signed.
//	decimals in bytes   only from parquet-mr 1.10+, parquet-cpp-arrow and Trino's fork of
//	                    parquet-mr; parquet-go and older parquet-rs order them as unsigned bytes
//	INT96               never: its order is undefined
//	unsigned integers   never: Delta has none, and the conversion changes the order
//
// Bounds that are inverted or of the wrong length are not believed from anyone.

// writerID is who wrote a file, of created_by "NAME version 1.2.3 (build X)".
type writerID struct {
	name                string
	major, minor, patch int
}

var writerForm = regexp.MustCompile(`^(.*?)\s+version\s+v?(\d+)(?:\.(\d+))?(?:\.(\d+))?`)

func parseWriter(createdBy string) writerID {
	m := writerForm.FindStringSubmatch(createdBy)
	if m == nil {
		return writerID{name: strings.TrimSpace(createdBy)}
	}
	w := writerID{name: strings.TrimSpace(m[1])}
	w.major, _ = strconv.Atoi(m[2]) // at most a huge version number: not trusted more for it
	w.minor, _ = strconv.Atoi(m[3])
	w.patch, _ = strconv.Atoi(m[4])
	return w
}

func (w writerID) ordersDecimalBytes() bool {
	switch w.name {
	case "parquet-mr":
		return w.major > 1 || w.major == 1 && w.minor >= 10
	case "parquet-cpp-arrow":
		return true
	}
	return strings.HasPrefix(w.name, "parquet-mr-trino")
}

// boundsFloats says whether the writer keeps NaN out of the bounds of floats.
func (w writerID) boundsFloats() bool {
	switch w.name {
	case "parquet-mr", "parquet-cpp-arrow":
		return true
	case "parquet-rs":
		return w.major >= 5
	case "lakewarden":
		return w.major >= 2
	}
	return strings.HasPrefix(w.name, "parquet-mr-trino")
}

// boundsOf gives the bounds of a chunk that may be carried over, PLAIN encoded;
// ok is false when there are none to believe.
func (s *source) boundsOf(l *leaf, st *statistics) (lo, hi []byte, ok bool) {
	order := orderOf(l.typ, &l.el)
	lo, hi = st.MinValue.V, st.MaxValue.V
	have := st.MinValue.Valid && st.MaxValue.Valid && l.ordered
	switch {
	case isUnsigned(&l.el):
		return nil, nil, false
	case order == orderInt32 || order == orderInt64 || order == orderBool:
		if !have {
			lo, hi = st.Min.V, st.Max.V
			have = st.Min.Valid && st.Max.Valid
		}
	case order == orderFloat || order == orderDouble:
		lo, hi = widenZeros(order, lo, hi)
		have = have && s.writer.boundsFloats()
	case order == orderBytes:
		have = have && s.writer.name != ""
	case order == orderDecimal:
		have = have && s.writer.ordersDecimalBytes()
	default:
		return nil, nil, false
	}
	if !have || !wellFormed(order, lo) || !wellFormed(order, hi) || order.compare(lo, hi) > 0 {
		return nil, nil, false
	}
	return lo, hi, true
}

// answersStats says whether believed bounds are enough for FileStats.
func answersStats(o order) bool { return o != orderFloat && o != orderDouble }

func isUnsigned(el *element) bool {
	if t, ok := el.Logical.Value.(*format.IntType); ok {
		return !t.IsSigned
	}
	switch el.ConvertedType.V {
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return el.ConvertedType.Valid
	}
	return false
}
