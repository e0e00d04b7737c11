package log_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

func TestDecodePath_decodes_once_and_leaves_plus_alone(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"part-0.parquet":                "part-0.parquet",
		"region=a%20b/x":                "region=a b/x",
		"region=a%2520b/x":              "region=a%20b/x", // a directory that is escaped itself
		"r=a+b/x":                       "r=a+b/x",
		"r=a b/x":                       "r=a b/x",
		"ts=2020-01-01 10%3A00%3A00/x":  "ts=2020-01-01 10:00:00/x",
		"ts=2020-01-01%2010%253A00/x":   "ts=2020-01-01 10%3A00/x",
		"é=%C3%A9/x":                    "é=é/x",
		"a:b.parquet":                   "a:b.parquet",
		"_p=1/x":                        "_p=1/x",
		"..a/b..":                       "..a/b..",
		"c=%5B%22%5D/100%25 sure%3F.pq": "c=[\"]/100% sure?.pq",
	} {
		got, err := log.DecodePath(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got)
	}
}

func TestDecodePath_refuses_paths_that_may_leave_the_root(t *testing.T) {
	t.Parallel()
	var absolute *log.AbsolutePathError
	for _, in := range []string{"/x", "s3://b/x", "file:/x", "abfss://c@a.dfs.core.windows.net/x", "HTTPS://x/y"} {
		_, err := log.DecodePath(in)
		require.ErrorAs(t, err, &absolute, in)
	}
	for _, in := range []string{"../x", "a/../x", "a/%2E%2E/x", "a//x", "a/./x", "", "%2Fx", "a%00b", "a%zz", "a/"} {
		_, err := log.DecodePath(in)
		require.Error(t, err, in)
	}
}

func TestResolvePath_accepts_absolute_paths_inside_the_root_only(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ root, path, want string }{
		{"s3://b/t", "s3a://b/t/x%20y", "x y"},
		{"s3://b/t/", "s3://b/t/p=1/x", "p=1/x"},
		{"file:///data/t", "file:/data/t/x", "x"},
		{"file:///data/t", "/data/t/x", "x"},
		{"file:///data/a%20b", "file:///data/a%20b/x", "x"},
		{"abfss://c@a.dfs.core.windows.net/t", "abfss://c@A.dfs.core.windows.net/t/x", "x"},
		{"s3://b/t", "x%20y", "x y"},
	} {
		got, err := log.ResolvePath(c.root, c.path)
		require.NoError(t, err, c.path)
		require.Equal(t, c.want, got)
	}
	var absolute *log.AbsolutePathError
	for _, c := range []struct{ root, path string }{
		{"s3://b/t", "s3://b/t2/x"}, {"s3://b/t", "s3://c/t/x"}, {"s3://b/t", "s3://b/t/"}, {"s3://b/t", "gs://b/t/x"},
		{"file:///data/t", "/data/x"}, {"memory://1", "s3://b/x"}, {"abfss://c@a.x/t", "abfss://d@a.x/t/x"},
	} {
		_, err := log.ResolvePath(c.root, c.path)
		require.ErrorAs(t, err, &absolute, c.path)
	}
	_, err := log.ResolvePath("s3://b/t", "s3://b/t/../u/x")
	require.Error(t, err)
	_, err = log.ResolvePath("s3://b/t", "s3://b/t/%2E%2E/u/x")
	require.Error(t, err)
}

func TestEncodePath_escapes_as_spark_does(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"region=a b/x":       "region=a%20b/x",
		"r=R&D/x":            "r=R&D/x",
		"r=50%25/x":          "r=50%2525/x",
		"r=é/x":              "r=é/x",
		"r=a~b/x":            "r=a~b/x",
		"c=\"<>[]{}|\\^`?#":  "c=%22%3C%3E%5B%5D%7B%7D%7C%5C%5E%60%3F%23",
		"x=;,:@&=+$-_.!*'()": "x=;,:@&=+$-_.!*'()",
		"nbsp=\u00a0\u2028x": "nbsp=%C2%A0%E2%80%A8x",
		"c1=\u0085\x01\x7f":  "c1=%C2%85%01%7F",
		"😀":                  "😀",
	} {
		require.Equal(t, want, log.EncodePath(in))
	}
}

func TestEncodePath_is_undone_by_DecodePath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.StringMatching(`([^/\x00]{1,8}/){0,2}x[^/\x00]{0,8}`).Draw(rt, "key")
		got, err := log.DecodePath(log.EncodePath(key))
		if err != nil {
			require.Regexp(rt, `(^|/)\.{1,2}(/|$)|^[a-zA-Z][a-zA-Z0-9+.-]*:/`, key)
			return
		}
		require.Equal(rt, key, got)
	})
}

func TestPartitionDir_escapes_as_spark_does(t *testing.T) {
	t.Parallel()
	dir := log.PartitionDir([]string{"a", "b=c", "d", "e"}, map[string]*string{
		"a": ptr("2020-01-01 10:00:00"), "b=c": ptr(`R&D/50%"'#*?\{[]^`), "d": ptr(""), "e": nil,
	})
	require.Equal(t, "a=2020-01-01 10%3A00%3A00/b%3Dc=R&D%2F50%25%22%27%23%2A%3F%5C%7B%5B%5D%5E/"+
		"d=__HIVE_DEFAULT_PARTITION__/e=__HIVE_DEFAULT_PARTITION__", dir)
	require.Equal(t, "", log.PartitionDir(nil, nil))
	require.Equal(t, "x=é b%01%7F", log.PartitionDir([]string{"x"}, map[string]*string{"x": ptr("é b\x01\x7f")}))
}
