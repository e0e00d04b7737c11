package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrDigest means that a record is not the one its reference names.
var ErrDigest = errors.New("record does not match its digest")

// Ref names a record and pins its content: what workflows carry in place of
// plans and manifests.
type Ref struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// PutJSON writes v as canonical JSON and gives its reference.
func PutJSON(ctx context.Context, f *Folder, name string, v any) (Ref, error) {
	data, err := CanonicalJSON(v)
	if err != nil {
		return Ref{}, fmt.Errorf("record %s: %w", name, err)
	}
	if err := f.Put(ctx, name, data); err != nil {
		return Ref{}, err
	}
	return Ref{Name: name, Digest: Digest(data), Size: int64(len(data))}, nil
}

// GetJSON reads the record that ref names into v; ErrDigest when its content is
// another. Unknown members are tolerated: an older worker may read what a newer
// one wrote.
func GetJSON(ctx context.Context, f *Folder, ref Ref, v any) error {
	data, err := f.Get(ctx, ref.Name)
	if err != nil {
		return err
	}
	if got := Digest(data); got != ref.Digest {
		return fmt.Errorf("record %s of %s has digest %s, want %s: %w; somebody changed it", ref.Name, f.URL(), got, ref.Digest, ErrDigest)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("record %s of %s: %w", ref.Name, f.URL(), err)
	}
	return nil
}
