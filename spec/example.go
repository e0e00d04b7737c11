package spec

// document is what is known about a kind of document.
type document struct {
	keys    keyTable
	example string
}

var documents = map[string]document{
	KindRetentionPolicy: {keys: policyKeys, example: Example()},
	KindPurgeLakehouse:  {keys: lakehouseKeys, example: ExamplePurgeLakehouse()},
	KindRestoreRequest:  {keys: restoreKeys, example: ExampleRestoreRequest()},
	KindPartitionCheck:  {keys: partitionKeys, example: ExamplePartitionCheck()},
	KindSilverTable:     {keys: silverKeys, example: ExampleSilverTable()},
}

// Example is a valid retention policy, small enough for an error message.
func Example() string {
	return `apiVersion: lakewarden/v1
kind: RetentionPolicy
name: vendas-365d
owner: sales-data
legal_basis: "Commercial records, one year after the sale"
table: bronze.vendas
criteria:
  older_than: {column: event_date, days: 365, timezone: Europe/Lisbon}
archive: {table: archive.vendas_expurgo}
`
}

// ExamplePurgeLakehouse is a valid list of policies.
func ExamplePurgeLakehouse() string {
	return `apiVersion: lakewarden/v1
kind: PurgeLakehouse
name: nightly
max_parallel: 4
policies:
  - apiVersion: lakewarden/v1
    kind: RetentionPolicy
    name: vendas-365d
    owner: sales-data
    legal_basis: "Commercial records, one year after the sale"
    table: bronze.vendas
    criteria:
      older_than: {column: event_date, days: 365, timezone: Europe/Lisbon}
    archive: {table: archive.vendas_expurgo}
`
}

// ExampleRestoreRequest is a valid restore request.
func ExampleRestoreRequest() string {
	return `apiVersion: lakewarden/v1
kind: RestoreRequest
run_id: 2f1c9d5e-6f0e-4a3b-9a57-1c1d7a2b3c4d
where: "id = 42"
keys: [id]
hold_until: 2026-12-31
reason: "Purged by a wrong date"
requested_by: ana@example.org
`
}
