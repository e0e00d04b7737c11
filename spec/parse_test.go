package spec

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse_each_mistake_names_its_key_line_and_a_right_form(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"misspelt key": {"owner: a\ncriteria:\n  older_than: {column: d, dayz: 3}",
			"line 3: criteria.older_than.dayz: unknown key; did you mean days?; for example: days: 365"},
		"key in camel case":          {"legalBasis: a", "line 1: legalBasis: unknown key; did you mean legal_basis?"},
		"beginning of a key":         {"notify: {webhook: {url: x}}", "line 1: notify.webhook.url: unknown key; did you mean url_env?; for example: url_env: LAKEWARDEN_PURGE_URL"},
		"foreign key":                {"vacuum: {tables: 1}", "line 1: vacuum.tables: unknown key; keys here are retention, allow_below_floor; for example: vacuum: {retention: 168h}"},
		"foreign key at the top":     {"zzzzz: 1", "line 1: zzzzz: unknown key; keys here are apiVersion, kind"},
		"key of another place":       {"older_than: {days: 3}", "older_than: unknown key"},
		"key that is a number":       {"1: a", "line 1: 1: unknown key"},
		"key twice":                  {"table: a.b\nowner: x\ntable: c.d", "line 3: table: written twice (first in line 1); keep one"},
		"nested key twice":           {"mark: {column: a, column: b}", "line 1: mark.column: written twice"},
		"text for a number":          {"criteria: {older_than: {days: \"365\"}}", `line 1: criteria.older_than.days: want a whole number, got the text "365"; for example: days: 365`},
		"fraction for a number":      {"criteria: {older_than: {days: 1.5}}", "want a whole number, got the number 1.5"},
		"octal for a number":         {"criteria: {older_than: {days: 0365}}", "want a whole number"},
		"separators in a number":     {"criteria: {older_than: {days: 1_000}}", "want a whole number"},
		"number too large":           {"criteria: {older_than: {days: 99999999999999999999}}", "want a whole number"},
		"infinite number":            {"limits: {max_multiple_of_median: .inf}", "want a number"},
		"not a number":               {"limits: {max_multiple_of_median: .nan}", "want a number"},
		"number for text":            {"name: 365", "line 1: name: want text (in quotes, where it looks like something else), got the number 365; for example: name: vendas-365d"},
		"boolean for text":           {"owner: true", "owner: want text (in quotes, where it looks like something else), got true"},
		"text for a boolean":         {"dry_run: yes", `dry_run: want true or false, got the text "yes"`},
		"number for a duration":      {"vacuum: {retention: 168}", "vacuum.retention: want a duration with its unit, got the number 168; for example: retention: 168h"},
		"number for a percentage":    {"limits: {max_share_of_rows: 0.1}", "limits.max_share_of_rows: want a percentage with its sign, got the number 0.1; for example: max_share_of_rows: 10%"},
		"text for a section":         {"archive: none", `archive: want keys and values, got the text "none"; for example: archive: {table: archive.vendas_expurgo} or {table: none, reason:`},
		"list for a section":         {"mark: [a]", "mark: want keys and values, got a list"},
		"text for a list":            {"approval: {approvers: dpo}", `approval.approvers: want a list, got the text "dpo"; for example: approvers: [data-steward, dpo]`},
		"section for a list":         {"approval: {approvers: {a: b}}", "approval.approvers: want a list, got keys and values"},
		"number in a list":           {"approval: {approvers: [dpo, 7]}", "approval.approvers[1]: want text"},
		"key without a value":        {"owner: a\nhold:\ntable: a.b", "line 2: hold: no value; write one or remove the key"},
		"null":                       {"criteria: {where: null}", "criteria.where: no value"},
		"tilde":                      {"criteria: {where: ~}", "criteria.where: no value"},
		"null in a list":             {"approval: {approvers: [null]}", "approval.approvers[0]: no value"},
		"empty text":                 {"criteria: {where: \"\"}", "criteria.where: empty; fill it or remove the key"},
		"blank text":                 {"criteria: {where: \"  \"}", "criteria.where: empty"},
		"empty section":              {"hold: {}", "hold: empty; fill it or remove it"},
		"empty list":                 {"approval: {approvers: []}", "approval.approvers: empty list"},
		"empty document":             {"", "the document is empty\nfor example:\napiVersion: lakewarden/v1"},
		"blanks only":                {" \n\n", "the document is empty"},
		"comments only":              {"# nothing\n", "the document is empty"},
		"start marker only":          {"---\n", "the document is empty"},
		"a null document":            {"null", "the document is empty"},
		"a list as document":         {"- a\n- b", "want keys and values, got a list"},
		"text as document":           {"hello", "want keys and values, got the text"},
		"two documents":              {"name: a\n---\nname: b", "line 3: a second document starts here"},
		"anchor":                     {"name: &a x", "line 1: anchors (&), aliases (*) and tags (!) are not allowed"},
		"alias":                      {"name: x\nowner: *a", "not allowed"},
		"tag":                        {"name: !!str 5", "not allowed"},
		"merge key":                  {"mark: {<<: {column: a}}", "merge keys (<<) are not allowed"},
		"list as key":                {"[a]: b", ""},
		"brackets left open":         {"criteria: {where: [", "not YAML"},
		"tabs for indentation":       {"mark:\n\tcolumn: a", "not YAML"},
		"deep nesting":               {strings.Repeat("[", 100_000), "nested deeper than 64 levels"},
		"deep nesting over lines":    {strings.Repeat("[\n", 100_000), "nested deeper than 64 levels"},
		"deep lists":                 {strings.Repeat("- ", 100_000), "nested deeper than 64 levels"},
		"deep JSON":                  {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested deeper than 64 levels"},
		"a bit too deep":             {strings.Repeat("[", 70) + strings.Repeat("]", 70), "nested deeper than 64 levels"},
		"not UTF-8":                  {"name: \xff", "not UTF-8 text"},
		"too large":                  {strings.Repeat("#", 1<<20+1), "larger than 1024 KiB"},
		"JSON with a key twice":      {"{\"name\": \"a\",\n\"name\": \"b\"}", "line 2: name: written twice (first in line 1)"},
		"JSON with an unknown key":   {"{\n\"criteria\": {\n\"wher\": \"x\"}}", "line 3: criteria.wher: unknown key; did you mean where?"},
		"JSON key in another case":   {`{"Name": "a"}`, "Name: unknown key; did you mean name?"},
		"another kind":               {"kind: PurgeLakehouse\nfoo: 1", "line 1: kind: this is a PurgeLakehouse, not a RetentionPolicy"},
		"a very long unknown key":    {strings.Repeat("k", 5000) + ": 1", strings.Repeat("k", 60) + "…: unknown key"},
		"a file name for a document": {"policy.yaml", "want keys and values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
			require.Zero(t, p)
			var problems Problems
			require.ErrorAs(t, err, &problems)
		})
	}
}

func TestParse_reports_every_mistake_at_once(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte("nam: x\ncriteria: {older_than: {dayz: 1, years: \"2\"}}\nvacuum: {retention: 168}\nfoo: 1\n"))
	var problems Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, 5)
}

func TestProblems_very_many_are_counted_not_listed(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(strings.Repeat("k: 1\n", 500)))
	var problems Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, 500)
	require.Regexp(t, `and 450 more$`, err.Error())
}

func TestCheck_mistakes_of_form_and_of_meaning_come_together_but_not_twice(t *testing.T) {
	t.Parallel()
	text := strings.Replace(Example(), "days: 365", "dayz: 365", 1) + "limits: {max_share_of_rows: 200%}\n"
	doc, problems := Check([]byte(text), time.LoadLocation)
	require.Nil(t, doc)
	require.Len(t, problems, 2, "no second complaint about the missing age: %v", problems)
	require.Equal(t, "criteria.older_than.dayz", problems[0].Path)
	require.Equal(t, "limits.max_share_of_rows", problems[1].Path)
	require.Equal(t, 10, problems[1].Line)

	_, problems = Check([]byte(strings.Replace(Example(), "criteria:", "critiria:", 1)), time.LoadLocation)
	require.Len(t, problems, 1, "%v", problems)
}

func TestCheck_problems_of_meaning_carry_lines(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		text, path string
		line       int
	}{
		"a written key":      {strings.Replace(Example(), "Europe/Lisbon", "Europe/Lissabon", 1), "criteria.older_than.timezone", 8},
		"a missing key":      {strings.Replace(Example(), "column: event_date, ", "", 1), "criteria.older_than.column", 8},
		"a list of policies": {strings.Replace(ExamplePurgeLakehouse(), "bronze.vendas\n", "vendas\n", 1), "policies[0].table", 11},
		"unknown kind":       {"a: b\nkind: RetentionPolici", "kind", 2},
	} {
		_, problems := Check([]byte(c.text), time.LoadLocation)
		require.Len(t, problems, 1, "%s: %v", kind, problems)
		require.Equal(t, c.path, problems[0].Path)
		require.Equal(t, c.line, problems[0].Line)
		require.NotEmpty(t, problems[0].Example)
	}
}

func TestParse_what_YAML_1_1_would_read_otherwise_is_text(t *testing.T) {
	t.Parallel()
	p, err := Parse([]byte("owner: no\ncriteria: {older_than: {until: 2024-01-01, format: dd.MM.yyyy}}\napproval: {on: plan, approvers: [on, y]}\nlimits: {max_share_of_rows: 10%}\n"))
	require.NoError(t, err)
	require.Equal(t, "no", p.Owner)
	require.Equal(t, "2024-01-01", p.Criteria.OlderThan.Until)
	require.Equal(t, []string{"on", "y"}, p.Approval.Approvers)
	require.Equal(t, ApprovalPlan, p.Approval.On)
}

func TestParse_a_byte_order_mark_and_Windows_lines_are_read(t *testing.T) {
	t.Parallel()
	plain, err := Parse([]byte(Example()))
	require.NoError(t, err)
	windows, err := Parse([]byte("\xef\xbb\xbf" + strings.ReplaceAll(Example(), "\n", "\r\n")))
	require.NoError(t, err)
	require.Equal(t, plain, windows)
}

// input is how a workflow carries a policy among other things.
type input struct {
	Policy  RetentionPolicy `json:"policy"`
	List    *PurgeLakehouse `json:"list"`
	Restore *RestoreRequest `json:"restore"`
}

func TestUnmarshalJSON_is_strict_at_every_depth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"policy": {"criteria": {"older_than": {"dayz": 3}}}}`:         "criteria.older_than.dayz: unknown key; did you mean days?; for example: days: 365",
		`{"policy": {"Table": "a.b"}}`:                                  "Table: unknown key; did you mean table?",
		`{"policy": {"table": "a.b", "table": "c.d"}}`:                  "table: written twice; keep one",
		`{"policy": {"vacuum": {"retention": 604800000000000}}}`:        "vacuum.retention: want a duration with its unit",
		`{"policy": {"hold": null}}`:                                    "hold: no value",
		`{"policy": null}`:                                              "the document is empty",
		`{"policy": {}}`:                                                "empty; fill it or remove it",
		`{"policy": []}`:                                                "want keys and values, got a list",
		`{"list": {"policies": [{"name": "a"}, {"mark": {"col": 1}}]}}`: "policies[1].mark.col: unknown key; did you mean column?; for example: column: _expurgo_flag",
		`{"restore": {"run": "x"}}`:                                     "run: unknown key; did you mean run_id?",
	} {
		var v input
		err := json.Unmarshal([]byte(text), &v)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "line ", "there is no text whose lines the reader knows")
	}
	var v input
	require.NoError(t, json.Unmarshal([]byte(`{"policy": {"name": "a"}}`), &v), "incomplete is Validate's to say")
}

func TestMarshal_what_Go_code_built_can_be_decoded(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]RetentionPolicy{
		"the zero policy":       {},
		"with defaults":         RetentionPolicy{}.Defaults(),
		"an example's defaults": parsed(t, Example()).Defaults(),
		"everything's defaults": parsed(t, everything).Defaults(),
	} {
		data, err := json.Marshal(p)
		require.NoError(t, err)
		var back RetentionPolicy
		err = json.Unmarshal(data, &back)
		if p.empty() {
			require.ErrorContains(t, err, "criteria: empty", name) // an error at once, before anything runs
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, p, back, name)
	}
}

func parsed(t *testing.T, text string) RetentionPolicy {
	t.Helper()
	p, err := Parse([]byte(text))
	require.NoError(t, err)
	return p
}
