package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
)

func TestFail_eachErrorOfTheCore_hasItsTypeHoweverDeepItLies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		kind  string
		retry bool
	}{
		"feature":            {&deltaio.UnsupportedError{Feature: "x"}, ErrorUnsupported, false},
		"conflict":           {&deltaio.ConflictError{}, ErrorConflict, true},
		"foreign flags":      {&purge.FlagsError{}, ErrorRefused, false},
		"archive":            {&purge.ArchiveError{}, ErrorRefused, false},
		"archive changed":    {&purge.ArchiveChangedError{}, ErrorRefused, false},
		"criteria":           {&purge.CriteriaError{Err: errors.New("x")}, ErrorRefused, false},
		"syntax":             {&expr.SyntaxError{}, ErrorRefused, false},
		"bind":               {&expr.BindError{}, ErrorRefused, false},
		"no root":            {lake.ErrNoRoot, ErrorRefused, false},
		"no table":           {deltaio.ErrNotATable, ErrorRefused, false},
		"constraint":         {&deltaio.ConstraintError{}, ErrorHalt, false},
		"invalid actions":    {&deltaio.InvalidActionsError{}, ErrorHalt, false},
		"lost file":          {&deltaio.LostFileError{Err: storage.ErrNotExist}, ErrorHalt, false},
		"lost record":        {&purge.LostRecordError{Err: storage.ErrNotExist}, ErrorHalt, false},
		"corruption":         {&purge.CorruptionError{}, ErrorHalt, false},
		"no version":         {deltaio.ErrNoVersion, ErrorUnavailable, true}, // the log may be in the middle of its cleanup
		"changed record":     {evidence.ErrDigest, ErrorHalt, false},
		"no plan":            {evidence.ErrNoPlan, ErrorHalt, false},
		"no record":          {json.Unmarshal([]byte("{"), &struct{}{}), ErrorHalt, false},
		"another record":     {json.Unmarshal([]byte(`[]`), &struct{}{}), ErrorHalt, false},
		"no audit table":     {evidence.ErrAuditTable, ErrorHalt, false},
		"audit rows lost":    {auditlog.ErrRowsLost, ErrorHalt, false},
		"store without link": {storage.ErrUnsupported, ErrorUnsupported, false},
		"wrong key":          {storage.ErrInvalidKey, ErrorHalt, false},
		"full disk":          {storage.ErrNoSpace, ErrorUnavailable, true},
		"no rights":          {storage.ErrPermission, ErrorUnavailable, true},
		"anything else":      {errors.New("reset by peer"), ErrorUnavailable, true},
		"conflict of a sort": {errors.Join(errors.New("x"), &deltaio.ConflictError{}), ErrorConflict, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{c.err, fmt.Errorf("run r-1: %w", fmt.Errorf("table a.b: %w", c.err))} {
				kind, retry := classify(err)
				require.Equal(t, c.kind, kind)
				require.Equal(t, c.retry, retry)

				var app *temporal.ApplicationError
				require.ErrorAs(t, fail(t.Context(), err), &app)
				require.Equal(t, c.kind, app.Type())
				require.Equal(t, !c.retry, app.NonRetryable())
				require.Equal(t, err.Error(), app.Message())
			}
		})
	}
}

func TestFail_aLongMessage_isCutAndKeepsBothEnds(t *testing.T) {
	t.Parallel()
	long := "version 7: " + strings.Repeat("é, ", 100_000) + "bring it back from a backup"
	for _, err := range []error{fail(t.Context(), errors.New(long)), halt("%s", long), refused("%s", long)} {
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Less(t, len(app.Message()), maxMessage+20)
		require.Contains(t, app.Message(), "version 7: ")
		require.Contains(t, app.Message(), "bring it back")
		require.True(t, utf8.ValidString(app.Message()))
	}
}

// What the core says of a damaged log goes on to people: where, and what to do.
func TestFail_aDamagedLog_saysWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	table := s.withVendas()
	require.NoError(t, table.Store().Put(t.Context(), "_delta_log/00000000000000000001.json", []byte(`{"add": broken`)))
	_, err := table.Snapshot(t.Context())
	var app *temporal.ApplicationError
	require.ErrorAs(t, fail(t.Context(), err), &app)
	require.Equal(t, ErrorHalt, app.Type())
	require.Contains(t, app.Message(), "_delta_log/00000000000000000001.json")
	require.Contains(t, app.Message(), "backup")
}

func TestFail_whatIsSaidAlready_staysAsItIs(t *testing.T) {
	t.Parallel()
	require.NoError(t, fail(t.Context(), nil))
	for _, err := range []error{refused("no"), halt("no"), fenced(StepMark, Run{RunID: "r"}), fmt.Errorf("undo: %w", halt("no"))} {
		require.Equal(t, err, fail(t.Context(), err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, context.Canceled, fail(ctx, fmt.Errorf("read: %w", context.Canceled)), "a cancel is no failure of the step")
	require.ErrorContains(t, fail(ctx, refused("no")), "no", "what was decided before it counts")
}
