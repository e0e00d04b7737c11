package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
)

func TestWorker_killed_at_a_write_another_finishes_and_nothing_is_lost_or_doubled(t *testing.T) {
	t.Parallel()
	log := func(table, version string) string {
		return table + "/_delta_log/000000000000000000" + version + ".json"
	}
	for name, c := range map[string]struct{ key, when string }{
		"planning, before its record":         {"_lakewarden/runs/", "before"},
		"marking, before the column is added": {log("", "03"), "before"},
		"marking, after a file is staged":     {"-mark-", "after"},
		"marking, before its commit":          {log("", "04"), "before"},
		"marking, after its commit":           {log("", "04"), "after"},
		"archiving, after a file is staged":   {"-archive", "after"},
		"archiving, before its commit":        {log("archive/vendas_expurgo", "01"), "before"},
		"archiving, after its commit":         {log("archive/vendas_expurgo", "01"), "after"},
		"deleting, before its commit":         {log("", "05"), "before"},
		"deleting, after its commit":          {log("", "05"), "after"},
		"recording, before its commit":        {log("control/expurgo_audit", "01"), "before"},
		"recording, after its commit":         {log("control/expurgo_audit", "01"), "after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSite(t, sharedServer(t))
			key := c.key
			if key[0] == '/' {
				key = "bronze/" + x.table[7:] + key
			}
			once := filepath.Join(t.TempDir(), "killed")
			victim := x.worker(envKill+"="+key, envWhen+"="+c.when, envOnce+"="+once)
			w := x.start(x.policy())
			x.died(victim, w)
			said, err := os.ReadFile(once)
			require.NoError(t, err, "the worker ended without the kill")
			t.Logf("killed %s %s", c.when, said)
			x.worker()
			x.completed(x.result(w))
		})
	}
}

// died waits for a worker to be killed; a purge that ends first means that it
// never was.
func (x *site) died(victim *exec.Cmd, w client.WorkflowRun) {
	x.t.Helper()
	dead := make(chan error, 1)
	go func() { dead <- victim.Wait() }()
	over := make(chan error, 1)
	go func() { over <- w.Get(x.t.Context(), nil) }()
	select {
	case err := <-dead:
		require.Error(x.t, err, "the worker was to be killed")
	case err := <-over:
		require.Fail(x.t, "the purge ended before the kill", "%v", err)
	}
}
