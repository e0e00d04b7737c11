package activities

import (
	"fmt"

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
		{
			Name:   "the version before is still readable",
			OK:     r.BeforeReadable,
			Detail: "version " + evidence.Count(r.VersionBefore),
		},
		{
			Name:   "everything else agrees",
			OK:     r.Agrees,
			Detail: fmt.Sprintf("rows %s before the delete, %s after; %v", evidence.Count(r.RowsBefore), evidence.Count(r.RowsAfter), r.Reasons),
		},
	}
	if in.Archive != nil {
		checks = append(checks, Check{
			Name:   "the archive holds exactly the deleted rows",
			OK:     in.Delete.RowsDeleted != nil && in.Archive.Rows == *in.Delete.RowsDeleted,
			Detail: fmt.Sprintf("%d rows archived, %s deleted", in.Archive.Rows, evidence.Count(in.Delete.RowsDeleted)),
		})
	}
	return checks
}
