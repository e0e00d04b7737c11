package spec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"
)

// everyPartitionKey uses every key of a partition check, as far as they go
// together.
const everyPartitionKey = `
apiVersion: lakewarden/v1
kind: PartitionCheck
name: todo
table: silver.ventas
partition: {columns: [year, month, day], format: yyyy, scheme: year_month_day, timezone: Europe/Madrid}
expected:
  start: "2026-01-01"
  end: "2026-12-31"
  every: 2 days
  timezone: Europe/Madrid
  deadline: 09:00+1d
  except: ["2026-12-25", "2026-08-01..2026-08-15", --01-06, sunday]
  except_file: calendars/es.txt
checks:
  - {metric: missing_partitions, must_be: 0, severity: fail}
  - {metric: row_count, per: file, must_be_greater_than: 0}
  - {metric: row_count, per: table, must_be_at_least: 10}
  - {metric: row_count_change, baseline: median 4 weekday, must_be_between: [-50%, 200%], severity: warn}
  - {metric: null_share, column: a, must_be_less_than: 1.5%}
  - {metric: file_count, per: partition, must_be_at_most: 200}
  - {metric: min, column: día, must_not_be: "1900-01-01"}
  - {metric: values_outside_partition, column: d, format: dd/MM/yyyy, must_be: 0}
files: {verify: footers}
on_failure:
  backfill:
    fabric_job: {workspace: w-1, item: i-1, job_type: Pipeline, tenant_env: LAKEWARDEN_T, client_id_env: LAKEWARDEN_C, client_secret_env: LAKEWARDEN_S}
    input: {date: "{partition}", hours: [1, 2.5, true, null], "nested": {year: "{year}"}}
    max_parallel: 2
    max_partitions: 31
    timeout: 2h
  rollback: {approval: {approvers: [dpo], deadline: 24h, remind_every: 4h}}
  notify: {webhook: {url_env: LAKEWARDEN_U, secret_env: LAKEWARDEN_S}, events: [failed]}
record: {validation: control.v, stats: control.s}
audit: {table: control.auditoria}
notify: {webhook: {url_env: LAKEWARDEN_U, secret_env: LAKEWARDEN_S}, events: [completed]}
dry_run: true
requested_by: ana@example.org
`

func TestPartitionCheck_every_key_is_read_and_survives_each_form(t *testing.T) {
	t.Parallel()
	doc, problems := Check([]byte(everyPartitionKey), time.LoadLocation)
	require.Empty(t, problems)
	p := doc.(PartitionCheck)
	require.JSONEq(t, `{"date":"{partition}","hours":[1,2.5,true,null],"nested":{"year":"{year}"}}`, string(p.OnFailure.Backfill.Input))
	require.Equal(t, []Bound{"-50%", "200%"}, p.Checks[3].Between)
	asJSON, err := JSON(p)
	require.NoError(t, err)
	require.Contains(t, string(asJSON), `"must_be": 0`)
	require.Contains(t, string(asJSON), `"must_be_less_than": "1.5%"`)
	asYAML, err := YAML(p)
	require.NoError(t, err)
	var decoded PartitionCheck
	require.NoError(t, json.Unmarshal(asJSON, &decoded))
	require.Equal(t, p, decoded)
	for _, text := range [][]byte{asJSON, asYAML} {
		back, err := ParsePartitionCheck(text)
		require.NoError(t, err, string(text))
		require.Equal(t, p, back)
	}
	require.Equal(t, p.Defaults(), p.Defaults().Defaults())
	require.Empty(t, p.Defaults().Validate(time.LoadLocation))
}

func TestPartitionCheck_the_example_reads_as_it_is_meant(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../examples/ventas-particiones.yaml")
	require.NoError(t, err)
	p, err := ParsePartitionCheck(text)
	require.NoError(t, err)
	require.Empty(t, p.Validate(time.LoadLocation))
	p = p.Defaults()
	require.Equal(t, "Europe/Madrid", p.PartitionZone())
	require.Len(t, p.Checks, 12)
	require.Equal(t, PerPartition, p.Checks[5].Per)
	require.Equal(t, []Bounds{{"must_be_greater_than", []Bound{"-0.01"}}}, p.Checks[10].Bounds())
	require.Equal(t, "LoadVentas", p.OnFailure.Backfill.Workflow)
	require.True(t, p.ReadsFiles())
	filled, err := p.OnFailure.Backfill.Input.Fill(map[string]string{"partition": `20"26`})
	require.NoError(t, err)
	require.JSONEq(t, `{"date":"20\"26"}`, string(filled))
}

func TestPartitionCheck_each_mistake_names_its_key_and_a_right_form(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, path, want string }{
		"no range":                {`last: 14 days, `, ``, "expected", "no range"},
		"window and range":        {`last: 14 days`, `last: 14 days, start: "2026-01-01"`, "expected.last", "exclude each other"},
		"range backwards":         {`last: 14 days`, `start: "2026-01-02", end: "2026-01-01"`, "expected.end", "is before"},
		"no such period":          {`last: 14 days`, `last: 14 fortnights`, "expected.last", "hours, days, weeks or months"},
		"window without period":   {`last: 14 days, every: 1 day`, `last: 1 day, every: 1 week`, "expected.last", "shorter than"},
		"hours across days":       {`every: 1 day`, `every: 5 hours`, "expected.every", "does not divide a day"},
		"no day to count from":    {`every: 1 day`, `every: 2 days`, "expected.every", "first day to count from"},
		"no such zone":            {`Europe/Madrid`, `Europe/Madird`, "expected.timezone", "time zone database"},
		"deadline in words":       {`"09:00"`, `"9am"`, "expected.deadline", "time of day"},
		"gap of no day":           {`every: 1 day`, `every: 1 day, except: ["2026-02-30"]`, "expected.except[0]", "not a day"},
		"gap in words":            {`every: 1 day`, `every: 1 day, except: [christmas]`, "expected.except[0]", "a weekday (sunday)"},
		"gap of no yearly day":    {`every: 1 day`, `every: 1 day, except: [--02-30]`, "expected.except[0]", "not a day of the year"},
		"misspelt metric":         {`metric: row_count,`, `metric: rowcount,`, "checks[2].metric", "did you mean row_count"},
		"metric of nothing":       {`metric: row_count,`, `metric: beauty,`, "checks[2].metric", "is unknown; allowed: missing_partitions"},
		"metric of another level": {`must_be: 0, severity: fail}`, `per: file, must_be: 0}`, "checks[0].per", "not taken per file"},
		"no bound":                {`, must_be_greater_than: 0`, ``, "checks[2].must_be", "missing; say what row_count must be"},
		"two bounds":              {`must_be_greater_than: 0`, `must_be_greater_than: 0, must_be_less_than: 9`, "checks[2].must_be_less_than", "is given too"},
		"share as a number":       {`metric: row_count, per: partition, must_be_greater_than: 0`, `metric: row_count_change, baseline: previous, must_be_greater_than: 0`, "checks[2].must_be_greater_than", "percentage with its sign"},
		"number as a share":       {`must_be_greater_than: 0`, `must_be_greater_than: 5%`, "checks[2].must_be_greater_than", "not a share"},
		"number in words":         {`must_be_greater_than: 0`, `must_be_greater_than: many`, "checks[2].must_be_greater_than", "not a number"},
		"range of one":            {`must_be_greater_than: 0`, `must_be_between: [1]`, "checks[2].must_be_between", "1 values"},
		"range upside down":       {`must_be_greater_than: 0`, `must_be_between: [2, 1]`, "checks[2].must_be_between", "not below"},
		"change without baseline": {`metric: row_count, per: partition, must_be_greater_than: 0`, `metric: row_count_change, must_be_greater_than: 1%`, "checks[2].baseline", "missing"},
		"baseline for nothing":    {`must_be_greater_than: 0`, `must_be_greater_than: 0, baseline: previous`, "checks[2].baseline", "remove the baseline"},
		"baseline in words":       {`metric: row_count, per: partition, must_be_greater_than: 0`, `metric: row_count_change, baseline: usual, must_be_greater_than: 1%`, "checks[2].baseline", "median N"},
		"nulls of no column":      {`metric: row_count, per: partition, must_be_greater_than: 0`, `metric: null_values, must_be: 0`, "checks[2].column", "missing"},
		"column for nothing":      {`must_be_greater_than: 0`, `must_be_greater_than: 0, column: a`, "checks[2].column", "of no column"},
		"unknown severity":        {`must_be_greater_than: 0, severity: fail`, `must_be_greater_than: 0, severity: error`, "checks[2].severity", "allowed: fail, warn"},
		"late without deadline":   {`{metric: missing_partitions, must_be: 0, severity: fail}`, `{metric: late_partitions, must_be: 0}`, "checks[0].metric", ""},
		"table and path":          {`table: silver.ventas`, "table: silver.ventas\npath: x", "path", "keep one"},
		"results into the table":  {`table: silver.ventas`, "table: control.partition_stats", "record.stats", "already the table"},
		"unknown placeholder":     {`table: silver.ventas`, "table: silver.ventas\non_failure: {backfill: {workflow: L, queue: q, input: {d: \"{datum}\"}}}", "on_failure.backfill.input", "no placeholder"},
		"two ways to load":        {`table: silver.ventas`, "table: silver.ventas\non_failure: {backfill: {workflow: L, queue: q, webhook: {url_env: LAKEWARDEN_A, secret_env: LAKEWARDEN_B}}}", "on_failure.backfill", "2 are given"},
		"load without queue":      {`table: silver.ventas`, "table: silver.ventas\non_failure: {backfill: {workflow: L}}", "on_failure.backfill.queue", "missing"},
		"secret in the spec":      {`table: silver.ventas`, "table: silver.ventas\non_failure: {backfill: {webhook: {url_env: \"https://x\", secret_env: LAKEWARDEN_B}}}", "on_failure.backfill.webhook.url_env", "never stand"},
		"rollback of a directory": {`table: silver.ventas`, "path: landing/ventas\non_failure: {rollback: {approval: {deadline: 1h}}}", "on_failure.rollback", "only a Delta table"},
		"columns of no scheme":    {`columns: [dt]`, `columns: [dt], scheme: year_month_day`, "partition.columns", "do not make"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(ExamplePartitionCheck(), c.from, c.to, 1)
			require.NotEqual(t, ExamplePartitionCheck(), text)
			if name == "late without deadline" {
				text, c.want = strings.Replace(text, `, deadline: "09:00"`, "", 1), "needs expected.deadline"
			}
			_, problems := Check([]byte(text), time.LoadLocation)
			require.Len(t, problems, 1, "%v", problems)
			require.Equal(t, c.path, problems[0].Path)
			require.Contains(t, problems[0].Message, c.want)
			if c.path != "record.stats" { // a default has no line
				require.Positive(t, problems[0].Line)
			}
			if !strings.HasSuffix(c.path, "]") {
				require.NotEmpty(t, problems[0].Example)
			}
		})
	}
}

func TestPartitionCheck_mistakes_of_form_are_found_before_meaning(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"must_be: [1]":   "want a number, a percentage or text, got a list",
		"must_be: true":  "want a number",
		"must_be: .inf":  "want a number",
		"musst_be: 0":    "did you mean must_be?",
		"must_be: ":      "no value",
		`must_be: "  "`:  "want a number",
		"columna: a":     "did you mean column?",
		"must_be: {a: }": "want a number",
	} {
		doc := strings.Replace(ExamplePartitionCheck(), "must_be: 0", text, 1)
		_, problems := Check([]byte(doc), time.LoadLocation)
		require.NotEmpty(t, problems, text)
		require.Contains(t, problems.Error(), want, text)
	}
}

func TestPartitionCheck_an_empty_input_shows_a_right_one(t *testing.T) {
	t.Parallel()
	problems := PartitionCheck{}.Validate(nil)
	require.Len(t, problems, 1)
	require.Equal(t, ExamplePartitionCheck(), problems[0].Example)
}

func TestPartitionSchema_is_what_the_types_say(t *testing.T) {
	t.Parallel()
	s := reflected(t, PartitionCheck{}, "partition-check", "lakewarden partition check", describePartition)
	golden(t, "schema/partition-check.schema.json", encoded(t, s))
}

// describePartition adds what the key table knows, and the types that are written
// in more than one form.
func describePartition(s *jsonschema.Schema, path string) bool {
	k, ok := partitionKeys.find(path)
	switch {
	case !ok:
	case strings.HasSuffix(path, ".input"):
		s.Type, s.Items, s.ContentEncoding = "", nil, ""
	case strings.Contains(path, ".must_be") || strings.Contains(path, ".must_not_be"):
		value := s
		if s.Type == "array" {
			value = s.Items
		}
		value.Type, value.OneOf = "", []*jsonschema.Schema{{Type: "number"}, {Type: "string"}}
	default:
		describe(s, k)
	}
	return false
}

func TestPartitionSchema_accepts_what_is_valid_and_underlines_what_is_not(t *testing.T) {
	t.Parallel()
	s := compiled(t, PartitionSchema())
	require.NoError(t, s.Validate(instance(t, []byte(ExamplePartitionCheck()))))
	require.NoError(t, s.Validate(instance(t, []byte(everyPartitionKey))))
	files, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if bytes.Contains(data, []byte("kind: "+KindPartitionCheck+"\n")) {
			require.NoError(t, s.Validate(instance(t, data)), file)
		}
	}
	for _, change := range [][2]string{
		{"metric: row_count", "metric: rowcount"}, {"must_be: 0", "musst_be: 0"}, {"must_be: 0", "must_be: [0]"}, {"last: 14 days", "last: 14"},
		{"severity: fail", "severity: error"}, {`deadline: "09:00"`, `deadline: "9"`}, {"name: ventas-particiones\n", ""},
	} {
		text := strings.Replace(ExamplePartitionCheck(), change[0], change[1], 1)
		require.Error(t, s.Validate(instance(t, []byte(text))), change[1])
	}
}

func TestPartitionKeys_every_key_has_a_right_value(t *testing.T) {
	t.Parallel()
	paths := pathsOf(reflect.TypeFor[PartitionCheck](), "")
	for _, path := range paths {
		require.NotEmpty(t, partitionKeys[path].example, path)
	}
	for path := range partitionKeys {
		require.Contains(t, paths, path, "a key that does not exist")
	}
}
