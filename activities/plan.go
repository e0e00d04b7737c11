package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// frozenPlan is what a run obeys, as it lies in the run folder. Everything that
// depends on the clock is decided here, once.
type frozenPlan struct {
	RunID    string               `json:"run_id"`
	Policy   spec.RetentionPolicy `json:"policy"`
	Caller   Caller               `json:"caller"`
	Now      time.Time            `json:"now"`
	Zone     string               `json:"zone"`
	TableURL string               `json:"table_url"`
	TableID  string               `json:"table_id"`
	Cutoff   string               `json:"cutoff,omitempty"`
	Match    string               `json:"match,omitempty"`   // SQL
	Undated  string               `json:"undated,omitempty"` // SQL
	Hold     string               `json:"hold,omitempty"`    // SQL
	// KeysVersion is the version of the table of keys that the criteria were
	// planned with; only it is read again.
	KeysVersion *int64            `json:"keys_version,omitempty"`
	Counts      *purge.PlanResult `json:"counts,omitempty"`
}

// planDigits is how much of the digest names the record.
const planDigits = 16

func planRecord(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return evidence.PlanPrefix + hex[:min(planDigits, len(hex))] + ".json"
}

// save writes the plan under a name made of its content, so that a paused
// attempt cannot change a plan that was shown.
func (f *frozenPlan) save(ctx context.Context, folder *evidence.Folder) (digest string, err error) {
	data, err := evidence.CanonicalJSON(f)
	if err != nil {
		return "", fmt.Errorf("plan of run %s: %w", f.RunID, err)
	}
	digest = evidence.Digest(data)
	return digest, folder.Put(ctx, planRecord(digest), data)
}

// loaded is a run opened for a step: its plan, folder and table.
type loaded struct {
	plan   frozenPlan
	folder *evidence.Folder
	table  *deltaio.Table
	env    deltaio.Env
}

// load opens a run by the plan that its digest names.
func (a *Activities) load(ctx context.Context, run Run, env deltaio.Env) (*loaded, error) {
	if run.RunID == "" || run.PlanDigest == "" {
		return nil, refused("run_id and plan_digest are needed; PurgeTable passes them")
	}
	folder, err := a.Lake.Run(ctx, run.RunID)
	if err != nil {
		return nil, err
	}
	l := &loaded{folder: folder, env: env}
	record := planRecord(run.PlanDigest)
	err = evidence.GetJSON(ctx, folder, evidence.Ref{Name: record, Digest: run.PlanDigest}, &l.plan)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, halt("the plan %s of run %s is gone from %s: no step can act without it; put the run folder back from a backup", record, run.RunID, folder.URL())
	}
	if err != nil {
		return nil, err
	}
	store, err := a.Lake.Table(ctx, run.Table)
	if err != nil {
		return nil, err
	}
	if l.table, err = deltaio.Open(ctx, store, env); err != nil {
		return nil, err
	}
	return l, l.sameTable(ctx)
}

// loadRun opens a run for one of deltaio's purge steps.
func (a *Activities) loadRun(ctx context.Context, in Run, env deltaio.Env) (*loaded, purge.Run, error) {
	l, err := a.load(ctx, in, env)
	if err != nil {
		return nil, purge.Run{}, err
	}
	run, err := a.purgeRun(ctx, l)
	return l, run, err
}

// sameTable refuses a table that was dropped and made anew since the plan.
func (l *loaded) sameTable(ctx context.Context) error {
	snap, err := l.table.Snapshot(ctx)
	if err != nil {
		return err
	}
	if id := snap.TableID(); id != l.plan.TableID {
		return halt("%s is another table now (id %s) than the one that was planned (id %s): it was dropped and made anew; start a new purge",
			l.table.URL(), id, l.plan.TableID)
	}
	return nil
}

// purgeRun builds what deltaio's purge steps share. Holds are read at this moment.
func (a *Activities) purgeRun(ctx context.Context, l *loaded) (purge.Run, error) {
	c, err := a.criteria(ctx, &l.plan, l.env)
	if err != nil {
		return purge.Run{}, err
	}
	r := purge.Run{ID: l.plan.RunID, Journal: l.folder, Criteria: c}
	if l.plan.Policy.Mark.On() {
		r.Column = l.plan.Policy.Mark.Column
	}
	return r, nil
}

// criteria parses the frozen SQL and reads the sets of keys.
func (a *Activities) criteria(ctx context.Context, p *frozenPlan, env deltaio.Env) (purge.Criteria, error) {
	zone, err := time.LoadLocation(p.Zone)
	if err != nil {
		return purge.Criteria{}, refused("time zone %q: %v", p.Zone, err)
	}
	c := purge.Criteria{Context: expr.Context{Now: p.Now, Zone: zone}}
	for _, x := range []struct {
		sql string
		to  **expr.Expr
	}{{p.Match, &c.Match}, {p.Undated, &c.Undated}, {p.Hold, &c.Hold}} {
		if x.sql == "" {
			continue
		}
		if *x.to, err = expr.Parse(x.sql); err != nil {
			return purge.Criteria{}, err
		}
	}
	if k := p.Policy.Criteria.Keys; k != nil {
		if c.MatchKeys, err = a.matchKeys(ctx, p, k, env); err != nil {
			return purge.Criteria{}, err
		}
	}
	if h := p.Policy.Hold; h != nil && h.Table != "" {
		if c.HoldKeys, err = a.holdKeys(ctx, h, c.Context, env); err != nil {
			return purge.Criteria{}, err
		}
	}
	restored, err := a.restoreHolds(ctx, p.Policy.Table, env)
	if err != nil {
		return purge.Criteria{}, err
	}
	c.HoldKeys, err = union(p.Policy.Table, c.HoldKeys, restored)
	return c, err
}

// matchKeys reads the keys to purge at the version that was planned.
func (a *Activities) matchKeys(ctx context.Context, p *frozenPlan, k *spec.Keys, env deltaio.Env) (*purge.KeySet, error) {
	t, err := a.open(ctx, k.From, env)
	if err != nil {
		return nil, fmt.Errorf("criteria.keys: %w", err)
	}
	var snap *deltaio.Snapshot
	if p.KeysVersion != nil {
		snap, err = t.SnapshotAt(ctx, *p.KeysVersion)
	} else {
		snap, err = t.Snapshot(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("criteria.keys: %w", err)
	}
	version := snap.Version()
	p.KeysVersion = &version
	return purge.LoadKeys(ctx, snap, k.Columns, targetColumns(k.Columns, k.TargetColumns))
}

// holdKeys reads the holds that have not ended, as of now.
func (a *Activities) holdKeys(ctx context.Context, h *spec.Hold, ec expr.Context, env deltaio.Env) (*purge.KeySet, error) {
	t, err := a.open(ctx, h.Table, env)
	if err != nil {
		return nil, fmt.Errorf("hold.table: %w", err)
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("hold.table: %w", err)
	}
	var where *expr.Expr
	if h.UntilColumn != "" {
		// A hold counts through its last day; one without an end never ends.
		col := calendar.QuoteColumn(h.UntilColumn)
		if where, err = expr.Parse(col + " IS NULL OR CAST(" + col + " AS DATE) >= current_date()"); err != nil {
			return nil, err
		}
		ec.Now = a.Now()
	}
	return purge.LoadKeysWhere(ctx, snap, h.Keys, targetColumns(h.Keys, h.TargetColumns), where, ec)
}

func targetColumns(keys, target []string) []string {
	if len(target) == 0 {
		return keys
	}
	return target
}

// open opens a table by name.
func (a *Activities) open(ctx context.Context, name string, env deltaio.Env) (*deltaio.Table, error) {
	store, err := a.Lake.Table(ctx, name)
	if err != nil {
		return nil, err
	}
	t, err := deltaio.Open(ctx, store, env)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	return t, nil
}
