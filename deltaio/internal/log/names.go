package log

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of the log, all of them keys below the table's root.
const (
	logDir     = "_delta_log/"
	sidecarDir = logDir + "_sidecars/"
	hintKey    = logDir + "_last_checkpoint"
)

// CommitKey is the storage key of a version's commit.
func CommitKey(version int64) string { return fmt.Sprintf("%s%020d.json", logDir, version) }

// classicKey is the storage key of a version's classic checkpoint.
func classicKey(version int64) string {
	return fmt.Sprintf("%s%020d.checkpoint.parquet", logDir, version)
}

type fileKind int

const (
	kindOther       fileKind = iota // not ours to read, or to delete
	kindCommit                      // N.json
	kindClassic                     // N.checkpoint.parquet
	kindPart                        // N.checkpoint.O.P.parquet
	kindUUIDParquet                 // N.checkpoint.U.parquet
	kindUUIDJSON                    // N.checkpoint.U.json
	kindCompacted                   // N.M.compacted.json
	kindChecksum                    // N.crc
)

// A logName is what the name of a file in _delta_log says.
type logName struct {
	kind        fileKind
	version     int64
	part, parts int
}

// parseName reads a name below _delta_log. Names that only resemble one of the
// protocol's are kindOther.
func parseName(name string) logName {
	version, rest, ok := strings.Cut(name, ".")
	v, isVersion := digits(version, 20)
	if !ok || !isVersion {
		return logName{}
	}
	n := logName{version: v}
	switch {
	case rest == "json":
		n.kind = kindCommit
	case rest == "crc":
		n.kind = kindChecksum
	case rest == "checkpoint.parquet":
		n.kind = kindClassic
	case strings.HasPrefix(rest, "checkpoint."):
		n.checkpoint(strings.Split(rest, ".")[1:])
	case strings.HasSuffix(rest, ".compacted.json"):
		if _, ok := digits(strings.TrimSuffix(rest, ".compacted.json"), 20); ok {
			n.kind = kindCompacted
		}
	}
	return n
}

// checkpoint reads what stands behind "N.checkpoint.".
func (n *logName) checkpoint(rest []string) {
	switch {
	case len(rest) == 3 && rest[2] == "parquet":
		o, ok1 := digits(rest[0], 10)
		p, ok2 := digits(rest[1], 10)
		if ok1 && ok2 && o >= 1 && o <= p && p <= 1<<20 {
			n.kind, n.part, n.parts = kindPart, int(o), int(p)
		}
	case len(rest) == 2 && rest[0] != "" && rest[1] == "parquet":
		n.kind = kindUUIDParquet
	case len(rest) == 2 && rest[0] != "" && rest[1] == "json":
		n.kind = kindUUIDJSON
	}
}

// digits reads a number padded to a width.
func digits(s string, width int) (int64, bool) {
	if len(s) != width {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}
