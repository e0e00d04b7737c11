package activities

import (
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// purgeChecks are the tutorial's checks, one line each.
func purgeChecks(in VerifyPurgeInput, r *purge.VerifyPurgeResult) []Check {
	checks := []Check{
		{
			Name: "no row of this run carries the flag", OK: r.RowsFlagged != nil && *r.RowsFlagged == 0,
			Detail: evidence.Count(r.RowsFlagged) + " flagged rows left",
		},
		{
			Name:   "the commit removed what was counted",
			OK:     r.RowsDeleted != nil && in.Delete.RowsDeleted != nil && *r.RowsDeleted == *in.Delete.RowsDeleted,
			Detail: evidence.Count(r.RowsDeleted) + " rows by the commit's own actions, " + evidence.Count(in.Delete.RowsDeleted) + " reported",
		},
		before(r),
		{
			Name:   "everything else agrees",
			OK:     r.Agrees,
			Detail: strings.Join(append([]string{"rows " + evidence.Count(r.RowsBefore) + " before the delete, " + evidence.Count(r.RowsAfter) + " after"}, r.Reasons...), "; "),
		},
	}
	return checks
}

// before: whether the version before the run can still be read. Another program's
// vacuum is no failure of this run, but must not pass for a yes.
func before(r *purge.VerifyPurgeResult) Check {
	if r.BeforeReadable {
		return Check{Name: "the version before is still readable", OK: true, Detail: "version " + evidence.Count(r.VersionBefore)}
	}
	return Check{Name: "the version before was looked at, and is no longer readable", OK: true, Detail: strings.Join(r.Notes, "; ")}
}
