package spec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// everything uses every key of a policy, two at a time where they exclude each
// other.
const everything = `
apiVersion: lakewarden/v1
kind: RetentionPolicy
name: clientes-esquecidos
owner: "Privacidade & dados"
legal_basis: "GDPR art. 17"
table: bronze.clientes
criteria:
  older_than: {column: "data.evento", years: 10, from: end_of_year, timezone: Europe/Lisbon, format: "dd/MM/yyyy", undated: report}
  where: |
    status = 'CLOSED'
    AND amount < 5
  keys: {from: control.esquecer, columns: [customer_id], target_columns: [id]}
hold:
  where: "status = 'LITIGATION'"
  table: control.legal_holds
  keys: [customer_id]
  target_columns: [id]
  until_column: held_until
mark: {column: none}
approval:
  on: plan
  approvers:
    - data-steward
    - dpo
  deadline: 12h
  remind_every: 90m
archive: {table: none, reason: "Erasure on request: nothing may be kept"}
delete: {match: keys, keys: [id]}
limits:
  max_share_of_rows: 0.5%
  max_rows: 1000
  max_multiple_of_median: 2.5
  first_run: {max_share_of_rows: 100%, max_rows: 5000}
vacuum:
  retention: 1d
  allow_below_floor: {risk: "Jobs that run longer than a day lose files; there are none"}
erasure: {prove: false}
audit: {table: control.auditoria}
notify:
  webhook: {url_env: LAKEWARDEN_URL, secret_env: LAKEWARDEN_SECRET}
  events: [failed, erased]
dry_run: true
requested_by: ana@example.org
`

func TestExamples_are_valid_and_the_same_in_YAML_and_JSON(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !ours(text) {
			continue // a document of another package
		}
		checked++
		doc, problems := Check(text, time.LoadLocation)
		require.Empty(t, problems, file)
		written, err := JSON(doc)
		require.NoError(t, err)
		golden(t, strings.TrimSuffix(file, ".yaml")+".json", written)
		fromJSON, problems := Check(written, time.LoadLocation)
		require.Empty(t, problems, file)
		require.Equal(t, doc, fromJSON)
	}
	require.GreaterOrEqual(t, checked, 5)
}

func ours(text []byte) bool {
	for kind := range documents {
		if bytes.Contains(text, []byte("kind: "+kind+"\n")) {
			return true
		}
	}
	return false
}

func TestParse_the_example_reads_as_it_is_meant(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../examples/vendas-365d.yaml")
	require.NoError(t, err)
	p, err := Parse(text)
	require.NoError(t, err)
	yes, year := true, 365
	require.Equal(t, RetentionPolicy{
		APIVersion: APIVersion, Kind: KindRetentionPolicy, Name: "vendas-365d", Owner: "sales-data",
		LegalBasis: "Commercial records, one year after the sale", Table: "bronze.vendas",
		Criteria: Criteria{OlderThan: &OlderThan{Column: "event_date", Days: &year, Timezone: "Europe/Lisbon"}},
		Hold:     &Hold{Where: "status = 'LITIGATION'"},
		Mark:     Mark{Column: "_expurgo_flag"},
		Approval: Approval{On: ApprovalMarked, Approvers: []string{"data-steward", "dpo"}, Deadline: "72h"},
		Archive:  Archive{Table: "archive.vendas_expurgo"},
		Delete:   Delete{Match: MatchFlag},
		Limits:   Limits{MaxShareOfRows: "10%", FirstRun: FirstRunLimits{MaxShareOfRows: "90%"}},
		Vacuum:   Vacuum{Retention: "168h"},
		Erasure:  Erasure{Prove: &yes},
		Audit:    Audit{Table: "control.expurgo_audit"},
	}, p)
}

func TestCheck_every_key_is_read_and_survives_each_form(t *testing.T) {
	t.Parallel()
	doc, problems := Check([]byte(everything), time.LoadLocation)
	require.Empty(t, problems)
	p := doc.(RetentionPolicy)
	written := flatten(t, p)
	for path, k := range policyKeys {
		exclusive := path == "criteria.older_than.days" || path == "criteria.older_than.months" || path == "criteria.older_than.until"
		if !exclusive && !strings.HasPrefix(k.example, "{") {
			require.Contains(t, written, path)
		}
	}
	require.Equal(t, "status = 'CLOSED'\nAND amount < 5\n", p.Criteria.Where)

	asJSON, err := JSON(p)
	require.NoError(t, err)
	asYAML, err := YAML(p)
	require.NoError(t, err)
	var decoded RetentionPolicy
	require.NoError(t, json.Unmarshal(asJSON, &decoded))
	require.Equal(t, p, decoded)
	for _, text := range [][]byte{asJSON, asYAML} {
		back, err := Parse(text)
		require.NoError(t, err, string(text))
		require.Equal(t, p, back)
	}
}

func TestExample_each_kind_has_a_valid_one(t *testing.T) {
	t.Parallel()
	for kind, d := range documents {
		doc, problems := Check([]byte(d.example), time.LoadLocation)
		require.Empty(t, problems, kind)
		require.NotNil(t, doc)
	}
}
