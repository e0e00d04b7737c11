package log

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Table properties this package acts on, with Delta's defaults.
const (
	propTombstoneRetention = "delta.deletedFileRetentionDuration"
	propLogRetention       = "delta.logRetentionDuration"
	propLogCleanup         = "delta.enableExpiredLogCleanup"
	propStatsAsJSON        = "delta.checkpoint.writeStatsAsJson"
	propStatsAsStruct      = "delta.checkpoint.writeStatsAsStruct"
	propIndexedColumns     = "delta.dataSkippingNumIndexedCols"
	propCodec              = "delta.parquet.compression.codec"
	propMapping            = "delta.columnMapping.mode"
	propICT                = "delta.enableInCommitTimestamps"
	propICTVersion         = "delta.inCommitTimestampEnablementVersion"
	propICTTimestamp       = "delta.inCommitTimestampEnablementTimestamp"

	defaultTombstoneRetention = 7 * 24 * time.Hour
	defaultLogRetention       = 30 * 24 * time.Hour
)

// Interval reads a duration property of the table.
func (m *Metadata) Interval(property string, otherwise time.Duration) (time.Duration, error) {
	text, ok := m.Configuration[property]
	if !ok {
		return otherwise, nil
	}
	d, err := ParseInterval(text)
	if err != nil {
		return 0, fmt.Errorf("table property %s: %w", property, err)
	}
	return d, nil
}

// enabled reads a boolean property.
func (m *Metadata) enabled(property string, otherwise bool) bool {
	v, ok := m.Configuration[property]
	if !ok {
		return otherwise
	}
	return strings.EqualFold(strings.TrimSpace(v), "true")
}

var intervalUnits = map[string]time.Duration{
	"week": 7 * 24 * time.Hour, "day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute,
	"second": time.Second, "millisecond": time.Millisecond, "microsecond": time.Microsecond,
}

// ParseInterval reads Spark's interval form, such as "interval 30 days" or
// "1 week 12 hours". Months and years have no fixed length and are refused.
// What exceeds the range of a Duration becomes the greatest one: a longer
// retention than anyone lives.
func ParseInterval(text string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return 0, fmt.Errorf("%q is no interval: want such as \"interval 30 days\"", text)
	}
	var total float64
	var exact time.Duration
	for i := 0; i < len(words); i += 2 {
		d, approx, err := intervalPart(words[i], words[i+1])
		if err != nil {
			return 0, fmt.Errorf("%q is no interval: %w", text, err)
		}
		exact += d
		total += approx
	}
	switch {
	case total < 0:
		return 0, fmt.Errorf("%q is no interval: it is negative", text)
	case total >= math.MaxInt64:
		return math.MaxInt64, nil
	}
	return exact, nil
}

// intervalPart gives number times unit, exactly and as a float that does not
// overflow.
func intervalPart(number, unit string) (time.Duration, float64, error) {
	size, ok := intervalUnits[strings.TrimSuffix(unit, "s")]
	if !ok {
		return 0, 0, fmt.Errorf("unit %q is not one of weeks, days, hours, minutes, seconds, milliseconds, microseconds", unit)
	}
	if whole, frac, ok := strings.Cut(number, "."); ok && size == time.Second {
		return fractionalSeconds(whole, frac)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no whole number", number)
	}
	return time.Duration(n) * size, float64(n) * float64(size), nil
}

func fractionalSeconds(whole, frac string) (time.Duration, float64, error) {
	d, err := time.ParseDuration(whole + "." + frac + "s")
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no number of seconds", whole+"."+frac)
	}
	return d, float64(d), nil
}

// Schema parses the table's schema as the property delta.columnMapping.mode
// says; State.Schema also asks the protocol.
func (m *Metadata) Schema() (*schema.Struct, error) {
	mode := m.Configuration[propMapping]
	return m.schema(mode == "name" || mode == "id")
}

// Schema parses the table's schema. Column mapping metadata is left out where
// the table does not use it, so that Field.PhysicalName is right.
func (st *State) Schema() (*schema.Struct, error) {
	return st.Metadata.schema(st.MappingMode() != "none")
}

func (m *Metadata) schema(mapped bool) (*schema.Struct, error) {
	s, err := schema.Parse(m.SchemaString)
	if errors.Is(err, schema.ErrUnknownType) {
		return nil, fmt.Errorf("schema of table %s: %w", m.ID, err)
	}
	if err != nil {
		return nil, &CorruptError{Reason: "schema of table " + m.ID, Err: err}
	}
	if !mapped {
		stripMapping(s)
	}
	return s, nil
}

func stripMapping(t schema.Type) {
	switch x := t.(type) {
	case *schema.Struct:
		for i := range x.Fields {
			f := &x.Fields[i]
			delete(f.Metadata, schema.KeyPhysicalName)
			delete(f.Metadata, schema.KeyColumnID)
			delete(f.Metadata, schema.KeyNestedIDs)
			stripMapping(f.Type)
		}
	case *schema.Array:
		stripMapping(x.Element)
	case *schema.Map:
		stripMapping(x.Key)
		stripMapping(x.Value)
	}
}

// MappingMode is none, name or id: the property where the protocol supports
// column mapping.
func (st *State) MappingMode() string {
	p := st.Protocol
	supported := p.MinReaderVersion == 2 || p.MinReaderVersion >= 3 && p.HasReaderFeature("columnMapping")
	mode := strings.ToLower(st.Metadata.Configuration[propMapping])
	if supported && (mode == "name" || mode == "id") {
		return mode
	}
	return "none"
}

// InCommitTimestamps says whether commits of this table must carry one.
func (st *State) InCommitTimestamps() bool {
	supported := st.Protocol.HasWriterFeature("inCommitTimestamp") ||
		st.Protocol.HasWriterFeature("inCommitTimestamp-preview")
	return supported && (st.Metadata.enabled(propICT, false) || st.Metadata.enabled(propICT+"-preview", false))
}

// YoungTombstones are those that have not expired by
// delta.deletedFileRetentionDuration. A tombstone without a time is expired.
func (st *State) YoungTombstones(nowMillis int64) ([]*Remove, error) {
	keep, err := st.Metadata.Interval(propTombstoneRetention, defaultTombstoneRetention)
	if err != nil {
		return nil, err
	}
	oldest := nowMillis - keep.Milliseconds()
	var young []*Remove
	for _, r := range st.Tombstones {
		if r.DeletionTimestamp != nil && *r.DeletionTimestamp >= oldest { // exactly as old is still kept: vacuum judges so
			young = append(young, r)
		}
	}
	return young, nil
}
