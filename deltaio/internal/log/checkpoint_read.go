package log

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// sidecarReaders is how many sidecars or parts are read at once.
const sidecarReaders = 4

// readCheckpoint gives the state a checkpoint holds. Damage is a *CorruptError
// or storage.ErrNotExist; there is no partial result.
func readCheckpoint(ctx context.Context, s storage.Store, c checkpoint, hint lastCheckpoint) (*State, error) {
	b := newBase()
	in := newInterner()
	if c.kind == kindUUIDJSON {
		if err := b.readJSON(ctx, s, c.files[0].Key, in); err != nil {
			return nil, err
		}
	} else if err := b.readParquet(ctx, s, c.parquetFiles(), in); err != nil {
		return nil, err
	}
	if len(b.sidecars) > 0 {
		files, err := sidecarFiles(s.URL(), b.sidecars)
		if err != nil {
			return nil, err
		}
		if err := b.readParquet(ctx, s, files, in); err != nil {
			return nil, err
		}
	}
	err := c.checkHint(b, hint)
	if err == nil {
		var st *State
		if st, err = b.finish(c.version); err == nil {
			return st, nil
		}
	}
	return nil, corrupt(c.files[0].Key, err)
}

// corrupt names the object that an error of damage is of.
func corrupt(key string, err error) error {
	var c *CorruptError
	if errors.As(err, &c) && c.Key == "" {
		return &CorruptError{Key: key, Reason: c.Reason, Err: c.Err}
	}
	return &CorruptError{Key: key, Reason: "checkpoint is not complete", Err: err}
}

func (b *base) readJSON(ctx context.Context, s storage.Store, key string, in *interner) error {
	d := &decoder{in: in, skipInfo: true}
	_, err := scanCommit(ctx, s, key, d, func(line []Action) error {
		for i := range line {
			if err := b.apply(&line[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && b.v2 == nil {
		err = &CorruptError{Key: key, Reason: "no checkpointMetadata"}
	}
	return err
}

// checkHint compares a JSON checkpoint with a hint that names just this one:
// cut behind a line it would still parse. Parquet tells by its footer.
func (c *checkpoint) checkHint(b *base, hint lastCheckpoint) error {
	if c.kind != kindUUIDJSON || hint.version != c.version || logDir+hint.v2Name != c.files[0].Key {
		return nil
	}
	if hint.v2Size > 0 && hint.v2Size != c.files[0].Size {
		return fmt.Errorf("%d bytes, but _last_checkpoint says %d", c.files[0].Size, hint.v2Size)
	}
	if n := int64(len(b.st.Files)); hint.files >= 0 && hint.files != n {
		return fmt.Errorf("%d files, but _last_checkpoint says %d", n, hint.files)
	}
	return nil
}

// A parquetFile is a file of a checkpoint; size 0 is not checked.
type parquetFile struct {
	key  string
	size int64
}

// readParquet reads files side by side.
func (b *base) readParquet(ctx context.Context, s storage.Store, files []parquetFile, in *interner) error {
	read := make([]*base, len(files))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(sidecarReaders)
	for i, f := range files {
		g.Go(func() error {
			read[i] = newBase()
			return readActions(gctx, s, f, in, read[i].apply)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, r := range read {
		if err := b.absorb(r); err != nil {
			return &CorruptError{Key: files[i].key, Reason: "checkpoint contradicts itself", Err: err}
		}
		read[i] = nil
	}
	return nil
}

// absorb adds what another file of the same checkpoint holds.
func (b *base) absorb(r *base) error {
	b.st.Files = append(b.st.Files, r.st.Files...)
	b.st.Tombstones = append(b.st.Tombstones, r.st.Tombstones...)
	b.sidecars = append(b.sidecars, r.sidecars...)
	rest := []Action{{Protocol: r.st.Protocol}, {Metadata: r.st.Metadata}, {CheckpointMetadata: r.v2}}
	for _, t := range r.st.Txns {
		rest = append(rest, Action{Txn: &t})
	}
	for _, m := range r.st.Domains {
		rest = append(rest, Action{Domain: &m})
	}
	for i := range rest {
		if err := b.apply(&rest[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *checkpoint) parquetFiles() []parquetFile {
	files := make([]parquetFile, len(c.files))
	for i, f := range c.files {
		files[i].key = f.Key // another writer may have replaced it since the listing
	}
	return files
}

// sidecarFiles names the sidecars; their sizes must be those the checkpoint says.
func sidecarFiles(rootURL string, sidecars []*Sidecar) ([]parquetFile, error) {
	files := make([]parquetFile, len(sidecars))
	for i, sc := range sidecars {
		key, err := sidecarKey(rootURL, sc.Path)
		if err != nil {
			return nil, &CorruptError{Reason: "sidecar", Err: err}
		}
		files[i] = parquetFile{key, sc.SizeInBytes}
	}
	return files, nil
}

// sidecarKey gives the key of a sidecar: its path is the bare name, or the whole
// path of a file in the log's own folder.
func sidecarKey(rootURL, path string) (string, error) {
	if !isAbsolute(path) && !strings.Contains(path, "/") {
		path = EncodePath(sidecarDir) + path
	}
	key, err := ResolvePath(rootURL, path)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(key, sidecarDir) {
		return "", fmt.Errorf("sidecar %q lies outside %s", path, sidecarDir)
	}
	return key, nil
}
