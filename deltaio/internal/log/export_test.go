package log

import (
	"bytes"
	"context"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// WriteSidecar writes the file actions of a state as a sidecar does, for tests
// of checkpoints that other engines write.
func WriteSidecar(ctx context.Context, s storage.Store, st *State, key string) error {
	var out bytes.Buffer
	stats := statsColumns{asJSON: true}
	w, err := newPQWriter(&out, structNode("", nil, addColumns(stats), removeColumns()), checkpointCodec(st.Metadata))
	if err != nil {
		return err
	}
	for _, a := range st.Files {
		if err := w.write(&Action{Add: a}); err != nil {
			return err
		}
	}
	for _, r := range st.Tombstones {
		if err := w.write(&Action{Remove: r}); err != nil {
			return err
		}
	}
	if err := w.close(); err != nil {
		return err
	}
	return s.Put(ctx, key, out.Bytes())
}
