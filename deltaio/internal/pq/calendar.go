package pq

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Spark wrote old dates in the hybrid Julian calendar once, and can still be
// told to. Which calendar a file is in stands in its key-value metadata, so
// these keys, alone of all, go from a source to its outputs: without them the
// same bytes would be read as other days.
const (
	keySparkVersion  = "org.apache.spark.version"
	keySparkZone     = "org.apache.spark.timeZone"
	keyLegacyDates   = "org.apache.spark.legacyDateTime"
	keyLegacyInt96   = "org.apache.spark.legacyINT96"
	maxCalendarValue = 64 // no such value is longer; more would be foreign text
)

// Values before these differ, or may differ by a zone's local mean time,
// between the calendars.
const (
	firstGregorianDay = -141_427               // 1582-10-15
	firstSureMicros   = -2_208_988_800_000_000 // 1900-01-01T00:00Z
)

func (s *source) keyValue(key string) (string, bool) {
	for _, kv := range s.meta.KeyValues {
		if kv.Key == key {
			return kv.Value.V, true
		}
	}
	return "", false
}

// calendarKeys are the metadata entries that outputs keep.
func (s *source) calendarKeys() []keyValue {
	var out []keyValue
	for _, kv := range s.meta.KeyValues {
		switch kv.Key {
		case keySparkVersion, keySparkZone, keyLegacyDates, keyLegacyInt96:
			if len(kv.Value.V) <= maxCalendarValue {
				out = append(out, kv)
			}
		}
	}
	return out
}

// legacyDates says whether Spark reads dates and INT64 timestamps of the file in
// the legacy calendar; it compares versions as text, and so does this.
func (s *source) legacyDates() bool { return s.legacy(keyLegacyDates, "3.0.0") }

// legacyInt96 says the same of INT96 timestamps.
func (s *source) legacyInt96() bool { return s.legacy(keyLegacyInt96, "3.1.0") }

func (s *source) legacy(key, since string) bool {
	version, ok := s.keyValue(keySparkVersion)
	if !ok {
		return false
	}
	_, marked := s.keyValue(key)
	return marked || version < since
}

// ambiguous says whether a number of days or microseconds is another day in the
// legacy calendar.
func ambiguous(t schema.Type, v int64) bool {
	switch t {
	case schema.Date:
		return v < firstGregorianDay
	case schema.Timestamp, schema.TimestampNTZ:
		return v < firstSureMicros
	}
	return false
}
