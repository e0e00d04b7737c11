package spec

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzParse: any text is a policy or an error that says something, and a policy
// that was read survives every form it can be written in.
func FuzzParse(f *testing.F) {
	for _, d := range documents {
		f.Add([]byte(d.example))
	}
	for _, text := range []string{
		everything, "{", "a: [", "- - - -", "? a\n: b", "a: &x *x", "a: !!binary x", "a: |\n  b", "a: >-\n b\n c", "\"\\u0000\": 1",
		"%YAML 1.1\n---\na: b", "{\"name\":\"a\",}", "name: 'it''s'", "a:\n- b\n-\tc", "\xef\xbb\xbf{}", "name: \"\\ud800\"",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, problems := Check(text, time.LoadLocation)
		for _, p := range problems {
			if p.Message == "" {
				t.Fatalf("a problem without words: %+v", p)
			}
		}
		if doc == nil && len(problems) == 0 {
			t.Fatal("neither a document nor a problem")
		}
		p, err := Parse(text)
		if err != nil || len(problems) > 0 {
			return
		}
		roundTrip(t, p)
	})
}

func roundTrip(t *testing.T, p RetentionPolicy) {
	t.Helper()
	asJSON, err := JSON(p)
	if err != nil {
		t.Fatal(err)
	}
	var decoded RetentionPolicy
	if err := json.Unmarshal(asJSON, &decoded); err != nil {
		t.Fatalf("%v in\n%s", err, asJSON)
	}
	again, err := JSON(decoded)
	if err != nil || string(again) != string(asJSON) {
		t.Fatalf("%v: %s became %s", err, asJSON, again)
	}
	asYAML, err := YAML(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(asYAML)
	if err != nil {
		t.Fatalf("%v in\n%s", err, asYAML)
	}
	again, err = JSON(back)
	if err != nil || string(again) != string(asJSON) {
		t.Fatalf("YAML lost something: %v\n%s\n%s\n%s", err, asJSON, asYAML, again)
	}
	if problems := p.Defaults().Validate(time.LoadLocation); len(problems) > 0 {
		t.Fatalf("valid without its defaults, not with them: %s", strings.TrimSpace(problems.Error()))
	}
}
