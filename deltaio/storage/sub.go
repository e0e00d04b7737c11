package storage

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
)

// Sub is the part of s under prefix: the same objects with keys relative to it.
// A slash at the end of prefix does not matter; an empty prefix is s itself. A
// malformed prefix makes every call fail with ErrInvalidKey.
func Sub(s Store, prefix string) Store {
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return s
	}
	return &sub{inner: s, prefix: prefix + "/", bad: CheckKey(prefix)}
}

type sub struct {
	inner  Store
	prefix string // ends in "/"
	bad    error
}

func (s *sub) Unwrap() Store { return s.inner }

func (s *sub) URL() string {
	segs := strings.Split(strings.TrimSuffix(s.prefix, "/"), "/")
	for i, seg := range segs {
		segs[i] = url.PathEscape(seg)
	}
	return strings.TrimSuffix(s.inner.URL(), "/") + "/" + strings.Join(segs, "/")
}

// full checks the key before it is joined: "../x" must not climb out.
func (s *sub) full(key string) (string, error) {
	if s.bad != nil {
		return "", fmt.Errorf("%s: prefix: %w", s.inner.URL(), s.bad)
	}
	if err := CheckKey(key); err != nil {
		return "", fmt.Errorf("%s: %w", s.URL(), err)
	}
	return s.prefix + key, nil
}

func (s *sub) relative(info Info) Info {
	info.Key = strings.TrimPrefix(info.Key, s.prefix)
	return info
}

func (s *sub) Open(ctx context.Context, key string) (Reader, error) {
	key, err := s.full(key)
	if err != nil {
		return nil, err
	}
	r, err := s.inner.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	return subReader{r, s}, nil
}

func (s *sub) Stat(ctx context.Context, key string) (Info, error) {
	key, err := s.full(key)
	if err != nil {
		return Info{}, err
	}
	info, err := s.inner.Stat(ctx, key)
	return s.relative(info), err
}

func (s *sub) Create(ctx context.Context, key string) (Writer, error) {
	key, err := s.full(key)
	if err != nil {
		return nil, err
	}
	w, err := s.inner.Create(ctx, key)
	if err != nil {
		return nil, err
	}
	return subWriter{w, s}, nil
}

func (s *sub) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	key, err := s.full(key)
	if err != nil {
		return err
	}
	return s.inner.PutIfAbsent(ctx, key, data)
}

func (s *sub) Put(ctx context.Context, key string, data []byte) error {
	key, err := s.full(key)
	if err != nil {
		return err
	}
	return s.inner.Put(ctx, key, data)
}

func (s *sub) Delete(ctx context.Context, key string) error {
	key, err := s.full(key)
	if err != nil {
		return err
	}
	return s.inner.Delete(ctx, key)
}

func (s *sub) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		err := s.bad
		if err == nil {
			err = checkPrefix(prefix)
		}
		if err != nil {
			yield(Info{}, fmt.Errorf("%s: list: %w", s.URL(), err))
			return
		}
		if after != "" {
			after = s.prefix + after
		}
		for info, err := range s.inner.List(ctx, s.prefix+prefix, after) {
			if !yield(s.relative(info), err) {
				return
			}
		}
	}
}

type subReader struct {
	Reader
	s *sub
}

func (r subReader) Info() Info { return r.s.relative(r.Reader.Info()) }

type subWriter struct {
	Writer
	s *sub
}

func (w subWriter) Commit(ctx context.Context) (Info, error) {
	info, err := w.Writer.Commit(ctx)
	return w.s.relative(info), err
}
