package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

func TestFinding_readsAsASentence(t *testing.T) {
	t.Parallel()
	require.Equal(t, "edited: run r-1, row 5f0c: another hash", evidence.Finding{Kind: evidence.FindingEdited, RunID: "r-1", RowHash: "5f0c", Detail: "another hash"}.String())
	require.Equal(t, "missing: no row begins the chain", evidence.Finding{Kind: evidence.FindingMissing, Detail: "no row begins the chain"}.String())
}
