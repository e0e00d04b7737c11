package deltaio

import (
	"context"
	"errors"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Errors of opening and creating, wrapped with the table's address.
var (
	// ErrNotATable: no Delta log lies under the root.
	ErrNotATable = errors.New("not a Delta table")
	// ErrExists: Create found a table.
	ErrExists = errors.New("table already exists")
	// ErrNoVersion: the log does not reach back (or forward) to the version or
	// time asked for.
	ErrNoVersion = errors.New("version is not available")
)

// Table is a Delta table under the root of a store. It is safe for concurrent
// use and holds no snapshot: each call of Snapshot looks at the log.
type Table struct {
	store storage.Store
	env   Env
}

// CreateOptions describe a new table.
type CreateOptions struct {
	Schema      *schema.Struct
	PartitionBy []string          // logical names, in order
	Properties  map[string]string // delta.* properties; those that need a feature add it to the protocol
	Name        string
	Description string
	Step        *Step // optional: the txn entry of the creating step
}

// Open finds the table under the store's root: ErrNotATable when there is none.
func Open(ctx context.Context, s storage.Store, env Env) (*Table, error) {
	return nil, errors.ErrUnsupported
}

// Create makes a table of version 0: ErrExists when there is one already. With
// a Step that the existing table's version 0 carries, it returns that table.
func Create(ctx context.Context, s storage.Store, env Env, opt CreateOptions) (*Table, error) {
	return nil, errors.ErrUnsupported
}

// Store is the store under whose root the table lies.
func (t *Table) Store() storage.Store { return t.store }

// Env is what the table was opened with, defaults filled in.
func (t *Table) Env() Env { return t.env }

// URL is the root's address.
func (t *Table) URL() string { return t.store.URL() }

// Snapshot is the newest version.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) { return nil, errors.ErrUnsupported }

// SnapshotAt is the given version: ErrNoVersion when the log has lost it.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	return nil, errors.ErrUnsupported
}

// SnapshotAsOf is the newest version committed at or before the time.
func (t *Table) SnapshotAsOf(ctx context.Context, at time.Time) (*Snapshot, error) {
	return nil, errors.ErrUnsupported
}
