package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/spec"
)

// gate runs the gate as far as the archive and gives the codes of its refusals.
func (s *site) gate(policy spec.RetentionPolicy) (p *planner, codes []string) {
	s.t.Helper()
	policy.Table = vendas
	p = &planner{a: s.Activities, env: s.env(), in: PlanPurgeInput{RunID: "r", Policy: policy, Now: today}, out: &PlanPurgeResult{}}
	require.NoError(s.t, p.openTable(s.t.Context()))
	require.NoError(s.t, p.freezeCriteria(s.t.Context()))
	require.NoError(s.t, p.checkMarker(s.t.Context()))
	require.NoError(s.t, p.checkArchive(s.t.Context()))
	for _, r := range p.out.Refusals {
		codes = append(codes, r.Code)
	}
	return p, codes
}

func TestGate_aMarkerColumnThatCannotBe_isRefusedOnce(t *testing.T) {
	t.Parallel()
	for column, code := range map[string]string{
		"to purge": "marker_column_add", "a=b": "marker_column_add", "id": "marker_column_type", flag: "", spec.None: "",
	} {
		s := newSite(t)
		s.withVendas()
		_, codes := s.gate(spec.RetentionPolicy{Criteria: spec.Criteria{Where: "id <= 10"}, Mark: spec.Mark{Column: column}, Archive: spec.Archive{Table: archive}})
		if code == "" {
			require.Empty(t, codes, column)
			continue
		}
		require.Equal(t, []string{code}, codes, column)
	}
}

func TestGate_aCutoffAfterToday_isRefusedByTheDayOfThePolicysZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until, zone string
		refused     bool
	}{
		"far away":                    {"2099-01-01", "UTC", true},
		"tomorrow":                    {"2026-01-16", "UTC", true},
		"today":                       {"2026-01-15", "UTC", false},
		"today in UTC, tomorrow here": {"2026-01-15", "America/Los_Angeles", true},
		"today here":                  {"2026-01-14", "America/Los_Angeles", false},
	} {
		s := newSite(t)
		s.withVendas()
		age := &spec.OlderThan{Column: "event_date", Until: c.until, Timezone: c.zone}
		p, codes := s.gate(spec.RetentionPolicy{Criteria: spec.Criteria{OlderThan: age}, Mark: spec.Mark{Column: flag}, Archive: spec.Archive{Table: archive}})
		if !c.refused {
			require.Empty(t, codes, name)
			continue
		}
		require.Equal(t, []string{"cutoff_in_future"}, codes, name)
		require.Contains(t, p.out.Refusals[0].Message, c.until)
	}
}
