package storage

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Opener opens the store at an address whose scheme it was registered for.
type Opener func(ctx context.Context, address string) (Store, error)

var schemes = struct {
	sync.RWMutex
	open map[string]Opener
}{open: map[string]Opener{"file": openFileURL}}

// Register makes Open use open for addresses of a scheme, replacing what was
// there. Programs call it while they start.
func Register(scheme string, open Opener) {
	schemes.Lock()
	defer schemes.Unlock()
	schemes.open[strings.ToLower(scheme)] = open
}

// Schemes lists what Open knows, sorted.
func Schemes() []string {
	schemes.RLock()
	defer schemes.RUnlock()
	return slices.Sorted(maps.Keys(schemes.open))
}

// Open opens the store at an address: an absolute path, taken as it is, or a
// URL, percent-decoded. A scheme nobody registered is ErrUnsupported.
func Open(ctx context.Context, address string) (Store, error) {
	if filepath.IsAbs(address) {
		return openDir(address)
	}
	scheme, _, ok := strings.Cut(address, "://")
	if !ok {
		return nil, fmt.Errorf("open store %q: %w: give an absolute path or a URL such as file:///data/lake",
			address, ErrInvalidKey)
	}
	schemes.RLock()
	open := schemes.open[strings.ToLower(scheme)]
	schemes.RUnlock()
	if open == nil {
		return nil, fmt.Errorf("open store %s: %w: no store for the scheme %q is built in; there are: %s",
			address, ErrUnsupported, scheme, strings.Join(Schemes(), ", "))
	}
	return open(ctx, address)
}

func openFileURL(_ context.Context, address string) (Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w: %w", address, ErrInvalidKey, err)
	}
	switch {
	case u.Host != "" && u.Host != "localhost":
		return nil, fmt.Errorf("open store %s: %w: a file URL names no host; did you mean file:///%s%s?",
			address, ErrInvalidKey, u.Host, u.Path)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("open store %s: %w: write ? as %%3F and # as %%23 in a file URL", address, ErrInvalidKey)
	case u.Path == "":
		return nil, fmt.Errorf("open store %s: %w: it has no path", address, ErrInvalidKey)
	}
	return openDir(filepath.FromSlash(u.Path))
}

// openDir keeps a nil *Local from becoming a Store that is not nil.
func openDir(dir string) (Store, error) {
	l, err := OpenLocal(dir)
	if err != nil {
		return nil, err
	}
	return l, nil
}
