package auditlog

import (
	"context"
	"slices"
	"sync"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// maxCachedRows bounds a cache: some 50 MB of rows.
const maxCachedRows = 50_000

// Cache is what the logs of one process share: a place in the queue of writers
// per table, and the rows of files that were read before. A nil Cache keeps
// nothing and queues nobody.
//
// Data files are immutable, so a file is known by its path, size, time and
// deletion vector, within one table id and schema; which files are live is read
// from the log each time. A file that was overwritten in place goes unseen:
// verify without a cache.
type Cache struct {
	mu     sync.Mutex
	queues map[string]chan struct{} // by URL of the table
	tables map[string]*cachedTable  // by URL of the table
}

type cachedTable struct {
	id, schema string
	files      map[string][]evidence.AuditRow
	rows       int
}

// NewCache gives an empty cache.
func NewCache() *Cache {
	return &Cache{queues: map[string]chan struct{}{}, tables: map[string]*cachedTable{}}
}

// enter waits until no other writer of the process is at the table.
func (c *Cache) enter(ctx context.Context, url string) (leave func(), err error) {
	if c == nil {
		return func() {}, nil
	}
	c.mu.Lock()
	q := c.queues[url]
	if q == nil {
		q = make(chan struct{}, 1)
		c.queues[url] = q
	}
	c.mu.Unlock()
	select {
	case q <- struct{}{}:
		return func() { <-q }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// known gives the rows of the snapshot's files that were read before, by key.
func (c *Cache) known(snap *deltaio.Snapshot) map[string][]evidence.AuditRow {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[snap.Table().URL()]
	if t == nil || t.id != snap.TableID() || t.schema != snap.Schema().JSON() {
		return nil
	}
	return t.files // never changed once it is here
}

// keep replaces what is known of a table by its live files, as far as there is
// room; other tables make room first.
func (c *Cache) keep(snap *deltaio.Snapshot, keys []string, rows [][]evidence.AuditRow) {
	if c == nil {
		return
	}
	t := &cachedTable{id: snap.TableID(), schema: snap.Schema().JSON(), files: make(map[string][]evidence.AuditRow, len(keys))}
	for i, key := range keys {
		if t.rows+len(rows[i]) > maxCachedRows {
			break
		}
		t.files[key] = slices.Clone(rows[i])
		t.rows += len(rows[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	url := snap.Table().URL()
	delete(c.tables, url)
	total := t.rows
	for _, other := range c.tables {
		total += other.rows
	}
	for name, other := range c.tables { // any: the next read of it fills it again
		if total <= maxCachedRows {
			break
		}
		delete(c.tables, name)
		total -= other.rows
	}
	c.tables[url] = t
}
