package evidence_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

func TestCanonicalJSON_equal_values_have_one_form(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"b": 1, "a": {"d": [1, 2.50, true, null], "c": "x"}}`: `{"a":{"c":"x","d":[1,2.5,true,null]},"b":1}`,
		`[1.0, 1e2, -0, -0.0, 0.1, 1e-7, 1e21]`:                 `[1,100,0,0,0.1,1e-07,1e+21]`,
		`[9007199254740993, 123456789012345678901234567890]`:    `[9007199254740993,123456789012345678901234567890]`,
		`"\u00e9\u0041/\/ <&> \u2028"`:                          "\"éA// <&> \u2028\"",
		`"\u0000\u001f\b\f\n\r\t\"\\"`:                          `"\u0000\u001f\b\f\n\r\t\"\\"`,
		`{}`:                                                    `{}`,
		`[]`:                                                    `[]`,
		`null`:                                                  `null`,
	} {
		got, err := evidence.CanonicalJSON(json.RawMessage(in))
		require.NoError(t, err, in)
		require.Equal(t, want, string(got))
	}
}

func TestCanonicalJSON_is_stable_and_keeps_the_value(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{}
		for _, k := range rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "keys") {
			v[k] = rapid.OneOf(
				rapid.Map(rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }), func(f float64) any { return f }),
				rapid.Map(rapid.String(), func(s string) any { return s }),
				rapid.Just[any](nil), rapid.Just[any](true),
			).Draw(t, "value")
		}
		once, err := evidence.CanonicalJSON(v)
		require.NoError(t, err)
		twice, err := evidence.CanonicalJSON(json.RawMessage(once))
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		plain, err := json.Marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, string(plain), string(once))
	})
}

func TestCanonicalJSON_what_has_no_form_is_an_error(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"name twice":   json.RawMessage(`{"a":1,"a":2}`),
		"not a number": math.NaN(),
		"a channel":    make(chan int),
		"huge number":  json.RawMessage(`1e999`),
	} {
		_, err := evidence.CanonicalJSON(v)
		require.Error(t, err, name)
	}
}

func TestDigest_is_sha256_with_its_name(t *testing.T) {
	t.Parallel()
	require.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", evidence.Digest(nil))
}
