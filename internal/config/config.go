// Package config is how the worker and the command line learn where Temporal and
// the lakehouse are: flags, then environment, then a small YAML file, then the
// Temporal CLI's own profiles. It owns the order and the names; it holds no
// secrets of its own.
package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	tlog "go.temporal.io/sdk/log"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/lake"
)

// Environment variables. EnvRoot holds several roots separated by white space, so
// that a path with a space needs the file or a flag. Those of the Temporal CLI (TEMPORAL_ADDRESS,
// TEMPORAL_NAMESPACE, TEMPORAL_PROFILE, TEMPORAL_API_KEY, TEMPORAL_TLS_*) are read
// as well.
const (
	EnvFile      = "LAKEWARDEN_CONFIG"
	EnvRoot      = "LAKEWARDEN_ROOT"
	EnvQueue     = "LAKEWARDEN_QUEUE"
	EnvParallel  = "LAKEWARDEN_PARALLEL"
	EnvRunFolder = "LAKEWARDEN_RUN_FOLDERS"
)

// DefaultFile is looked for in the current folder when no file is named.
const DefaultFile = "lakewarden.yaml"

// File is the configuration file.
type File struct {
	lake.Config `yaml:",inline"`
	// Queue is the Temporal task queue. Empty: lakewarden.
	Queue string `json:"queue,omitempty"`
	// Parallel bounds the files in flight per activity. 0: the number of CPUs, at most 8.
	Parallel int `json:"parallel,omitempty"`
	// Temporal is where the server is; empty fields come from the Temporal CLI's
	// environment variables and profiles.
	Temporal Temporal `json:"temporal,omitempty"`
}

// Temporal is the connection to the server.
type Temporal struct {
	Address   string `json:"address,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Profile   string `json:"profile,omitempty"`
}

// Flags are what the command line gives; empty fields are not given.
type Flags struct {
	File      string
	Roots     []string // URL, or schema[,schema]=URL
	RunFolder string
	Queue     string
	Parallel  int
	Address   string
	Namespace string
	Profile   string
}

// Load merges flags, environment (lookup is os.LookupEnv) and file.
func Load(f Flags, lookup func(string) (string, bool)) (File, error) {
	env := func(name string) string { v, _ := lookup(name); return v }
	c, err := readFile(cmp.Or(f.File, env(EnvFile)))
	if err != nil {
		return File{}, err
	}
	roots := f.Roots
	if len(roots) == 0 && env(EnvRoot) != "" {
		roots = strings.Fields(env(EnvRoot))
	}
	if len(roots) > 0 {
		if c.Roots, err = parseRoots(roots); err != nil {
			return File{}, err
		}
	}
	c.RunFolders = cmp.Or(relativeTo("", cmp.Or(f.RunFolder, env(EnvRunFolder))), c.RunFolders)
	c.Queue = cmp.Or(f.Queue, env(EnvQueue), c.Queue)
	c.Temporal.Address = cmp.Or(f.Address, c.Temporal.Address)
	c.Temporal.Namespace = cmp.Or(f.Namespace, c.Temporal.Namespace)
	c.Temporal.Profile = cmp.Or(f.Profile, c.Temporal.Profile)
	if f.Parallel > 0 {
		c.Parallel = f.Parallel
	} else if v := env(EnvParallel); v != "" {
		if c.Parallel, err = strconv.Atoi(v); err != nil || c.Parallel < 1 {
			return File{}, fmt.Errorf("%s=%q: want a number from 1", EnvParallel, v)
		}
	}
	return c, nil
}

// readFile reads the named file, or DefaultFile where none is named and it exists.
func readFile(name string) (File, error) {
	var c File
	path := cmp.Or(name, DefaultFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && name == "" {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("configuration: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(data, &c, yaml.Strict(), yaml.UseJSONUnmarshaler()); err != nil {
		return c, fmt.Errorf("configuration %s: %w", path, err)
	}
	for i, r := range c.Roots {
		c.Roots[i].URL = relativeTo(path, r.URL)
	}
	if c.RunFolders != "" {
		c.RunFolders = relativeTo(path, c.RunFolders)
	}
	return c, nil
}

// relativeTo resolves a relative path against the file that names it, or against
// the current folder where none does.
func relativeTo(file, url string) string {
	if url == "" || strings.Contains(url, "://") || filepath.IsAbs(url) {
		return url
	}
	if abs, err := filepath.Abs(filepath.Join(filepath.Dir(file), url)); err == nil {
		return abs
	}
	return url
}

// parseRoots reads roots from flags: URL, or bronze,silver=URL.
func parseRoots(roots []string) ([]lake.Root, error) {
	var out []lake.Root
	for _, r := range roots {
		schemas, url, named := strings.Cut(r, "=")
		if !named {
			schemas, url = "", r
		}
		if url == "" {
			return nil, fmt.Errorf("root %q: want a URL, or schema,schema=URL, such as file:///data/lake", r)
		}
		root := lake.Root{URL: relativeTo("", url)}
		if schemas != "" {
			root.Schemas = strings.Split(schemas, ",")
		}
		out = append(out, root)
	}
	return out, nil
}

// Lake opens the configured lakehouse.
func (c File) Lake() (*lake.Lake, error) { return lake.New(c.Config, storage.Open) }

// Options are the client's options: what the file and flags say, over the
// Temporal CLI's environment variables and profiles.
func (c File) Options(logger *slog.Logger) (client.Options, error) {
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileProfile: c.Temporal.Profile})
	if err != nil {
		return o, fmt.Errorf("temporal profile: %w", err)
	}
	o.HostPort = cmp.Or(c.Temporal.Address, o.HostPort)
	o.Namespace = cmp.Or(c.Temporal.Namespace, o.Namespace)
	if logger != nil {
		o.Logger = tlog.NewStructuredLogger(logger)
	}
	return o, nil
}

// Namespace is the namespace that Dial connects to.
func (c File) Namespace() (string, error) {
	o, err := c.Options(nil)
	return cmp.Or(o.Namespace, client.DefaultNamespace), err
}

// dialTimeout is how long a server may take to answer at first: one that is not
// there is said to be so while people still look.
const dialTimeout = 5 * time.Second

// Dial connects to the server, and says where it tried.
func (c File) Dial(ctx context.Context, logger *slog.Logger) (client.Client, error) {
	o, err := c.Options(logger)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	cl, err := client.DialContext(within, o)
	if err != nil {
		return nil, fmt.Errorf("no Temporal server answers at %s within %s: %w; start one (temporal server start-dev), or set TEMPORAL_ADDRESS or --address",
			cmp.Or(o.HostPort, client.DefaultHostPort), dialTimeout, err)
	}
	return cl, nil
}
