package purge_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio"
)

// other is one change by another program. It is drawn before and may run in the
// middle of a step.
type other struct {
	name string
	do   func(s *sim)
}

func (s *sim) drawIDs(label string) []int64 {
	n := rapid.IntRange(1, 3).Draw(s.rt, label+" count")
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(rapid.IntRange(0, max(0, s.next-1)).Draw(s.rt, label))
	}
	return out
}

func (s *sim) drawOther() other {
	kind := rapid.SampledFrom([]string{"append", "update", "redate", "delete", "optimize", "hide", "hold", "vacuum", "wait", "checkpoint"}).Draw(s.rt, "other")
	list := s.drawIDs("id")
	switch kind {
	case "append":
		var rows []row
		for range list {
			rows = append(rows, s.drawRow())
		}
		return other{kind, func(s *sim) {
			s.append(rows)
			s.rows = append(s.rows, rows...)
		}}
	case "update":
		amount := float64(rapid.IntRange(0, 9).Draw(s.rt, "amount")) + 1000
		return s.changing(kind, list, func(r *row) { r.amount = amount })
	case "redate":
		date := s.drawDate()
		return s.changing(kind, list, func(r *row) { r.date = date })
	case "delete":
		return other{fmt.Sprint(kind, list), func(s *sim) {
			s.remove(list...)
			s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return slices.Contains(list, r.id) })
		}}
	case "hide":
		return other{fmt.Sprint(kind, list), func(s *sim) { s.hide(list) }}
	case "hold":
		return other{fmt.Sprint(kind, list), func(s *sim) { s.hold = list }}
	}
	return other{kind, map[string]func(*sim){
		"optimize": func(s *sim) { s.optimize() },
		"vacuum":   func(s *sim) { s.vacuumTombstones() },
		"wait":     func(s *sim) { s.clock.advance(30 * time.Hour) },
		"checkpoint": func(s *sim) {
			_, err := deltaio.Checkpoint(s.ctx, s.table)
			require.NoError(s.t, err)
		},
	}[kind]}
}

func (s *sim) changing(kind string, list []int64, change func(*row)) other {
	return other{fmt.Sprint(kind, list), func(s *sim) {
		s.update(change, list...)
		for i := range s.rows {
			if slices.Contains(list, s.rows[i].id) {
				change(&s.rows[i])
			}
		}
	}}
}

// hide drops rows by deletion vectors, where the table has them and the file has
// none yet.
func (s *sim) hide(list []int64) {
	if v, _ := s.snapshot().Property("delta.enableDeletionVectors"); v != "true" {
		return
	}
	for _, f := range s.snapshot().Files() {
		if f.DeletionVector != nil {
			return
		}
	}
	if !slices.ContainsFunc(s.rows, func(r row) bool { return slices.Contains(list, r.id) }) {
		return
	}
	s.hideRows(list...)
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return slices.Contains(list, r.id) })
}

// vacuumTombstones is a vacuum without any retention.
func (s *sim) vacuumTombstones() {
	s.vacuumed = true
	snap := s.snapshot()
	live := map[string]bool{}
	for _, a := range snap.Files() {
		live[a.Key().Path] = true
	}
	for _, rm := range snap.State().Tombstones {
		if key := rm.Key().Path; !live[key] {
			_ = s.data.Delete(s.ctx, key) // gone before: fine
		}
	}
}

func (s *sim) drawDate() string {
	if rapid.IntRange(0, 9).Draw(s.rt, "null date") == 0 {
		return ""
	}
	// A few days only, so that partitions hold several rows.
	back := rapid.SampledFrom([]int{1, 20, 29, 30, 31, 45, 90}).Draw(s.rt, "days back")
	return start.AddDate(0, 0, -back).Format(time.DateOnly)
}

func (s *sim) drawRow() row {
	s.next++
	return row{id: int64(s.next - 1), date: s.drawDate(), name: fmt.Sprintf("row-%05d-of-many", s.next), amount: float64(s.next)}
}

// apply runs a change of others, in the middle of a step or between two.
func (s *sim) apply(o other) {
	s.account()
	s.note("  other: %s", o.name)
	o.do(s)
	s.account()
}
