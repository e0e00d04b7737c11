package log

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// maxHint bounds _last_checkpoint, which may hold the schema of the checkpoint.
const maxHint = 16 << 20

// lastCheckpoint is what _last_checkpoint says. It is a hint: it may be stale,
// empty, damaged or plain wrong, and is then as good as absent.
type lastCheckpoint struct {
	version int64  // -1: no hint
	files   int64  // live files in the checkpoint, -1 unknown
	v2Name  string // name of the V2 checkpoint, "" when none is named
	v2Size  int64
}

func noHint() lastCheckpoint { return lastCheckpoint{version: -1, files: -1} }

func readHint(ctx context.Context, s storage.Store) lastCheckpoint {
	data, err := storage.ReadAll(ctx, s, hintKey, maxHint)
	if err != nil { // the listing finds out what is wrong with the store
		return noHint()
	}
	h := noHint()
	c := &cursor{b: data}
	err = c.object(func(key string) (err error) {
		if c.null() {
			return nil
		}
		switch key {
		case "version":
			h.version, err = c.int64()
		case "numOfAddFiles":
			h.files, err = c.int64()
		case "v2Checkpoint":
			err = h.v2(c)
		default:
			err = c.skip()
		}
		return err
	})
	if err != nil || c.end() != nil || h.version < 0 {
		return noHint()
	}
	return h
}

func (h *lastCheckpoint) v2(c *cursor) error {
	return c.object(func(key string) (err error) {
		if c.null() {
			return nil
		}
		switch key {
		case "path":
			h.v2Name, err = c.str()
		case "sizeInBytes":
			h.v2Size, err = c.int64()
		default:
			err = c.skip()
		}
		return err
	})
}
