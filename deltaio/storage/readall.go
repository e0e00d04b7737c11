package storage

import (
	"context"
	"fmt"
	"io"
)

const defaultReadLimit = 1 << 30

func readAll(ctx context.Context, s Store, key string, limit int64) (data []byte, err error) {
	if limit <= 0 {
		limit = defaultReadLimit
	}
	r, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	size := r.Info().Size
	if size > limit {
		return nil, fmt.Errorf("%s/%s: %d bytes, more than the %d allowed here", s.URL(), key, size, limit)
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), data); err != nil {
		return nil, fmt.Errorf("%s/%s: read: %w", s.URL(), key, err)
	}
	return data, nil
}
