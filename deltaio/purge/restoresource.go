package purge

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// restoreSource are the archived rows as the table wants them.
type restoreSource struct {
	snap    *deltaio.Snapshot
	where   *expr.Expr
	columns []string          // of the archive
	names   map[string]string // the table's spelling of each
	content *content          // over the table's columns, marker excluded
}

// source matches the archive's columns to the table's.
func (r *restoring) source(ctx context.Context, snap *deltaio.Snapshot) (*restoreSource, error) {
	archived, err := r.archive.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	mine, _, err := runPredicate(archived, r.opt.PurgeRunID)
	if err != nil {
		return nil, err
	}
	marker, err := markerIn(snap, r.opt.Column)
	if err != nil {
		return nil, &CriteriaError{Table: r.t.URL(), Part: "marker column", Err: err}
	}
	s := &restoreSource{snap: archived, where: mine, names: map[string]string{}, content: &content{schema: &schema.Struct{}}}
	if r.opt.Where != nil {
		s.where = expr.And(mine, r.opt.Where)
	}
	for _, f := range archived.Schema().Fields {
		own, ok := snap.Schema().Field(f.Name)
		switch {
		case f.Name == RunIDColumn || f.Name == ArchivedAtColumn:
			continue
		case !ok:
			return nil, &ArchiveError{Archive: r.archive.URL(), Source: r.t.URL(), Column: f.Name,
				Reason: "the table no longer has it", Do: "add the column to the table, then restore"}
		case !schema.Equal(own.Type, f.Type):
			return nil, &ArchiveError{Archive: r.archive.URL(), Source: r.t.URL(), Column: f.Name,
				Reason: fmt.Sprintf("it is %s in the archive and %s in the table", f.Type, own.Type), Do: "bring the types together, then restore"}
		case own.Name == marker:
			continue
		}
		s.columns = append(s.columns, f.Name)
		s.names[f.Name] = own.Name
	}
	for _, f := range snap.Schema().Fields { // in the table's order
		if slices.ContainsFunc(s.columns, func(c string) bool { return s.names[c] == f.Name }) {
			s.content.schema.Fields = append(s.content.schema.Fields, f)
			s.content.columns = append(s.content.columns, f.Name)
		}
	}
	s.content.hasher = rowhash.New(s.content.schema)
	return s, nil
}

// rows yields the archived rows under the table's names. The consumer releases
// them.
func (s *restoreSource) rows(ctx context.Context, ec expr.Context) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		opt := deltaio.ScanOptions{Columns: s.columns, Where: s.where, Context: ec}
		for rec, err := range s.snap.Scan(ctx, opt) {
			if err != nil {
				yield(nil, err)
				return
			}
			named := renameColumns(rec, s.names)
			rec.Release()
			if !yield(named, nil) {
				return
			}
		}
	}
}
