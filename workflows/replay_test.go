package workflows_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/workflows"
)

// corpusSize is how many histories there are at least: a history that once was
// recorded stands for runs that may still be open somewhere.
const corpusSize = 36

func TestReplay_every_recorded_history_is_still_what_the_code_would_do(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(histories, "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), corpusSize, "the corpus never shrinks")
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			data, err := os.Open(f)
			require.NoError(t, err)
			defer func() { _ = data.Close() }() // read only
			h, err := client.HistoryFromJSON(data, client.HistoryJSONOptions{})
			require.NoError(t, err)
			r := worker.NewWorkflowReplayer()
			workflows.Register(r)
			// The ID decides whether a run delegates.
			require.NoError(t, r.ReplayWorkflowHistoryWithOptions(nil, h, worker.ReplayWorkflowHistoryOptions{
				OriginalExecution: workflow.Execution{ID: h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()},
			}))
		})
	}
}

// Every workflow has its endings in the corpus.
func TestReplay_the_corpus_holds_several_endings_of_each_workflow(t *testing.T) {
	t.Parallel()
	for kind, least := range map[string]int{"purge": 20, "erasure": 4, "restore": 8, "lakehouse": 4} {
		files, err := filepath.Glob(filepath.Join(histories, "*-"+kind+"-*.json"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(files), least, kind)
	}
}

// names collects what Register registers.
type names struct{ types []string }

func (n *names) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) {
	n.types = append(n.types, o.Name)
}

func TestRegister_type_names_are_those_that_people_and_schedules_use(t *testing.T) {
	t.Parallel()
	var n names
	workflows.Register(&n)
	slices.Sort(n.types)
	require.Equal(t, []string{"ProveErasure", "PurgeLakehouse", "PurgeTable", "RestorePurge"}, n.types)
}
