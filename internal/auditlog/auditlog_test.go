package auditlog_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

var at = time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)

func env() deltaio.Env { return deltaio.Env{Now: func() time.Time { return at }, Engine: "test"} }

func row(run string) evidence.AuditRow {
	return evidence.AuditRow{RunID: run, TargetTable: "bronze.vendas", Criteria: "TRUE", ExecTime: at, Status: evidence.StatusCompleted}
}

func TestAppend_writersAtOnce_neverForkTheChain(t *testing.T) {
	t.Parallel()
	const writers, each = 4, 5
	s := storage.NewMemory()
	var all sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			log := auditlog.New(s, env()) // a worker of its own
			for i := range each {
				_, err := log.Append(context.Background(), row(fmt.Sprintf("r-%d-%d", w, i)))
				errs <- err
			}
		}()
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	rows, err := auditlog.New(s, env()).Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, writers*each)
	r := evidence.Verify(rows, "")
	require.True(t, r.OK(), "%v", r.Findings)
	require.Equal(t, writers*each, r.Sealed)
}

func TestAppend_overtakenBetweenReadingAndWriting_sealsAnew(t *testing.T) {
	t.Parallel()
	inner := storage.NewMemory()
	log := auditlog.New(inner, env())
	_, err := log.Append(t.Context(), row("r-0"))
	require.NoError(t, err)

	fault := storage.NewFault(inner)
	overtaken := false
	fault.Fail(func(op storage.Op) error {
		if overtaken || op.Kind != storage.OpPutIfAbsent || !strings.HasPrefix(op.Key, "_delta_log/") {
			return nil
		}
		overtaken = true
		_, err := log.Append(context.Background(), row("r-other"))
		return err
	})
	done, err := auditlog.New(fault, env()).Append(t.Context(), row("r-1"))
	require.NoError(t, err)
	require.True(t, overtaken)
	rows, err := log.Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 3)
	r := evidence.Verify(rows, done.Row.RowHash)
	require.True(t, r.OK(), "%v", r.Findings)
	require.Equal(t, done.Row.RowHash, r.Head, "the late row follows the other")
}

func TestAppend_aRepeatedRow_isWrittenOnce(t *testing.T) {
	t.Parallel()
	log := auditlog.New(storage.NewMemory(), env())
	first, err := log.Append(t.Context(), row("r-1"))
	require.NoError(t, err)
	require.False(t, first.Existed)
	again, err := log.Append(t.Context(), row("r-1"))
	require.NoError(t, err)
	require.True(t, again.Existed)
	require.Equal(t, first.Row, again.Row)

	later := row("r-1")
	later.Status = evidence.StatusErased
	_, err = log.Append(t.Context(), later)
	require.NoError(t, err)
	rows, err := log.Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 2, "another status is another row")
}

// older is the shape that tables had before they were sealed.
func older() *schema.Struct {
	return &schema.Struct{Fields: evidence.AuditSchema().Fields[:7]}
}

func TestAppend_toATableOfTheOlderShape_adoptsIt(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	table, err := deltaio.Create(t.Context(), s, env(), deltaio.CreateOptions{Schema: older()})
	require.NoError(t, err)
	rec, err := evidence.AuditRecord(older(), []evidence.AuditRow{row("r-old")})
	require.NoError(t, err)
	defer rec.Release()
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, one(rec))
	require.NoError(t, err)

	log := auditlog.New(s, env())
	require.NoError(t, log.Check(t.Context()))
	_, err = log.Append(t.Context(), row("r-new"))
	require.NoError(t, err)
	rows, err := log.Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 2)
	r := evidence.Verify(rows, "")
	require.True(t, r.OK(), "%v", r.Findings)
	require.Equal(t, 1, r.Sealed, "the row from before is part of the genesis")

	for i := range rows { // and an edit of it shows
		if rows[i].RunID == "r-old" {
			rows[i].Criteria = "FALSE"
		}
	}
	require.False(t, evidence.Verify(rows, "").OK())
}

func one(rec arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) { yield(rec, nil) }
}

func TestCheck_saysWhetherRowsCanBeAppended(t *testing.T) {
	t.Parallel()
	change := func(f func(*schema.Struct)) *schema.Struct {
		s := older()
		s.Fields = append([]schema.Field{}, s.Fields...)
		f(s)
		return s
	}
	for name, c := range map[string]struct {
		shape *schema.Struct
		want  string
	}{
		"ours":                {evidence.AuditSchema(), ""},
		"older":               {older(), ""},
		"a column too little": {change(func(s *schema.Struct) { s.Fields = s.Fields[1:] }), "column run_id is missing"},
		"another type":        {change(func(s *schema.Struct) { s.Fields[4].Type = schema.String }), "column rows_marked is string"},
		"what may be unknown": {change(func(s *schema.Struct) { s.Fields[5].Nullable = false }), "rows_deleted is NOT NULL"},
		"a column of others": {change(func(s *schema.Struct) {
			s.Fields = append(s.Fields, schema.Field{Name: "team", Type: schema.String})
		}), "column team is NOT NULL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storage.NewMemory()
			_, err := deltaio.Create(t.Context(), s, env(), deltaio.CreateOptions{Schema: c.shape})
			require.NoError(t, err)
			log := auditlog.New(s, env())
			err = log.Check(t.Context())
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			_, err = log.Append(t.Context(), row("r-1"))
			require.ErrorContains(t, err, c.want, "nothing is written to it")
		})
	}
	require.NoError(t, auditlog.New(storage.NewMemory(), env()).Check(t.Context()), "a missing table is created")
}
