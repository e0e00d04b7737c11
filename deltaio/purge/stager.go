package purge

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// stager writes the data files of a step before its commit. It tells the run
// folder first which names it will use, and afterwards what came of them, so
// that a repeated step finds finished files again and the way back knows every
// name that was ever used.
type stager struct {
	run   Run
	t     *deltaio.Table
	step  string // names the records and the files
	mu    sync.Mutex
	prior map[string][]stagedRecord // finished ones, by digest
}

// stagedRecord is one rewrite or one batch of staged files.
type stagedRecord struct {
	Digest string                `json:"digest"`
	Keys   []string              `json:"keys"` // storage keys, written before the files
	Done   bool                  `json:"done"`
	Files  []*deltaio.StagedFile `json:"files,omitempty"` // by output; null for one without rows
	Note   json.RawMessage       `json:"note,omitempty"`
}

func newStager(ctx context.Context, t *deltaio.Table, r Run, step string) (*stager, error) {
	s := &stager{run: r, t: t, step: step, prior: map[string][]stagedRecord{}}
	records, err := stagedRecords(ctx, r, step)
	if err != nil {
		return nil, err
	}
	for _, rec := range records {
		if rec.Done {
			s.prior[rec.Digest] = append(s.prior[rec.Digest], rec)
		}
	}
	return s, nil
}

// stagedRecords reads what a step told the run folder about its files.
func stagedRecords(ctx context.Context, r Run, step string) ([]stagedRecord, error) {
	names, err := r.Journal.List(ctx, step+"/")
	if err != nil {
		return nil, fmt.Errorf("list %s/ in run folder %s: %w", step, r.Journal.URL(), err)
	}
	var out []stagedRecord
	for _, name := range names {
		var rec stagedRecord
		if err := readRecord(ctx, r, name, &rec); err != nil {
			if errors.Is(err, storage.ErrNotExist) {
				continue
			}
			return nil, err
		}
		out = append(out, rec)
	}
	return out, nil
}

// rewrite makes the outputs of a source file, or finds them made before.
func (s *stager) rewrite(ctx context.Context, snap *deltaio.Snapshot, add *log.Add, f *deltaio.DataFile, outs []deltaio.RewriteOutput) ([]*deltaio.StagedFile, error) {
	digest := rewriteDigest(snap, add, outs)
	if rec, ok, err := s.reuse(ctx, s.t.Store(), digest); err != nil || ok {
		return rec.Files, err
	}
	rec := stagedRecord{Digest: digest}
	for i := range outs {
		outs[i].Key = snap.DataKey(add.PartitionValues, s.fileName())
		rec.Keys = append(rec.Keys, outs[i].Key)
	}
	name, err := s.tell(ctx, "", rec)
	if err != nil {
		return nil, err
	}
	if rec.Files, err = f.Rewrite(ctx, outs); err != nil {
		return nil, err
	}
	rec.Done = true
	if _, err = s.tell(ctx, name, rec); err == nil {
		s.remember(rec)
	}
	return rec.Files, err
}

func (s *stager) fileName() string {
	return filePrefix(s.run.ID, s.step) + s.t.Env().NewID() + ".parquet"
}

// tell puts the record under its name, a new one when empty.
func (s *stager) tell(ctx context.Context, name string, rec stagedRecord) (string, error) {
	if name == "" {
		name = s.step + "/" + rec.Digest[:32] + "-" + s.t.Env().NewID() + ".json"
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return "", fmt.Errorf("staging record: %w", err)
	}
	if err := s.run.Journal.Put(ctx, name, data); err != nil {
		return "", fmt.Errorf("write %s to run folder %s: %w", name, s.run.Journal.URL(), err)
	}
	return name, nil
}

// reuse finds an earlier attempt's finished work whose files all still lie there
// with their size.
func (s *stager) reuse(ctx context.Context, store storage.Store, digest string) (stagedRecord, bool, error) {
	s.mu.Lock()
	records := s.prior[digest]
	s.mu.Unlock()
	for _, rec := range records {
		whole := true
		for _, f := range rec.Files {
			if f == nil {
				continue
			}
			info, err := store.Stat(ctx, f.Key)
			if err != nil && !errors.Is(err, storage.ErrNotExist) {
				return stagedRecord{}, false, err
			}
			whole = whole && err == nil && info.Size == f.Add.Size
		}
		if whole {
			return rec, true, nil
		}
	}
	return stagedRecord{}, false, nil
}

// remember makes work of this very call reusable after a conflict.
func (s *stager) remember(rec stagedRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prior[rec.Digest] = append(s.prior[rec.Digest], rec)
}

// rewriteDigest identifies a rewrite: same source, schema and outputs give the
// same files, so they may be used again.
func rewriteDigest(snap *deltaio.Snapshot, add *log.Add, outs []deltaio.RewriteOutput) string {
	h := sha256.New()
	key := add.Key()
	put(h, "rewrite", key.Path, key.DV, fmt.Sprint(add.Size), snap.State().Metadata.SchemaString, fmt.Sprint(snap.State().Metadata.Configuration))
	for _, o := range outs {
		put(h, maskDigest(o.Rows), strings.Join(o.Omit, "\x00"))
		if o.Updated != nil {
			put(h, "updated", maskDigest(o.Updated))
		}
		names := make([]string, 0, len(o.Set))
		for n := range o.Set {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			put(h, n, fmt.Sprint(o.Set[n]))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func put(h io.Writer, parts ...string) {
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		_, _ = h.Write(n[:]) // a hash never fails
		_, _ = io.WriteString(h, p)
	}
}

// maskDigest identifies a set of rows of a file.
func maskDigest(b *pq.Bitmap) string {
	if b == nil {
		return "all"
	}
	h := sha256.New()
	var buf [8]byte
	binary.BigEndian.PutUint64(buf[:], uint64(b.Len()))
	_, _ = h.Write(buf[:]) // a hash never fails
	for _, w := range b.Words() {
		binary.BigEndian.PutUint64(buf[:], w)
		_, _ = h.Write(buf[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sweep deletes the files that steps of the run staged in a table and that
// nothing refers to: neither a live file nor a tombstone of the newest version,
// nor keep. It is called only when none of the steps can commit any more.
func sweep(ctx context.Context, t *deltaio.Table, r Run, keep map[string]bool, steps ...string) (deleted int, err error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	refs := referenced(snap)
	for _, step := range steps {
		records, err := stagedRecords(ctx, r, step)
		if err != nil {
			return deleted, err
		}
		for _, rec := range records {
			for _, key := range rec.Keys {
				if keep[key] || refs[key] || !ownFile(key, r.ID) {
					continue
				}
				if err := deleteStaged(ctx, t, key, &deleted); err != nil {
					return deleted, err
				}
			}
		}
	}
	return deleted, nil
}
