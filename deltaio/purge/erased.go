package purge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// maxResidue bounds the sentences in the result; the record holds all.
const maxResidue = 20

// CopyLister is a store that keeps copies of what is deleted (soft-deleted blobs,
// noncurrent versions) and can list those of an object.
type CopyLister interface {
	Copies(ctx context.Context, key string) (int, error)
}

// ProveErased accounts for every object under the table's root and for every
// file that held purged rows. It writes nothing but its record in the run
// folder. Erased is true only when nothing was found that holds such rows or may
// hold them; everything else is named as residue.
func ProveErased(ctx context.Context, t *deltaio.Table, opt ProveOptions) (*ProveResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	h, err := loadHistory(ctx, t, opt.Run)
	if err != nil {
		return nil, err
	}
	if err := forgetStatistics(ctx, opt.Run); err != nil {
		return nil, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p := &proof{t: t, opt: opt, h: h, snap: snap, out: &ProveResult{At: t.Env().Now().UTC(), Version: snap.Version(), Known: len(h.files)}}
	for _, step := range []func(context.Context) error{p.prepare, p.list, p.unfinished, p.stat, p.copies, p.rows, p.log} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p.finish(ctx)
}

// proof is one call of ProveErased.
type proof struct {
	t    *deltaio.Table
	opt  ProveOptions
	h    *history
	snap *deltaio.Snapshot
	out  *ProveResult

	live       map[string]bool // data files and deletion vectors
	tombstones map[string]int64
	retention  time.Duration
	seen       map[string]bool // known files in the listing
	residue    []string
}

func (p *proof) left(format string, args ...any) {
	p.residue = append(p.residue, fmt.Sprintf(format, args...))
}

// due remembers when something that is left may go.
func (p *proof) due(at time.Time) {
	if p.out.FilesDue == nil || at.After(*p.out.FilesDue) {
		p.out.FilesDue = &at
	}
}

func (p *proof) prepare(context.Context) (err error) {
	if p.retention = p.opt.Retention; p.retention == 0 {
		if p.retention, err = p.snap.FileRetention(); err != nil {
			return err
		}
	}
	if p.out.Canary = p.opt.Canary; p.out.Canary == "" {
		p.out.Canary = log.CommitKey(p.snap.Version())
	}
	p.live, p.seen = map[string]bool{}, map[string]bool{}
	p.tombstones = tombstoneTimes(p.snap)
	vector := func(d *log.DeletionVector, note func(string)) {
		if key, inFile, err := dv.Key(p.t.URL(), d); err == nil && inFile {
			note(key)
		}
	}
	for _, a := range p.snap.Files() {
		p.live[a.Key().Path] = true
		if a.DeletionVector != nil {
			vector(a.DeletionVector, func(k string) { p.live[k] = true })
		}
	}
	for _, rm := range p.snap.State().Tombstones {
		if rm.DeletionVector != nil {
			at := p.tombstones[rm.Key().Path]
			vector(rm.DeletionVector, func(k string) { p.tombstones[k] = max(at, p.tombstones[k]) })
		}
	}
	return nil
}

// list goes through every object once.
func (p *proof) list(ctx context.Context) error {
	for info, err := range p.t.Store().List(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("%s: account for every object: %w", p.t.URL(), err)
		}
		if info.Key == p.out.Canary {
			p.out.CanarySeen = true
		}
		known, isKnown := p.h.files[info.Key]
		if isKnown {
			p.out.KnownSeen++
			p.seen[info.Key] = true
		}
		deletedAt, tombstoned := p.tombstones[info.Key]
		switch {
		case strings.HasPrefix(info.Key, "_delta_log/"):
			p.out.Log.add(info)
		case p.live[info.Key]:
			p.out.Live.add(info)
			if isKnown {
				p.left("%s (%s) is live again", info.Key, known.what)
			}
		case tombstoned:
			p.out.Tombstoned.add(info)
			p.remains(info, known, isKnown, deletedAt)
		case strings.HasPrefix(info.Key, "_change_data/"):
			p.out.Tombstoned.add(info)
			p.remains(info, known, isKnown, info.ModTime.UnixMilli())
		case hidden(info.Key):
			p.out.Other.add(info)
			if isKnown {
				p.left("%s (%s) is still in storage", info.Key, known.what)
			}
		default:
			p.out.Unknown.add(info)
			p.remains(info, known, isKnown, info.ModTime.UnixMilli())
		}
	}
	if !p.out.CanarySeen {
		p.left("the listing does not show %s, which exists: it proves nothing", p.out.Canary)
	}
	return nil
}

// unfinished accounts for what writers that died left behind, which no listing
// shows: it may hold purged rows, so that nothing is erased while it lies there.
func (p *proof) unfinished(ctx context.Context) error {
	old, err := storage.Leftovers(ctx, p.t.Store(), time.Unix(1<<40, 0)) // of any age
	if err != nil {
		return fmt.Errorf("%s: unfinished writes: %w", p.t.URL(), err)
	}
	for _, info := range old {
		p.out.Unknown.add(info)
		p.left("%s is an unfinished write of %d bytes, of a writer that died or is at work", info.Key, info.Size)
		p.due(info.ModTime.Add(p.retention))
	}
	return nil
}

func (o *Objects) add(info storage.Info) {
	o.Count++
	o.Bytes += info.Size
}

// remains judges an object that is not live: a known one holds purged rows, any
// other that left the table no later than they did may hold them too.
func (p *proof) remains(info storage.Info, known knownFile, isKnown bool, since int64) {
	end := msTime(since).Add(p.retention)
	switch {
	case isKnown:
		p.left("%s (%s) is still in storage; it leaves retention at %s", info.Key, known.what, end.Format(time.RFC3339))
	case ownFile(info.Key, p.opt.ID):
		p.left("%s was written by this run and belongs to no version", info.Key)
	case !msTime(since).After(p.h.deletedAt):
		p.left("%s left the table before or with the purged rows and may hold copies; it leaves retention at %s", info.Key, end.Format(time.RFC3339))
	default:
		return
	}
	p.due(end)
}

// hidden says whether an object is none of the table's data: Delta ignores names
// that start with "_" or ".", unless they name a partition.
func hidden(key string) bool {
	for _, part := range strings.Split(key, "/") {
		if (strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")) && !strings.Contains(part, "=") {
			return true
		}
	}
	return false
}

// stat asks for each known file by itself: a listing may lag behind.
func (p *proof) stat(ctx context.Context) error {
	keys := make([]string, 0, len(p.h.files))
	for k := range p.h.files {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	gone := make([]bool, len(keys))
	m := newMeter(p.t, "prove: look up files", len(keys), 0)
	err := forEach(ctx, p.t, len(keys), func(ctx context.Context, i int) error {
		_, err := p.t.Store().Stat(ctx, keys[i])
		gone[i] = errors.Is(err, storage.ErrNotExist)
		m.file(0, 0)
		if gone[i] {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: look up files that held purged rows: %w", p.t.URL(), err)
	}
	for i, k := range keys {
		switch {
		case gone[i] && !p.seen[k]:
			p.out.KnownGone++
		case gone[i]:
			p.left("%s was listed, and gone when it was looked up: look again", k)
		case !p.seen[k]:
			p.left("%s (%s) is in storage, though the listing does not show it", k, p.h.files[k].what)
		}
	}
	return nil
}

// copies asks the store for what it keeps of deleted objects. Disk and memory
// keep nothing; another store that cannot be asked leaves the answer open.
func (p *proof) copies(ctx context.Context) error {
	lister, can := p.t.Store().(CopyLister)
	if !can {
		if url := p.t.URL(); strings.HasPrefix(url, "file:") || strings.HasPrefix(url, "memory:") {
			none := 0
			p.out.Copies = &none
		} else {
			p.left("the store cannot say whether it keeps copies of deleted objects")
		}
		return nil
	}
	n := 0
	for key := range p.h.files {
		c, err := lister.Copies(ctx, key)
		if err != nil {
			return fmt.Errorf("%s: ask for copies of %s: %w", p.t.URL(), key, err)
		}
		n += c
	}
	if p.out.Copies = &n; n > 0 {
		p.left("the store keeps %d soft-deleted or noncurrent copies of files that held purged rows", n)
	}
	return nil
}

func (p *proof) finish(ctx context.Context) (*ProveResult, error) {
	p.out.Erased = len(p.residue) == 0
	full := struct {
		Result  ProveResult `json:"result"`
		Known   []string    `json:"known"`
		Residue []string    `json:"residue"`
	}{Result: *p.out, Residue: p.residue}
	for k := range p.h.files {
		full.Known = append(full.Known, k)
	}
	slices.Sort(full.Known)
	name, _, err := writeRecord(ctx, p.opt.Run, "erased", p.t.Env().NewID(), full)
	if err != nil {
		return nil, err
	}
	p.out.Record = name
	p.out.Residue = p.residue[:min(maxResidue, len(p.residue))]
	return p.out, nil
}
