package runcheck

import (
	"context"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// unchanged is the question of content.
const unchanged = "the archived rows are those that were archived, by their hash"

// content hashes the run's rows in the archive and compares them with the run's
// record: rows of the right number may still be wrong.
func (c *checker) content(ctx context.Context, archive string) error {
	record, res, err := c.hashArchive(ctx, archive)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.add(false, unchanged, "%v", err)
	case !res.Agrees:
		c.add(false, unchanged, "%s against %s: %s", archive, record, strings.Join(res.Reasons, "; "))
	default:
		c.add(true, unchanged, "%s in %d files, as %s says", res.Sum, res.Files, record)
	}
	return nil
}

func (c *checker) hashArchive(ctx context.Context, archive string) (record string, res *purge.VerifyResult, err error) {
	folder, err := c.lake.Run(ctx, c.report.RunID)
	if err != nil {
		return "", nil, err
	}
	src, err := c.open(ctx, c.report.Table)
	if err != nil {
		return "", nil, err
	}
	dst, err := c.open(ctx, archive)
	if err != nil {
		return "", nil, err
	}
	run := purge.Run{ID: c.report.RunID, Journal: folder}
	if record, err = purge.ArchiveRecord(ctx, dst, run); err != nil {
		return "", nil, err
	}
	res, err = purge.VerifyArchive(ctx, src, dst.Store(), c.env, purge.VerifyArchiveOptions{Run: run, Archive: record})
	return record, res, err
}
