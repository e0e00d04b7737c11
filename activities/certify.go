package activities

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// certify writes the certificate of a proof, as JSON and as Markdown, and draws
// the result from it: what the certificate does not call erased is not erased.
func (l *loaded) certify(ctx context.Context, in ProveErasedInput, r *purge.ProveResult, out *ProveErasedResult, now time.Time) error {
	c, err := l.certificate(in, r).Issue(now)
	if err != nil {
		return halt("%v", err)
	}
	data, digest, err := c.JSON()
	if err != nil {
		return err
	}
	name := evidence.CertificateName(r.At, digest)
	if err := l.folder.Put(ctx, name+".json", data); err != nil {
		return err
	}
	text, err := c.Markdown()
	if err != nil {
		return err
	}
	if err := l.folder.Put(ctx, name+".md", []byte(text)); err != nil {
		return err
	}
	out.Certificate, out.CertDigest = name+".json", digest
	out.Erased = c.Status == evidence.StatusErased
	if !out.Erased {
		short := c.Shortfalls()
		out.Residue = short[:min(residueLines, len(short))]
	}
	return nil
}

func (l *loaded) certificate(in ProveErasedInput, r *purge.ProveResult) evidence.Certificate {
	p := l.plan
	c := evidence.Certificate{
		RunID: p.RunID, Table: p.Policy.Table, TableID: p.TableID, TableURL: l.table.URL(), Policy: p.Policy.Name, Owner: p.Policy.Owner,
		LegalBasis: p.Policy.LegalBasis, Criteria: describe(p.Match, p.Policy.Criteria.Keys), Cutoff: p.Cutoff,
		RowsErased: in.RowsDeleted, VersionBefore: in.VersionBefore, VersionAfter: in.VersionAfter,
		DeletedAt: in.DeletedAt, DueAt: in.Due, VerifiedAt: r.At,
		Files: evidence.FilesProof{
			Known: wide(r.Known), Gone: wide(r.KnownGone), Listed: wide(listed(r)), KnownSeen: wide(r.KnownSeen), Canary: r.Canary,
			CanarySeen: r.CanarySeen, Live: wide(r.Live.Count), RowsFound: r.RunRows, Unknown: wide(r.Unknown.Count),
		},
		Log:   evidence.LogProof{Entries: wide(r.LogEntries), ExpiresAt: r.LogExpires},
		Scope: evidence.TableScope(p.Policy.Table, archiveOf(p)), Manifest: evidence.Ref{Name: r.Record},
		PlanDigest: in.Run.PlanDigest, AuditHead: in.AuditHead, WorkflowID: p.Caller.WorkflowID, WorkflowRunID: p.Caller.WorkflowRunID,
	}
	if r.Copies != nil {
		c.Copies = evidence.CopiesProof{SoftDeleted: wide(*r.Copies), Noncurrent: wide(0), How: "the store keeps no copies of deleted objects, or was asked for them"}
	}
	return c
}

func listed(r *purge.ProveResult) int {
	return r.Live.Count + r.Tombstoned.Count + r.Unknown.Count + r.Log.Count + r.Other.Count
}

func archiveOf(p frozenPlan) string {
	if !p.Policy.Archive.On() {
		return ""
	}
	return p.Policy.Archive.Table
}

func wide(n int) *int64 {
	v := int64(n)
	return &v
}
