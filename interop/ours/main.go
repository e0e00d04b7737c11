// Command ours is lakewarden's side of the interop checks: a process that is
// told on standard input what to do with a table, one JSON object a line, and
// answers each with one line. Rows travel as Arrow IPC files. It calls deltaio
// and deltaio/purge as the activities do and judges nothing: that is done
// outside, with the eyes of other engines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// request is a line of input. Op says which of the members count.
type request struct {
	Op    string `json:"op"`
	Table string `json:"table"` // directory

	// Tables.
	Schema      json.RawMessage   `json:"schema"` // as in metaData.schemaString
	PartitionBy []string          `json:"partition_by"`
	Properties  map[string]string `json:"properties"`
	Arrow       string            `json:"arrow"` // file to read rows from, or to write them to
	Name        string            `json:"name"`  // of a column
	Type        string            `json:"type"`
	Version     *int64            `json:"version"`
	// AheadHours sets the clock of a vacuum forward; below the floor it goes only
	// with Override.
	AheadHours float64 `json:"ahead_hours"`
	Retention  float64 `json:"retention_hours"`
	Override   string  `json:"override"`

	// Purges.
	Run     string   `json:"run"`
	Archive string   `json:"archive"` // directory
	Folder  string   `json:"folder"`  // of all runs
	Where   string   `json:"where"`
	Column  string   `json:"column"` // marker; empty: none
	Keys    []string `json:"keys"`
	Attempt int      `json:"attempt"`
	Record  string   `json:"record"`   // of the archived rows
	Plan    string   `json:"plan"`     // record
	PurgeOf string   `json:"purge_of"` // run whose rows come back
}

// answer is a line of output: a result, or an error.
type answer struct {
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
	// Unsupported is the feature for which the table was refused.
	Unsupported string `json:"unsupported,omitempty"`
}

type operation func(ctx context.Context, r *request) (any, error)

var operations = map[string]operation{
	"create":         createTable,
	"append":         appendRows,
	"add_column":     addColumn,
	"rows":           readRows,
	"detail":         detail,
	"history":        history,
	"restore":        restoreVersion,
	"vacuum":         vacuum,
	"checkpoint":     checkpoint,
	"plan":           plan,
	"mark":           mark,
	"unmark":         unmark,
	"archive":        archive,
	"unarchive":      unarchive,
	"verify_archive": verifyArchive,
	"delete":         deleteRows,
	"verify":         verify,
	"purge":          purgeAll,
	"undo":           undoRun,
	"restore_rows":   restoreRows,
}

func main() {
	if err := serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return fmt.Errorf("a line of input is no request: %w", err)
		}
		if err := out.Encode(handle(ctx, &r)); err != nil {
			return err
		}
	}
	return in.Err()
}

func handle(ctx context.Context, r *request) answer {
	do, ok := operations[r.Op]
	if !ok {
		return answer{Error: fmt.Sprintf("no operation %q", r.Op)}
	}
	result, err := do(ctx, r)
	if err != nil {
		a := answer{Error: err.Error()}
		var un *deltaio.UnsupportedError
		var forbidden *purge.ArchiveError
		switch {
		case errors.As(err, &un):
			a.Unsupported = un.Feature
		case errors.As(err, &forbidden):
			a.Unsupported = "archive"
		}
		return a
	}
	return answer{Result: result}
}

func env() deltaio.Env { return deltaio.Env{Now: time.Now, Parallel: 2} }
