package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/activities"
)

func TestCodeSpan_hasMoreBackticksThanTheCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"d < 1":           "`d < 1`",
		"x = 1 AND\ny":    "`x = 1 AND y`",
		"`d` < 1":         "`` `d` < 1 ``",
		"a = `b``c` OR d": "```a = `b``c` OR d```",
	} {
		require.Equal(t, want, activities.CodeSpan(code))
	}
}
