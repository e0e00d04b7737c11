package spec

import _ "embed"

// policySchema is generated from the types, their comments and the key tables
// by the tests of this package (go test ./spec -run Schema -update).
//
//go:embed schema/retention-policy.schema.json
var policySchema []byte

// PolicySchema is the JSON Schema of a retention policy, for editors. It states
// names, types, allowed values and forms; Validate finds more.
func PolicySchema() []byte { return append([]byte(nil), policySchema...) }

// partitionSchema is generated as policySchema is.
//
//go:embed schema/partition-check.schema.json
var partitionSchema []byte

// PartitionSchema is the JSON Schema of a partition check, for editors.
func PartitionSchema() []byte { return append([]byte(nil), partitionSchema...) }

// silverSchema is generated as policySchema is.
//
//go:embed schema/silver-table.schema.json
var silverSchema []byte

// SilverSchema is the JSON Schema of a Silver spec, for editors.
func SilverSchema() []byte { return append([]byte(nil), silverSchema...) }
