package activities

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/spec"
)

// hold registers what a restore of run r-old holds.
func (s *site) hold(restoreID, where string, until time.Time, keys ...string) {
	s.t.Helper()
	in := RestoreRowsInput{
		RestoreID: restoreID, Now: today,
		Request: spec.RestoreRequest{RunID: "r-old", Where: where, Keys: keys, Reason: "x", HoldUntil: until.Format(time.DateOnly)},
	}
	found := &FindRunResult{Run: Run{RunID: "r-old", Table: vendas}, ArchiveTable: archive}
	require.NoError(s.t, s.writeHold(s.t.Context(), in, found, until, s.env()))
}

// held is a site whose archive holds the ids 1 to 10 of run r-old.
func held(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.withVendas()
	s.began("r-old", old)
	return s
}

func TestRestoreHolds_withoutARegistry_holdNothing(t *testing.T) {
	t.Parallel()
	keys, err := newSite(t).restoreHolds(t.Context(), vendas, newSite(t).env())
	require.NoError(t, err)
	require.Nil(t, keys)
}

func TestRestoreHolds_countThroughTheirLastDay(t *testing.T) {
	t.Parallel()
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		until time.Time
		keys  int
	}{
		"ended yesterday":   {day.AddDate(0, 0, -1), 0},
		"last day is today": {day, 3},
		"goes on":           {day.AddDate(1, 0, 0), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := held(t)
			s.hold("h-1", "id <= 3", c.until, "id")
			keys, err := s.restoreHolds(t.Context(), vendas, s.env())
			require.NoError(t, err)
			if c.keys == 0 {
				require.Nil(t, keys)
				return
			}
			require.Equal(t, c.keys, keys.Len())
			require.Equal(t, []string{"id"}, keys.Columns())
		})
	}
}

func TestRestoreHolds_twoUnite_andARepeatedOneIsWrittenOnce(t *testing.T) {
	t.Parallel()
	s := held(t)
	next := today.AddDate(1, 0, 0)
	s.hold("h-1", "id <= 3", next, "id")
	s.hold("h-1", "id <= 3", next, "id")
	s.hold("h-2", "id > 2", next, "id") // 3 is in both
	s.hold("h-3", "id = 9", today.AddDate(0, 0, -1), "id")
	require.EqualValues(t, 3, s.rows(holdsTable, "TRUE"))
	keys, err := s.restoreHolds(t.Context(), vendas, s.env())
	require.NoError(t, err)
	require.Equal(t, 10, keys.Len())

	other, err := s.restoreHolds(t.Context(), "bronze.other", s.env())
	require.NoError(t, err)
	require.Nil(t, other, "holds are of one table")

	s.hold("h-4", "", next, "id")
	keys, err = s.restoreHolds(t.Context(), vendas, s.env())
	require.NoError(t, err)
	require.Equal(t, 10, keys.Len(), "without a predicate the whole run is held")
}

func TestRestoreHolds_keepRowsFromAPlan(t *testing.T) {
	t.Parallel()
	s := held(t)
	s.Runs = states{"w-old": true}
	_, _, err := s.settle("r-new")
	require.NoError(t, err) // takes r-old's flags and archived rows back
	s.began("r-2", old)
	in := RestoreRowsInput{RestoreID: "h-1", Now: today, Request: spec.RestoreRequest{RunID: "r-2", Where: "id <= 4", Keys: []string{"id"}}}
	require.NoError(t, s.registerHold(t.Context(), in, &FindRunResult{Run: Run{RunID: "r-2", Table: vendas}, ArchiveTable: archive}, today.AddDate(1, 0, 0), s.env()))
	c, err := s.criteria(t.Context(), &frozenPlan{Policy: spec.RetentionPolicy{Table: vendas}, Now: today, Zone: "UTC", Match: "id <= 10"}, s.env())
	require.NoError(t, err)
	require.Equal(t, 4, c.HoldKeys.Len())
}

func TestRestoreHolds_ofOtherKeyColumns_refuse(t *testing.T) {
	t.Parallel()
	s := held(t)
	next := today.AddDate(1, 0, 0)
	s.hold("h-1", "", next, "id")
	s.hold("h-2", "", next, "customer")
	_, err := s.restoreHolds(t.Context(), vendas, s.env())
	var app *temporal.ApplicationError
	require.ErrorAs(t, fail(t.Context(), err), &app)
	require.Equal(t, ErrorRefused, app.Type(), "no retry mends it")
	require.ErrorContains(t, err, "use the same key columns in all holds of the table")
}

func TestRegisterHold_byOtherKeyColumns_isRefusedAndHoldsNothing(t *testing.T) {
	t.Parallel()
	s := held(t)
	next := today.AddDate(1, 0, 0)
	s.hold("h-1", "", next, "id")
	register := func(id, table string, keys ...string) error {
		in := RestoreRowsInput{RestoreID: id, Now: today, Request: spec.RestoreRequest{RunID: "r-old", Keys: keys}}
		return s.registerHold(t.Context(), in, &FindRunResult{Run: Run{RunID: "r-old", Table: table}, ArchiveTable: archive}, next, s.env())
	}
	require.ErrorContains(t, register("h-2", vendas, "customer"), "held by the keys (id) already")
	require.ErrorContains(t, register("h-3", vendas, "id", "customer"), "not by (id, customer)")
	require.EqualValues(t, 1, s.rows(holdsTable, "TRUE"))
	require.NoError(t, register("h-4", vendas, "ID"))
	require.NoError(t, register("h-5", "bronze.other", "customer"))
	require.EqualValues(t, 3, s.rows(holdsTable, "TRUE"))
}
