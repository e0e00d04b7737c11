package deltaio

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Ranges gives what the log knows of a file's columns, by logical name, for
// pruning: partition values exactly, statistics widened to what they prove. A
// column about which it knows nothing is not ok.
func (s *Snapshot) Ranges(add *log.Add) func(column string) (expr.Range, bool) {
	stats, err := add.ParseStats()
	if err != nil {
		stats = nil // statistics that cannot be read prove nothing; the file is read
	}
	return func(column string) (expr.Range, bool) {
		f, ok := s.schema.Field(column)
		if !ok {
			return expr.Range{}, false
		}
		if s.isPartition(f.Name) {
			return s.partitionRange(f, add, stats)
		}
		if stats == nil {
			return expr.Range{}, false
		}
		return statsRange(f.Type, s.PhysicalName(f), stats, add.DeletionVector != nil)
	}
}

// partitionRange is exact. Without statistics the row count is unknown; one row
// stands for all, which pruning cannot tell apart.
func (s *Snapshot) partitionRange(f *schema.Field, add *log.Add, stats *log.Stats) (expr.Range, bool) {
	raw, present := add.PartitionValues[s.PhysicalName(f)]
	if !present {
		return expr.Range{}, false
	}
	v, err := scan.ParsePartitionValue(f.Type, raw)
	if err != nil {
		return expr.Range{}, false
	}
	r := expr.Range{NumRows: 1, HasNullCount: true, Exact: true}
	if stats != nil && stats.NumRecords != nil {
		r.NumRows = *stats.NumRecords
	}
	if v == nil {
		r.NullCount = r.NumRows
		return r, true
	}
	r.Min, r.Max, r.HasMin, r.HasMax = v, v, true, true
	return r, true
}

// statsRange reads a column's statistics. A deletion vector makes bounds wide,
// whatever tightBounds says: rows they were taken from may be gone.
func statsRange(t schema.Type, physical string, st *log.Stats, deleted bool) (expr.Range, bool) {
	wide := deleted || !st.TightBounds
	r := expr.Range{MinInexact: wide, MaxInexact: wide}
	if n, ok := wholeNumber(st.NullCount[physical]); ok && st.NumRecords != nil {
		// In wide statistics only "none" and "all" say something.
		if !wide || n == 0 || n == *st.NumRecords {
			r.NullCount, r.NumRows, r.HasNullCount = n, *st.NumRecords, true
		}
	}
	if v, inexact, ok := statsValue(t, st.MinValues[physical], false); ok {
		r.Min, r.HasMin, r.MinInexact = v, true, wide || inexact
	}
	if v, inexact, ok := statsValue(t, st.MaxValues[physical], true); ok {
		r.Max, r.HasMax, r.MaxInexact = v, true, wide || inexact
	}
	return r, r.HasMin || r.HasMax || r.HasNullCount
}

// statsPrefix is the length in characters at which writers cut strings.
const statsPrefix = 32

// statsValue turns a value of the statistics JSON into a bound. It gives up on
// anything it is not sure of.
func statsValue(t schema.Type, raw any, isMax bool) (v any, inexact, ok bool) {
	switch t {
	case schema.Byte, schema.Short, schema.Integer, schema.Long:
		n, ok := wholeNumber(raw)
		return n, false, ok
	case schema.Float, schema.Double:
		num, isNum := raw.(json.Number)
		if !isNum {
			return nil, false, false
		}
		f, err := num.Float64()
		return f, false, err == nil && !math.IsNaN(f)
	case schema.Boolean:
		b, ok := raw.(bool)
		return b, false, ok
	case schema.String:
		return statsString(raw, isMax)
	case schema.Date:
		return statsDate(raw)
	case schema.Timestamp, schema.TimestampNTZ:
		return statsTimestamp(t, raw, isMax)
	}
	if d, isDecimal := t.(schema.Decimal); isDecimal {
		return statsDecimal(d, raw)
	}
	return nil, false, false
}

// statsString trusts a maximum of full length only where the writer has visibly
// raised it: a prefix that was cut and not raised is no upper bound.
func statsString(raw any, isMax bool) (any, bool, bool) {
	s, ok := raw.(string)
	if !ok {
		return nil, false, false
	}
	runes := []rune(s)
	if len(runes) < statsPrefix {
		return s, false, true
	}
	last := runes[len(runes)-1]
	raised := last == '\uffff' || last == '\ufffd' || last == '\U0010ffff'
	return s, true, !isMax || raised
}

func statsDate(raw any) (any, bool, bool) {
	s, ok := raw.(string)
	if !ok {
		return nil, false, false
	}
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return nil, false, false
	}
	return expr.Date(d.Unix() / 86400), false, true
}

// statsTimestamp reads ISO 8601. Writers cut to milliseconds downwards, so that
// a maximum is widened by one. A timestamp without a zone is unknown: it would
// depend on the writer's.
func statsTimestamp(t schema.Type, raw any, isMax bool) (any, bool, bool) {
	s, ok := raw.(string)
	if !ok {
		return nil, false, false
	}
	s = strings.Replace(s, " ", "T", 1)
	at, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", s)
	if err != nil && t == schema.TimestampNTZ {
		if at, err = time.Parse("2006-01-02T15:04:05.999999999", s); err != nil {
			at, err = time.Parse(time.DateOnly, s)
		}
	}
	if err != nil {
		return nil, false, false
	}
	micros := at.UnixMicro()
	if isMax {
		micros += 1000
	}
	return expr.Timestamp(micros), true, true
}

func statsDecimal(d schema.Decimal, raw any) (any, bool, bool) {
	num, ok := raw.(json.Number)
	if !ok {
		return nil, false, false
	}
	r, ok := new(big.Rat).SetString(num.String())
	if !ok || len(num.String()) > 100 { // no exponent bombs
		return nil, false, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)))
	if !r.IsInt() || r.Num().BitLen() > 126 {
		return nil, false, false
	}
	return expr.Decimal{V: decimal128.FromBigInt(r.Num()), Scale: d.Scale}, false, true
}

func wholeNumber(raw any) (int64, bool) {
	num, ok := raw.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := num.Int64()
	return n, err == nil
}
