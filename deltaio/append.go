package deltaio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// AppendOptions say how rows are appended.
type AppendOptions struct {
	Base *Snapshot      // nil: the newest version
	Step *Step          // optional: exactly once
	Info map[string]any // further members of commitInfo
	// FilePrefix starts the data files' names: "part" when empty.
	FilePrefix string
	// Operation for commitInfo. "": WRITE with mode Append.
	Operation string
	// TargetBytes of a file. 0: as StageOptions.
	TargetBytes int64
}

// AppendResult is what was appended.
type AppendResult struct {
	CommitResult
	Files int
	Rows  int64
	Bytes int64
}

// appendRetries bounds how often staged rows are checked against a new schema.
const appendRetries = 5

// Append writes batches (columns by logical name; nullable, defaulted and
// generated ones may be missing) into data files and commits them as a blind
// append. Batches are released by their producer. A Step that is done already
// reads no batch. Without rows and without a Step nothing is committed.
func Append(ctx context.Context, t *Table, opt AppendOptions, batches iter.Seq2[arrow.Record, error]) (*AppendResult, error) {
	base := opt.Base
	if base == nil {
		var err error
		if base, err = t.Snapshot(ctx); err != nil {
			return nil, err
		}
	}
	if done, err := t.stepState(ctx, base, opt.Step); err != nil || done.Outcome != 0 {
		return countAppended(done, nil), err
	}
	prefix := opt.FilePrefix
	if prefix == "" {
		prefix = "part"
	}
	files, err := base.Stage(ctx, StageOptions{
		Name:        func() string { return prefix + "-" + t.env.NewID() + ".parquet" },
		TargetBytes: opt.TargetBytes,
	}, batches)
	if err != nil {
		return nil, err
	}
	res, err := t.commitStaged(ctx, base, opt, files)
	return countAppended(res, files), err
}

func (t *Table) commitStaged(ctx context.Context, staged *Snapshot, opt AppendOptions, files []*StagedFile) (CommitResult, error) {
	op := opt.Operation
	if op == "" {
		op = "WRITE"
	}
	var bytes, rows int64
	for _, f := range files {
		bytes, rows = bytes+f.Add.Size, rows+f.Rows
	}
	res, err := t.Commit(ctx, staged, CommitOptions{
		Operation: op, Parameters: map[string]any{"mode": "Append", "partitionBy": staged.partitionBy()},
		Metrics: map[string]any{"numFiles": len(files), "numOutputRows": rows, "numOutputBytes": bytes},
		Step:    opt.Step, Info: opt.Info, BlindAppend: true, Rebuild: appendRetries,
	}, func(_ context.Context, base *Snapshot, _ int) ([]log.Action, error) {
		if err := staged.stillFits(base); err != nil {
			return nil, err
		}
		actions := make([]log.Action, len(files))
		for i, f := range files {
			actions[i] = log.Action{Add: f.Add}
		}
		return actions, nil
	})
	t.discardUncommitted(ctx, files, res, err)
	return res, err
}

// partitionBy is the partition columns as commitInfo shows them.
func (s *Snapshot) partitionBy() []string { return append([]string{}, s.partition...) }

// discardUncommitted deletes staged files whose commit certainly did not happen.
func (t *Table) discardUncommitted(ctx context.Context, files []*StagedFile, res CommitResult, err error) {
	var uncertain *UncertainError
	switch {
	case errors.As(err, &uncertain):
		// The commit may stand.
	case err != nil || res.Outcome == Fenced || res.Outcome == NothingToDo:
		t.Discard(ctx, files)
	case res.Outcome == AlreadyDone && res.Actions != nil:
		// An earlier attempt of the step has committed; it may have used names of
		// ours only if it was us.
		mine := map[string]bool{}
		for _, a := range res.Actions {
			if a.Add != nil {
				mine[a.Add.Path] = true
			}
		}
		t.Discard(ctx, slices.DeleteFunc(slices.Clone(files), func(f *StagedFile) bool { return mine[f.Add.Path] }))
	}
}

// countAppended counts from the commit's own actions, so that an answer which is
// found again is the same as the first.
func countAppended(res CommitResult, files []*StagedFile) *AppendResult {
	out := &AppendResult{CommitResult: res}
	if res.Outcome == Committed {
		for _, f := range files {
			out.Files, out.Rows, out.Bytes = out.Files+1, out.Rows+f.Rows, out.Bytes+f.Add.Size
		}
		return out
	}
	for _, a := range res.Actions {
		if a.Add != nil {
			n, _ := a.Add.NumRecords() // our own files always tell
			out.Files, out.Rows, out.Bytes = out.Files+1, out.Rows+n, out.Bytes+a.Add.Size
		}
	}
	return out
}

// stillFits says whether rows staged for s may be committed on base: schema and
// rules are the same, except for new columns that accept null.
func (s *Snapshot) stillFits(base *Snapshot) error {
	changed := func(what string) error {
		return fmt.Errorf("%s: the %s changed between versions %d and %d: write the rows anew", s.table.URL(), what, s.Version(), base.Version())
	}
	if s.state.Metadata == base.state.Metadata {
		return nil
	}
	if !slices.Equal(s.partition, base.partition) || s.mapping != base.mapping {
		return changed("partitioning or column mapping")
	}
	for i := range s.schema.Fields {
		f := &s.schema.Fields[i]
		g, ok := base.schema.Field(f.Name)
		if !ok || g.Name != f.Name || !schema.Equal(f.Type, g.Type) || f.Nullable != g.Nullable || s.PhysicalName(f) != base.PhysicalName(g) {
			return changed("column " + f.Name)
		}
	}
	for _, g := range base.schema.Fields {
		if f, ok := s.schema.Field(g.Name); !ok && !g.Nullable || ok && f.Name != g.Name {
			return changed("column " + g.Name)
		}
	}
	if !maps.Equal(s.rules(), base.rules()) {
		return changed("constraints")
	}
	return nil
}

// rules are the constraints by name.
func (s *Snapshot) rules() map[string]string {
	out := map[string]string{}
	for i := range s.constraints() {
		c := &s.checks.list[i]
		out[c.String()] = c.text
	}
	return out
}
