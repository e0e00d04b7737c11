package log

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the protocol's checksum of the hint
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// WriteCheckpoint writes a checkpoint of the state, and then the hint that names
// it: one classic Parquet file with protocol, metadata, every txn and live
// domain, all files and the tombstones that have not expired. With the feature
// v2Checkpoint it follows the V2 spec, file actions embedded. What was written
// is read back before it is published. A version whose commit is gone gets none:
// the log would look as if commits were lost. Extra fields stay out of
// checkpoints.
func WriteCheckpoint(ctx context.Context, s storage.Store, st *State, nowMillis int64) error {
	if _, err := s.Stat(ctx, CommitKey(st.Version)); err != nil {
		return fmt.Errorf("checkpoint of version %d: its commit: %w", st.Version, err)
	}
	data, counts, err := encodeCheckpoint(ctx, st, nowMillis)
	if err != nil {
		return fmt.Errorf("checkpoint of version %d: %w", st.Version, err)
	}
	if err := s.Put(ctx, classicKey(st.Version), data); err != nil {
		return fmt.Errorf("checkpoint of version %d: %w", st.Version, err)
	}
	if err := writeHint(ctx, s, st.Version, int64(len(data)), counts); err != nil {
		return fmt.Errorf("hint of checkpoint %d: %w", st.Version, err)
	}
	return nil
}

// checkpointCounts says what a checkpoint holds.
type checkpointCounts struct{ actions, files, tombstones, txns, domains int64 }

func (c *checkpointCounts) count(a *Action) error {
	c.actions++
	switch {
	case a.Add != nil:
		c.files++
	case a.Remove != nil:
		c.tombstones++
	case a.Txn != nil:
		c.txns++
	case a.Domain != nil:
		c.domains++
	}
	return nil
}

func encodeCheckpoint(ctx context.Context, st *State, nowMillis int64) ([]byte, checkpointCounts, error) {
	var counts checkpointCounts
	tombstones, err := st.YoungTombstones(nowMillis)
	if err != nil {
		return nil, counts, err
	}
	stats, err := statsColumnsOf(st)
	if err != nil {
		return nil, counts, err
	}
	v2 := st.Protocol.HasWriterFeature("v2Checkpoint")
	var out bytes.Buffer
	err = recovered(func() error {
		w, err := newPQWriter(&out, checkpointColumns(stats, v2), checkpointCodec(st.Metadata))
		if err != nil {
			return err
		}
		err = st.eachAction(v2, tombstones, func(a *Action) error {
			if counts.actions&0xfff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := checkAction(a, true, func(string, string) error { return nil }); err != nil && a.CheckpointMetadata == nil {
				return err
			}
			_ = counts.count(a) // never fails
			return w.write(a)
		})
		if err != nil {
			return err
		}
		return w.close()
	})
	if err == nil {
		err = proveCheckpoint(ctx, out.Bytes(), st, counts)
	}
	return out.Bytes(), counts, err
}

// eachAction visits what a checkpoint of the state holds.
func (st *State) eachAction(v2 bool, tombstones []*Remove, visit func(*Action) error) error {
	actions := []Action{{Protocol: st.Protocol}, {Metadata: st.Metadata}}
	if v2 {
		actions = append([]Action{{CheckpointMetadata: &CheckpointMetadata{Version: st.Version}}}, actions...)
	}
	for _, t := range sortedTxns(st.Txns) {
		actions = append(actions, Action{Txn: &t})
	}
	for _, d := range sortedDomains(st.Domains) {
		actions = append(actions, Action{Domain: &d})
	}
	for i := range actions {
		if err := visit(&actions[i]); err != nil {
			return err
		}
	}
	for _, a := range st.Files {
		if err := visit(&Action{Add: a}); err != nil {
			return err
		}
	}
	for _, r := range tombstones {
		if err := visit(&Action{Remove: r}); err != nil {
			return err
		}
	}
	return nil
}

// proveCheckpoint reads the bytes back: commits are deleted on the strength of
// a checkpoint, so a wrong one loses rows.
func proveCheckpoint(ctx context.Context, data []byte, st *State, want checkpointCounts) error {
	var got checkpointCounts
	i := 0
	err := recovered(func() error {
		f, err := openParquet(data)
		if err != nil {
			return err
		}
		return scanActions(ctx, f, newInterner(), func(a *Action) error {
			if a.Add != nil && i < len(st.Files) {
				if a.Add.Key() != st.Files[i].Key() || a.Add.Size != st.Files[i].Size {
					return fmt.Errorf("file %d reads back as %s", i, a.Add.Path)
				}
				i++
			}
			return got.count(a)
		})
	})
	if err == nil && got != want {
		err = fmt.Errorf("holds %+v, want %+v", got, want)
	}
	if err != nil {
		return fmt.Errorf("what was written does not read back: %w", err)
	}
	return nil
}

// recovered turns a panic of the Parquet library into an error.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of the Parquet library: %v", p)
		}
	}()
	return f()
}

// writeHint points _last_checkpoint at the checkpoint, unless it already names a
// newer one that exists.
func writeHint(ctx context.Context, s storage.Store, version, size int64, counts checkpointCounts) error {
	if old := readHint(ctx, s); old.version > version && hasCheckpoint(ctx, s, old.version) {
		return nil
	}
	o := openObject(nil)
	o.int("version", version)
	o.int("size", counts.actions)
	o.int("sizeInBytes", size)
	o.int("numOfAddFiles", counts.files)
	// The canonical form lists the members by name (PROTOCOL.md, "JSON checksum").
	canonical := fmt.Sprintf(`"numOfAddFiles"=%d,"size"=%d,"sizeInBytes"=%d,"version"=%d`, counts.files, counts.actions, size, version)
	sum := md5.Sum([]byte(canonical)) //nolint:gosec // see above
	o.str("checksum", hex.EncodeToString(sum[:]))
	return s.Put(ctx, hintKey, o.close())
}

func hasCheckpoint(ctx context.Context, s storage.Store, version int64) bool {
	l, err := list(ctx, s, version)
	return err == nil && len(l.checkpoints) > 0 && l.checkpoints[len(l.checkpoints)-1].version == version
}

// CheckpointInterval is how many commits apart checkpoints are due.
func (m *Metadata) CheckpointInterval() int64 {
	n, err := strconv.ParseInt(m.Configuration["delta.checkpointInterval"], 10, 64)
	if err != nil || n < 1 {
		return 10
	}
	return n
}
