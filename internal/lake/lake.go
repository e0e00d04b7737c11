// Package lake resolves table names to stores under the configured lakehouse
// roots, and run ids to run folders. It owns the rule that only those roots are
// touched; it refuses a name that no root claims and a path outside a root.
package lake

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// Layout where a root has none.
const defaultLayout = "{schema}/{table}"

// controlSchema is the schema beside whose tables run folders lie by default.
const controlSchema = "control"

// runFoldersDir is where run folders lie below the control root by default. Its
// leading underscore keeps other engines from taking it for a table.
const runFoldersDir = "_lakewarden"

// ErrNoRoot: no configured root holds the schema.
var ErrNoRoot = errors.New("no lakehouse root holds this schema")

// Root is a place where tables lie.
type Root struct {
	// Schemas that lie under the root. Empty: every schema that no other root
	// names.
	Schemas []string `json:"schemas,omitempty"`
	// URL of the root: file:///path, or a plain absolute path.
	URL string `json:"url"`
	// Layout of a table's folder below the URL, from {schema} and {table}. Empty:
	// {schema}/{table}.
	Layout string `json:"layout,omitempty"`
}

// Config is the lakehouse as a worker sees it.
type Config struct {
	Roots []Root `json:"roots"`
	// RunFolders is the URL under which runs keep their plans and manifests.
	// Empty: _lakewarden below the root that holds the schema control.
	RunFolders string `json:"run_folders,omitempty"`
}

// Lake is an opened configuration. Safe for concurrent use.
type Lake struct {
	config Config
	open   func(ctx context.Context, url string) (storage.Store, error)

	mu     sync.Mutex
	stores map[string]storage.Store
}

// New checks a configuration; open is storage.Open, or a test's own.
func New(c Config, open func(ctx context.Context, url string) (storage.Store, error)) (*Lake, error) {
	if len(c.Roots) == 0 {
		return nil, errors.New("no lakehouse root is configured; give one, for example --root file:///data/lake")
	}
	seen := map[string]string{}
	for i, r := range c.Roots {
		if r.URL == "" {
			return nil, fmt.Errorf("root %d has no url", i+1)
		}
		if r.Layout != "" && !strings.Contains(r.Layout, "{table}") {
			return nil, fmt.Errorf("root %s: layout %q must contain {table}, for example %s", r.URL, r.Layout, defaultLayout)
		}
		for _, s := range claimed(r) {
			if other, ok := seen[s]; ok {
				return nil, fmt.Errorf("roots %s and %s both claim %s", other, r.URL, schemaLabel(s))
			}
			seen[s] = r.URL
		}
	}
	return &Lake{config: c, open: open, stores: map[string]storage.Store{}}, nil
}

// claimed lists the schemas of a root, "" for the catch-all.
func claimed(r Root) []string {
	if len(r.Schemas) == 0 {
		return []string{""}
	}
	return r.Schemas
}

func schemaLabel(s string) string {
	if s == "" {
		return "every schema that no other root names"
	}
	return "schema " + s
}

// Config gives what the lake was made of.
func (l *Lake) Config() Config { return l.config }

// Table gives the store rooted at a table's folder, which need not exist, for a
// name such as bronze.vendas.
func (l *Lake) Table(ctx context.Context, name string) (storage.Store, error) {
	schema, table, ok := strings.Cut(name, ".")
	if !ok || !plainName(schema) || !plainName(table) {
		return nil, fmt.Errorf("table %q: want schema.table, such as bronze.vendas", name)
	}
	root, err := l.root(schema)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	store, err := l.store(ctx, root.URL)
	if err != nil {
		return nil, fmt.Errorf("table %s: root %s: %w", name, root.URL, err)
	}
	layout := root.Layout
	if layout == "" {
		layout = defaultLayout
	}
	return storage.Sub(store, strings.NewReplacer("{schema}", schema, "{table}", table).Replace(layout)), nil
}

// plainName keeps names from becoming paths, and from lying among the folders
// that engines do not take for tables, as run folders do.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00") && !strings.HasPrefix(s, "_") && path.Clean(s) == s
}

func (l *Lake) root(schema string) (Root, error) {
	var fallback *Root
	for i, r := range l.config.Roots {
		if slices.Contains(r.Schemas, schema) {
			return r, nil
		}
		if len(r.Schemas) == 0 {
			fallback = &l.config.Roots[i]
		}
	}
	if fallback == nil {
		return Root{}, fmt.Errorf("%w: %s; add it to a root of the worker's configuration", ErrNoRoot, schema)
	}
	return *fallback, nil
}

// Run gives the folder of a run.
func (l *Lake) Run(ctx context.Context, runID string) (*evidence.Folder, error) {
	s, err := l.runFolders(ctx)
	if err != nil {
		return nil, err
	}
	return evidence.OpenRun(s, runID)
}

// runFolders is the store that holds all run folders.
func (l *Lake) runFolders(ctx context.Context) (storage.Store, error) {
	if l.config.RunFolders != "" {
		s, err := l.store(ctx, l.config.RunFolders)
		if err != nil {
			return nil, fmt.Errorf("run folders %s: %w", l.config.RunFolders, err)
		}
		return s, nil
	}
	root, err := l.root(controlSchema)
	if err != nil {
		return nil, fmt.Errorf("run folders: %w; or configure run_folders", err)
	}
	s, err := l.store(ctx, root.URL)
	if err != nil {
		return nil, fmt.Errorf("run folders: root %s: %w", root.URL, err)
	}
	return storage.Sub(s, runFoldersDir), nil
}

// Probe checks the rights on the run folders.
func (l *Lake) Probe(ctx context.Context) error {
	s, err := l.runFolders(ctx)
	if err != nil {
		return err
	}
	return storage.Probe(ctx, s)
}

// store opens a root once.
func (l *Lake) store(ctx context.Context, url string) (storage.Store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.stores[url]; ok {
		return s, nil
	}
	s, err := l.open(ctx, url)
	if err != nil {
		return nil, err
	}
	l.stores[url] = s
	return s, nil
}
