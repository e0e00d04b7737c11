package log

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Damage is something wrong with an object of the log that Load may well get
// around.
type Damage struct {
	Key string // storage key
	Err error
}

// Inspection is what a look at the whole log found.
type Inspection struct {
	First, Latest        int64 // versions that Load can give
	Commits, Checkpoints int
	Checksums            []int64 // versions with a checksum file, ascending
	Damage               []Damage
}

// Inspect reads every complete checkpoint of the log whole and says which do not
// read, where commits are missing, and whether the hint names what is there.
// compare also replays the commits from each checkpoint, or the start, to the
// next one and compares what both say of the table.
func Inspect(ctx context.Context, s storage.Store, compare bool) (*Inspection, error) {
	l, err := list(ctx, s, 0)
	if err != nil {
		return nil, err
	}
	out := &Inspection{Commits: len(l.commits), Checkpoints: len(l.checkpoints)}
	if out.Latest, err = l.latest(); err != nil {
		return nil, err
	}
	out.First = l.first(out.Latest)
	out.Checksums = l.checksums
	out.gaps(l)
	if err := out.hint(ctx, s, l); err != nil {
		return nil, err
	}
	return out, out.checkpoints(ctx, s, l, compare)
}

func (o *Inspection) add(key string, err error) { o.Damage = append(o.Damage, Damage{key, err}) }

// gaps finds missing commits behind the oldest one.
func (o *Inspection) gaps(l *listing) {
	for i := 1; i < len(l.commits); i++ {
		if want := l.commits[i-1].version + 1; l.commits[i].version != want {
			o.add(CommitKey(want), fmt.Errorf("the commits of versions %d to %d are missing", want, l.commits[i].version-1))
		}
	}
}

// hint: a stale one is allowed, one of a checkpoint that is not there is not.
func (o *Inspection) hint(ctx context.Context, s storage.Store, l *listing) error {
	_, err := s.Stat(ctx, hintKey)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", hintKey, err)
	}
	h := readHint(ctx, s)
	switch {
	case h.version < 0:
		o.add(hintKey, errors.New("the hint does not parse"))
	case !slices.ContainsFunc(l.checkpoints, func(c checkpoint) bool { return c.version == h.version }):
		o.add(hintKey, fmt.Errorf("the hint names version %d, which has no complete checkpoint", h.version))
	}
	return nil
}

// checkpoints reads them oldest first.
func (o *Inspection) checkpoints(ctx context.Context, s storage.Store, l *listing, compare bool) error {
	var base *State // what the commits say, at the newest version replayed
	if compare && len(l.commits) > 0 && l.commits[0].version == 0 {
		base = newBase().st
	}
	for i := len(l.checkpoints) - 1; i >= 0; i-- {
		c := l.checkpoints[i]
		st, err := readCheckpoint(ctx, s, c, noHint())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !passOver(err) {
			return err
		}
		if err != nil {
			o.add(c.files[0].Key, err)
			continue
		}
		if !compare {
			continue
		}
		if base != nil && (base.Protocol == nil || base.Version < c.version) && l.runStart(c.version) <= base.Version+1 {
			if err := o.compare(ctx, s, l, base, c, st); err != nil {
				return err
			}
		}
		base = st
	}
	return nil
}

// compare replays the commits from base to a checkpoint and compares the two.
func (o *Inspection) compare(ctx context.Context, s storage.Store, l *listing, base *State, c checkpoint, st *State) error {
	replayed, err := l.replay(ctx, s, base, c.version)
	var damage *CorruptError
	switch {
	case errors.As(err, &damage):
		o.add(damage.Key, err)
	case err != nil:
		return err
	default:
		if why := sameTable(st, replayed); why != "" {
			o.add(c.files[0].Key, fmt.Errorf("the checkpoint and the commits before it disagree: %s", why))
		}
	}
	return nil
}

// sameTable names the first thing that two states of one version disagree on.
// Tombstones may: checkpoints leave out expired ones.
func sameTable(a, b *State) string {
	switch {
	case !sameProtocol(a.Protocol, b.Protocol):
		return "protocol"
	case !sameMetadata(a.Metadata, b.Metadata):
		return "metadata"
	case !maps.EqualFunc(a.Txns, b.Txns, func(x, y Txn) bool { return x.Version == y.Version }):
		return "application transactions"
	case !maps.EqualFunc(a.Domains, b.Domains, func(x, y DomainMetadata) bool { return x.Configuration == y.Configuration }):
		return "metadata domains"
	case len(a.Files) != len(b.Files):
		return fmt.Sprintf("%d files in the checkpoint, %d by the commits", len(a.Files), len(b.Files))
	}
	for i, f := range a.Files {
		g := b.Files[i]
		if f.Key() != g.Key() || f.Size != g.Size || !reflect.DeepEqual(f.PartitionValues, g.PartitionValues) {
			return "file " + f.Path
		}
	}
	return ""
}
