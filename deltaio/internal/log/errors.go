package log

import (
	"errors"
	"fmt"
)

// Sentinels of reading the log, wrapped with the table's address.
var (
	// ErrNoTable: _delta_log holds neither a commit nor a checkpoint.
	ErrNoTable = errors.New("not a Delta table: no commit in _delta_log")
	// ErrTimeBeforeFirst: the time asked for lies before the oldest version that
	// the log can still give.
	ErrTimeBeforeFirst = errors.New("time lies before the oldest version in the log")
)

// VersionError: the log cannot give the version asked for.
type VersionError struct {
	Version       int64
	First, Latest int64 // what the log can give
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("version %d is not in the log: it holds versions %d to %d", e.Version, e.First, e.Latest)
}

// CorruptError: an object of the log is damaged or contradicts another one.
// Retrying does not help.
type CorruptError struct {
	Key    string // storage key, "" when the log as a whole is meant
	Reason string
	Err    error // may be nil
}

func (e *CorruptError) Error() string {
	s := "Delta log is damaged: "
	if e.Key != "" {
		s += e.Key + ": "
	}
	s += e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// ProtocolError: the log of the table cannot be read by what lies in storage:
// its protocol is too new, or its commits are kept elsewhere.
type ProtocolError struct {
	MinReaderVersion int32
	Feature          string // the table feature that forbids it, "" when the version does
	Reason           string
}

func (e *ProtocolError) Error() string {
	if e.Feature != "" {
		return fmt.Sprintf("table feature %s: %s", e.Feature, e.Reason)
	}
	return fmt.Sprintf("minReaderVersion %d: %s", e.MinReaderVersion, e.Reason)
}

// AbsolutePathError: a path of the log leads outside the table's root, or may.
type AbsolutePathError struct{ Path string }

func (e *AbsolutePathError) Error() string {
	return fmt.Sprintf("path %q is absolute: it may lie outside the table's root (a shallow clone or a shortcut)", e.Path)
}
