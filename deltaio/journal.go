package deltaio

import "context"

// Journal is a run folder: small records that outlive the process. Errors wrap
// storage.ErrNotExist and storage.ErrExist.
type Journal interface {
	Put(ctx context.Context, name string, data []byte) error
	PutIfAbsent(ctx context.Context, name string, data []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
	List(ctx context.Context, prefix string) ([]string, error)
	URL() string
}
