package evidence

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// RunsPrefix is where run folders lie, below the root of control files.
const RunsPrefix = "runs"

// maxRecord bounds a record that is read back: manifests of very large tables
// stay below it.
const maxRecord = 1 << 30

// Folder holds the records of one run: it fulfils deltaio's Journal. Names are
// slash-separated and relative to the folder. Safe for concurrent use.
type Folder struct {
	store  storage.Store
	prefix string
}

var runIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

// OpenRun gives the folder of a run: runs/<run_id>/ under the store's root. It
// does no I/O; a folder exists once it holds a record.
func OpenRun(s storage.Store, runID string) (*Folder, error) {
	if !runIDForm.MatchString(runID) {
		return nil, fmt.Errorf("run id %q: want letters, digits and dashes, at most 64", runID)
	}
	return &Folder{store: s, prefix: RunsPrefix + "/" + runID + "/"}, nil
}

// URL is the folder's address, without credentials.
func (f *Folder) URL() string {
	return strings.TrimSuffix(f.store.URL(), "/") + "/" + strings.TrimSuffix(f.prefix, "/")
}

// Put writes a record, replacing what was there.
func (f *Folder) Put(ctx context.Context, name string, data []byte) error {
	key, err := f.key(name)
	if err != nil {
		return err
	}
	if err := f.store.Put(ctx, key, data); err != nil {
		return fmt.Errorf("write record %s of %s: %w", name, f.URL(), err)
	}
	return nil
}

// PutIfAbsent writes a record if the name is free, else it fails with
// storage.ErrExist. After any other error it is unknown whether it was written.
func (f *Folder) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	key, err := f.key(name)
	if err != nil {
		return err
	}
	if err := f.store.PutIfAbsent(ctx, key, data); err != nil {
		return fmt.Errorf("create record %s of %s: %w", name, f.URL(), err)
	}
	return nil
}

// Get reads a record; storage.ErrNotExist when there is none.
func (f *Folder) Get(ctx context.Context, name string) ([]byte, error) {
	key, err := f.key(name)
	if err != nil {
		return nil, err
	}
	data, err := storage.ReadAll(ctx, f.store, key, maxRecord)
	if err != nil {
		return nil, fmt.Errorf("read record %s of %s: %w", name, f.URL(), err)
	}
	return data, nil
}

// List gives the names that start with prefix, in byte order.
func (f *Folder) List(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	for info, err := range f.store.List(ctx, f.prefix+prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("list records %s* of %s: %w", prefix, f.URL(), err)
		}
		names = append(names, strings.TrimPrefix(info.Key, f.prefix))
	}
	return names, nil
}

// key turns a record's name into the store's key.
func (f *Folder) key(name string) (string, error) {
	for _, part := range strings.Split(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00") {
			return "", fmt.Errorf("record name %q of %s: %w", name, f.URL(), storage.ErrInvalidKey)
		}
	}
	return f.prefix + name, nil
}
