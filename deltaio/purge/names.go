package purge

import (
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
)

// Steps of a run, the last part of their application ids.
const (
	StepColumn  = "column"  // on the table: adds the marker column
	StepMark    = "mark"    // on the table: flags the due rows
	StepDelete  = "delete"  // on the table: removes the archived rows
	StepArchive = "archive" // on the archive: appends the rows
	StepEvolve  = "evolve"  // on the archive: creates it or adds columns
	StepRestore = "restore" // on the table: puts archived rows back
)

// Columns that archiving adds behind the source's own.
const (
	RunIDColumn      = "run_id"
	ArchivedAtColumn = "archived_at"
)

const appPrefix = "lakewarden/"

// AppID is the application id of a run's step in txn actions.
func AppID(runID, step string) string { return appPrefix + runID + "/" + step }

// ParseAppID is the inverse of AppID; ok is false for ids of other programs.
func ParseAppID(appID string) (runID, step string, ok bool) {
	rest, found := strings.CutPrefix(appID, appPrefix)
	if !found {
		return "", "", false
	}
	runID, step, found = strings.Cut(rest, "/")
	if !found || runID == "" || step == "" || strings.Contains(step, "/") {
		return "", "", false
	}
	return runID, step, true
}

// stepOf makes the txn step of a run's attempt: attempt k is done at version
// 2k-1 and undone at 2k.
func stepOf(runID, step string, attempt int) deltaio.Step {
	return deltaio.Step{AppID: AppID(runID, step), Version: int64(2*attempt - 1)}
}

// filePrefix starts the name of every file that a run's step writes.
func filePrefix(runID, step string) string { return "lakewarden-" + runID + "-" + step + "-" }

// ownFile says whether a storage key names a file that the run wrote.
func ownFile(key, runID string) bool {
	base := key[strings.LastIndexByte(key, '/')+1:]
	return strings.HasPrefix(base, "lakewarden-"+runID+"-") && strings.HasSuffix(base, ".parquet")
}
