package arch

const module = "github.com/lakewarden/lakewarden"

// rule says what the packages under some folders may import of this module and
// what they must not import from outside. Folders are relative to the module's
// root and stand for everything below them, as import paths do; a path ending in
// "$" stands for itself alone.
type rule struct {
	name   string // also the rule's name in .golangci.yml
	in     []string
	except []string // folders below that have rules of their own
	own    []string // what may be imported of this module; nil: no limit
	deny   []string // import paths from outside
	reason string
}

var (
	temporal = []string{"go.temporal.io"}
	random   = []string{"math/rand", "crypto/rand"}
	outside  = []string{"os", "net$", "net/http", "syscall", "log"}
	arrow    = []string{"github.com/apache/arrow"}
	// wiring knows everything; so nothing but the two programs may know it.
	wiring = []string{module + "/internal/run", module + "/internal/config", module + "/internal/demo"}
)

var rules = []rule{
	{
		name:   "server",
		in:     []string{"."},
		deny:   []string{"go.temporal.io/server"},
		reason: "the dev server is a process of its own: it triples the build and does not compile beside the SDK",
	},
	{
		name:   "spec",
		in:     []string{"spec"},
		own:    []string{"spec"},
		deny:   join(temporal, random, outside, arrow),
		reason: "a spec is judged by its text alone: the same answer in an editor, in CI and in a workflow's replay",
	},
	{
		name:   "workflows",
		in:     []string{"workflows"},
		own:    []string{"workflows", "activities$", "spec"},
		deny:   join(random, outside, arrow),
		reason: "workflow code is replayed: it decides on its input and on what activities return, nothing else",
	},
	{
		name:   "activities",
		in:     []string{"activities"},
		own:    []string{"activities", "deltaio", "spec", "internal"},
		deny:   join(wiring, []string{"go.temporal.io/sdk/workflow"}),
		reason: "workflows depend on activities, never back: a step must not know which runbook calls it",
	},
	{
		name:   "worker",
		in:     []string{"worker"},
		own:    []string{"worker", "workflows", "activities", "spec", "deltaio/storage", "internal"},
		reason: "the worker wires and runs; what touches tables is an activity, so that history shows it",
	},
	{
		name:   "starter",
		in:     []string{"starter", "internal/demo"},
		own:    []string{"starter", "workflows", "activities$", "spec", "deltaio", "internal"},
		deny:   []string{"go.temporal.io/sdk/workflow"},
		reason: "the command line starts, asks and reads; the work is done by workflows, where it survives a crash",
	},
	{
		name:   "deltaio",
		in:     []string{"deltaio"},
		own:    []string{"deltaio"},
		deny:   join(temporal, []string{"log$", "log/slog"}),
		reason: "deltaio is a library of its own: without Temporal, without lakewarden's specs, without a log",
	},
	{
		name:   "deltaio-schema",
		in:     []string{"deltaio/schema"},
		own:    []string{"deltaio/schema"},
		deny:   []string{"os"},
		reason: "types stand below everything and do no I/O",
	},
	{
		name:   "deltaio-storage",
		in:     []string{"deltaio/storage"},
		own:    []string{"deltaio/storage"},
		deny:   arrow,
		reason: "a store moves bytes and knows nothing of tables",
	},
	{
		name:   "deltaio-expr",
		in:     []string{"deltaio/expr"},
		own:    []string{"deltaio/expr", "deltaio/schema"},
		deny:   []string{"os"},
		reason: "a predicate is judged on a schema and on Arrow rows, wherever they come from",
	},
	{
		name:   "deltaio-log",
		in:     []string{"deltaio/internal/log"},
		own:    []string{"deltaio/internal/log", "deltaio/schema", "deltaio/storage"},
		reason: "replaying the log never opens a data file",
	},
	{
		name: "deltaio-files",
		in:   []string{"deltaio/internal/pq", "deltaio/internal/scan", "deltaio/rowhash"},
		own: []string{
			"deltaio/internal/pq", "deltaio/internal/scan", "deltaio/rowhash", "deltaio/expr", "deltaio/schema", "deltaio/storage",
		},
		reason: "data files are read and written without the table's log: what a file means is decided above",
	},
	{
		name:   "internal",
		in:     []string{"internal"},
		except: []string{"internal/conform", "internal/deps", "internal/e2e", "internal/run", "internal/config", "internal/demo"},
		own:    []string{"internal", "deltaio", "spec"},
		deny:   join(temporal, wiring),
		reason: "what activities and the command line share works without Temporal, also after its history is gone",
	},
	{
		name:   "internal-run",
		in:     []string{"internal/run", "internal/config"},
		own:    []string{"internal", "activities$", "workflows", "spec", "deltaio/storage"},
		deny:   []string{"go.temporal.io/sdk/workflow"},
		reason: "putting a worker together is no place for table work or for a runbook's decisions",
	},
	{
		name:   "internal-conform",
		in:     []string{"internal/conform"},
		own:    []string{"internal/conform", "spec", "deltaio/expr", "deltaio/schema"},
		deny:   join(temporal, outside),
		reason: "Silver's row engine is Arrow in, Arrow out: no tables, no files, no Temporal",
	},
}

func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
