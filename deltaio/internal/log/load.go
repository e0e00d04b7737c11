package log

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// State is the table at one version. It is immutable and shared.
type State struct {
	Version   int64
	Timestamp int64 // ms; in-commit timestamp where enabled, else the commit file's time
	Protocol  *Protocol
	Metadata  *Metadata
	Txns      map[string]Txn
	Domains   map[string]DomainMetadata // live ones
	Files     []*Add                    // sorted by path; their DataChange is false
	// Tombstones are the removed files the log still knows, sorted by path.
	// Expired ones may be among them or not, see YoungTombstones.
	Tombstones []*Remove
}

// relists is how often a listing is made anew because files it named were gone
// when they were read: a log clean-up ran meanwhile.
const relists = 3

// Load gives the table at a version; -1 is the newest. It starts from the
// newest checkpoint that reads whole and replays the commits since.
func Load(ctx context.Context, s storage.Store, version int64) (*State, error) {
	for attempt := 1; ; attempt++ {
		st, err := load(ctx, s, version)
		if err == nil {
			return st, nil
		}
		// A listing is no snapshot: it may show a commit and miss the one before it,
		// which was written earlier. Damage that stays is damage.
		var damage *CorruptError
		if !errors.Is(err, storage.ErrNotExist) && !errors.As(err, &damage) || attempt == relists || ctx.Err() != nil {
			return nil, err
		}
	}
}

func load(ctx context.Context, s storage.Store, version int64) (*State, error) {
	hint := readHint(ctx, s)
	if hint.version > 0 && (version < 0 || hint.version <= version) {
		l, err := list(ctx, s, hint.version)
		if err != nil {
			return nil, err
		}
		st, err := l.load(ctx, s, version, hint)
		if err == nil || ctx.Err() != nil {
			return st, err
		}
		// Whatever is wrong with the short way, the long one tells the truth.
	}
	l, err := list(ctx, s, 0)
	if err != nil {
		return nil, err
	}
	return l.load(ctx, s, version, hint)
}

// load gives a version from what the listing names.
func (l *listing) load(ctx context.Context, s storage.Store, version int64, hint lastCheckpoint) (*State, error) {
	latest, err := l.latest()
	if err != nil {
		return nil, err
	}
	if version < 0 {
		version = latest
	}
	if version > latest && !l.partial {
		return nil, l.uncovered(version, version+1)
	}
	bases, fromStart, err := l.bases(version)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, c := range bases {
		base, err := readCheckpoint(ctx, s, c, hint)
		if err == nil {
			var st *State
			if st, err = l.checked(ctx, s, base, version); err == nil {
				return st, nil
			}
			if wrong := (*ChecksumError)(nil); !errors.As(err, &wrong) {
				return nil, err
			}
		}
		if ctx.Err() != nil || !passOver(err) {
			return nil, err
		}
		failed = append(failed, err)
	}
	if fromStart {
		return l.checked(ctx, s, newBase().st, version)
	}
	if l.partial {
		return nil, errPartial
	}
	if len(failed) == 1 {
		if wrong := (*ChecksumError)(nil); errors.As(failed[0], &wrong) {
			return nil, failed[0]
		}
	}
	return nil, fmt.Errorf("version %d: the commits before the oldest checkpoint are gone and no checkpoint reads whole: %w",
		version, errors.Join(failed...))
}

// passOver says whether a checkpoint is damaged, so that another may serve. An
// answer the store owes is no damage.
func passOver(err error) bool {
	var c *CorruptError
	return errors.As(err, &c) || errors.Is(err, storage.ErrNotExist)
}

// replay applies the commits after the base up to version.
func (l *listing) replay(ctx context.Context, s storage.Store, base *State, version int64) (*State, error) {
	from := base.Version + 1
	if base.Protocol == nil { // an empty base
		from = 0
	}
	d := newDelta()
	err := eachCommit(ctx, s, from, version, l.sizeOf, func(v int64, info storage.Info, actions []Action) error {
		return d.commit(v, info.ModTime.UnixMilli(), actions)
	})
	if err != nil {
		return nil, err
	}
	st, err := d.merge(base)
	if err != nil {
		return nil, err
	}
	st.Version = version
	info, ok := l.commit(version)
	if !ok { // the checkpoint of a version whose commit was cleaned up
		info = l.checkpointInfo(version)
	}
	return st, st.finish(ctx, s, info)
}

func (d *delta) commit(version, timestamp int64, actions []Action) error {
	c := commitDelta{delta: d, version: version, timestamp: timestamp}
	for i := range actions {
		if err := c.apply(&actions[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish checks the state and dates it.
func (st *State) finish(ctx context.Context, s storage.Store, info storage.Info) error {
	if err := st.validate(); err != nil {
		return err
	}
	st.Timestamp = info.ModTime.UnixMilli()
	if st.InCommitTimestamps() {
		ms, err := inCommitTimestamp(ctx, s, st.Version)
		if err != nil {
			return fmt.Errorf("time of version %d: %w", st.Version, err)
		}
		st.Timestamp = ms
	}
	return nil
}

func (l *listing) sizeOf(version int64) int64 {
	info, _ := l.commit(version)
	return info.Size
}

func (l *listing) checkpointInfo(version int64) storage.Info {
	for _, c := range l.checkpoints {
		if c.version == version {
			return c.files[0]
		}
	}
	return storage.Info{}
}

const (
	// prefetch is how many commits are read at once, and prefetchBytes how many
	// bytes of them: a commit larger than that is read alone.
	prefetch      = 8
	prefetchBytes = 64 << 20
)

type readAheadCommit struct {
	info    storage.Info
	actions []Action
	err     error
	weight  int64
}

// eachCommit reads the commits from to to, several at once, and hands them over
// in order, commitInfo left out.
func eachCommit(ctx context.Context, s storage.Store, from, to int64, sizeOf func(int64) int64,
	each func(version int64, info storage.Info, actions []Action) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &decoder{in: newInterner(), skipInfo: true}
	budget := semaphore.NewWeighted(prefetchBytes)
	queue := make(chan chan readAheadCommit, prefetch-1)
	var g errgroup.Group
	g.Go(func() error {
		defer close(queue)
		for v := from; v <= to; v++ {
			weight := min(max(sizeOf(v), 1), prefetchBytes)
			if budget.Acquire(ctx, weight) != nil {
				return nil // the consumer has the reason
			}
			out := make(chan readAheadCommit, 1)
			select {
			case queue <- out:
			case <-ctx.Done():
				return nil
			}
			g.Go(func() error {
				actions, info, err := readCommit(ctx, s, v, d)
				out <- readAheadCommit{info, actions, err, weight}
				return nil
			})
		}
		return nil
	})
	err := drain(queue, budget, from, each)
	if err == nil {
		err = ctx.Err()
	}
	cancel()
	g.Wait() //nolint:errcheck // the goroutines return no error
	return err
}

func drain(queue <-chan chan readAheadCommit, budget *semaphore.Weighted, version int64,
	each func(version int64, info storage.Info, actions []Action) error,
) error {
	for out := range queue {
		c := <-out
		if c.err != nil {
			return c.err
		}
		if err := each(version, c.info, c.actions); err != nil {
			return err
		}
		budget.Release(c.weight)
		version++
	}
	return nil
}
