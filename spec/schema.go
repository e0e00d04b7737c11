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
