package pq

import (
	"context"
	"errors"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Rewrite reads src once and writes every output. Results are in the order of
// the outputs. An output without rows is a valid file without row groups. After
// an error what was written to the outputs is worthless.
func Rewrite(ctx context.Context, src storage.Reader, outs []Output, opt Options) ([]Result, error) {
	return nil, errors.New("pq: not there yet")
}
