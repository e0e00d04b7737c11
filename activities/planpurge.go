package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// PlanPurgeInput asks for the plan of one run.
type PlanPurgeInput struct {
	RunID  string               `json:"run_id"`
	Policy spec.RetentionPolicy `json:"policy"`
	// Now is the run's frozen clock: the cutoff and current_date() come from it.
	Now    time.Time `json:"now"`
	Caller Caller    `json:"caller"`
}

// PlanPurgeResult is the plan in figures. What the run obeys lies in RunFolder
// under a name made of PlanDigest, which is "sha256:" and 64 hexadecimal digits.
type PlanPurgeResult struct {
	PlanDigest string `json:"plan_digest"`
	RunFolder  string `json:"run_folder"`
	TableID    string `json:"table_id"`
	TableURL   string `json:"table_url"`
	Version    int64  `json:"version"`

	Criteria string `json:"criteria"`         // frozen, as SQL
	Cutoff   string `json:"cutoff,omitempty"` // with its zone; empty without older_than
	Hold     string `json:"hold,omitempty"`

	RowsTotal   *int64 `json:"rows_total"`
	RowsDue     *int64 `json:"rows_due"`
	RowsHeld    *int64 `json:"rows_held"`
	RowsUndated *int64 `json:"rows_undated"`
	BytesBefore int64  `json:"bytes_before"` // live bytes of the table

	FilesTotal     int   `json:"files_total"`
	FilesWhole     int   `json:"files_whole"` // every row due
	FilesSplit     int   `json:"files_split"`
	BytesToRewrite int64 `json:"bytes_to_rewrite"`
	Partitions     int   `json:"partitions"` // with due rows

	// Share of the table's rows that are due, 0 to 1, and whether the audit
	// table knows no earlier completed run of this table.
	Share    *float64 `json:"share"`
	FirstRun bool     `json:"first_run"`

	AddsColumn    bool     `json:"adds_column"`
	ChangeFeed    bool     `json:"change_feed"`
	OtherWriters  []string `json:"other_writers,omitempty"` // engines seen in recent commits
	ArchiveTable  string   `json:"archive_table,omitempty"`
	ArchiveExists bool     `json:"archive_exists"`

	// TableRetention is the table's deletedFileRetentionDuration, VacuumRetention
	// the age that vacuum will ask for (never below the floor).
	TableRetention  spec.Duration `json:"table_retention"`
	VacuumRetention spec.Duration `json:"vacuum_retention"`

	// Owed are runs of this table that were terminated before they could start the
	// proof of their erasure.
	Owed []ErasureOwed `json:"erasures_owed,omitempty"`

	Refusals []Refusal `json:"refusals,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	// Report is the plan as Markdown, for the Web UI and for approvers.
	Report string `json:"report"`
}

// PlanPurge gates, counts and freezes a run; it changes no row of the table. What
// must not be touched comes back as refusals, all that could be found at once.
func (a *Activities) PlanPurge(ctx context.Context, in PlanPurgeInput) (*PlanPurgeResult, error) {
	env, stop := a.beat(ctx, "plan")
	defer stop()
	p := &planner{a: a, env: env, in: in, out: &PlanPurgeResult{}}
	p.plan = frozenPlan{RunID: in.RunID, Policy: in.Policy, Caller: in.Caller, Now: in.Now}
	if err := p.do(ctx); err != nil {
		return nil, fail(ctx, err)
	}
	return p.out, nil
}

// planner gathers the plan and the reasons against it.
type planner struct {
	a      *Activities
	env    deltaio.Env
	in     PlanPurgeInput
	plan   frozenPlan
	out    *PlanPurgeResult
	table  *deltaio.Table
	snap   *deltaio.Snapshot
	counts *purge.PlanResult
	folder *evidence.Folder
}

func (p *planner) refuse(code, do string, format string, args ...any) {
	p.out.Refusals = append(p.out.Refusals, Refusal{Code: code, Message: short(fmt.Sprintf(format, args...)), Do: do})
}

// do runs the gate in order: what makes the rest pointless ends it early.
func (p *planner) do(ctx context.Context) error {
	folder, err := p.a.Lake.Run(ctx, p.in.RunID)
	if err != nil {
		return err
	}
	p.folder, p.out.RunFolder = folder, folder.URL()
	if problems := p.in.Policy.Validate(time.LoadLocation); len(problems) > 0 {
		p.refuse("policy", "Mend the policy and start again.", "%v", problems)
		return p.save(ctx)
	}
	for _, step := range []func(context.Context) error{p.openTable, p.freezeCriteria, p.checkMarker, p.checkDelete, p.checkRetention, p.checkArchive, p.checkAudit, p.checkRights} {
		if err := step(ctx); err != nil {
			return err
		}
		if p.table == nil {
			break
		}
	}
	if len(p.out.Refusals) == 0 {
		if err := p.count(ctx); err != nil {
			return err
		}
	}
	return p.save(ctx)
}

func (p *planner) save(ctx context.Context) error {
	p.plan.Counts = p.counts
	digest, err := p.plan.save(ctx, p.folder)
	if err != nil {
		return err
	}
	p.out.PlanDigest = digest
	p.out.Report = p.out.markdown(p.in.Policy)
	return nil
}

// openTable finds the table and judges what it asks of writers.
func (p *planner) openTable(ctx context.Context) error {
	store, err := p.a.Lake.Table(ctx, p.in.Policy.Table)
	if err != nil {
		p.refuse("table_outside_roots", "Add its schema to a root of the worker's configuration, or mend the name.", "%v", err)
		return nil
	}
	p.out.TableURL, p.plan.TableURL = store.URL(), store.URL()
	t, err := deltaio.Open(ctx, store, p.env)
	if errors.Is(err, deltaio.ErrNotATable) {
		p.refuse("table_missing", "Mend the table's name, or the layout of the root it lies under.", "%s: there is no Delta table at %s", p.in.Policy.Table, store.URL())
		return nil
	}
	if errors.Is(err, storage.ErrInvalidKey) { // a link leads out
		p.refuse("table_outside_roots", "Put the table itself under the root, or configure a root where it lies.", "%s: %v", p.in.Policy.Table, err)
		return nil
	}
	if err != nil {
		return err
	}
	snap, err := t.Snapshot(ctx)
	if p.unsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p.table, p.snap = t, snap
	p.out.TableID, p.plan.TableID, p.out.Version = snap.TableID(), snap.TableID(), snap.Version()
	for _, want := range []deltaio.Want{deltaio.WantRewrite, deltaio.WantVacuum} {
		p.unsupported(snap.Check(want))
	}
	return nil
}

// unsupported turns a refusal of the feature gate into one of ours.
func (p *planner) unsupported(err error) bool {
	var u *deltaio.UnsupportedError
	if !errors.As(err, &u) {
		return false
	}
	r := Refusal{Code: "unsupported_" + u.Feature, Message: short(err.Error()), Do: "The table stays as it is."}
	if !slices.ContainsFunc(p.out.Refusals, func(x Refusal) bool { return x.Code == r.Code }) {
		p.out.Refusals = append(p.out.Refusals, r)
	}
	return true
}
