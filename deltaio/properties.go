package deltaio

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Table properties that this package reads.
const (
	propAppendOnly       = "delta.appendOnly"
	propCDF              = "delta.enableChangeDataFeed"
	propMappingMode      = "delta.columnMapping.mode"
	propMaxColumnID      = "delta.columnMapping.maxColumnId"
	propDVs              = "delta.enableDeletionVectors"
	propRowTracking      = "delta.enableRowTracking"
	propRowTrackingOff   = "delta.rowTrackingSuspended"
	propRowIDColumn      = "delta.rowTracking.materializedRowIdColumnName"
	propRowVersionColumn = "delta.rowTracking.materializedRowCommitVersionColumnName"
	propICT              = "delta.enableInCommitTimestamps"
	propICTVersion       = "delta.inCommitTimestampEnablementVersion"
	propICTTimestamp     = "delta.inCommitTimestampEnablementTimestamp"
	propTypeWidening     = "delta.enableTypeWidening"
	propCheckpointEvery  = "delta.checkpointInterval"
	propCheckpointPolicy = "delta.checkpointPolicy"
	propFileRetention    = "delta.deletedFileRetentionDuration"
	propIsolation        = "delta.isolationLevel"
	propCodec            = "delta.parquet.compression.codec"
	propTargetFileSize   = "delta.targetFileSize"
	propIndexedCols      = "delta.dataSkippingNumIndexedCols"
	propStatsColumns     = "delta.dataSkippingStatsColumns"
	propConstraintPrefix = "delta.constraints."
	propFeaturePrefix    = "delta.feature."

	defaultFileRetention   = 7 * 24 * time.Hour
	defaultCheckpointEvery = 10
	defaultTargetFileSize  = 256 << 20
	defaultIndexedCols     = 32
)

// flag reads a boolean property; anything but true is false, as in Spark.
func (s *Snapshot) flag(key string) bool {
	v, _ := s.Property(key)
	return strings.EqualFold(strings.TrimSpace(v), "true")
}

// integer reads a whole number; a value that is none is an error, not a default:
// guessing could widen what a vacuum deletes or what statistics claim.
func (s *Snapshot) integer(key string, missing int64) (int64, error) {
	v, ok := s.Property(key)
	if !ok {
		return missing, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: property %s = %q is not a whole number", s.table.URL(), key, v)
	}
	return n, nil
}

// FileRetention is delta.deletedFileRetentionDuration: how long the files of
// older versions stay readable. Absent: one week.
func (s *Snapshot) FileRetention() (time.Duration, error) {
	d, err := s.state.Metadata.Interval(propFileRetention, defaultFileRetention)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.table.URL(), err)
	}
	return d, nil
}

// ChangeFeed says whether the change data feed is on.
func (s *Snapshot) ChangeFeed() bool { return s.flag(propCDF) && s.supports("changeDataFeed") }

func (s *Snapshot) rowTracking() bool {
	return s.supports("rowTracking") && !s.flag(propRowTrackingOff)
}

func (s *Snapshot) serializable() bool {
	v, _ := s.Property(propIsolation)
	return strings.EqualFold(v, "Serializable")
}
