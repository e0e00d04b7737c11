// Package spec holds what a user writes: retention policies, lists of them,
// requests to restore a run, checks of partitions, and Silver tables. It owns their types, defaults, strict decoding from
// YAML and JSON, validation, and the JSON Schema for editors.
//
// It refuses what it does not understand: an unknown, duplicated, empty or
// wrongly typed key is an error that names the key, its line, the nearest right
// key and a right form. A typing error in a purge policy must never widen it.
//
// Invariants:
//  1. No clock, no I/O, no host time zone: a time zone is looked up by the
//     loader that the caller passes to Validate.
//  2. JSON decoding is as strict as Parse, at every depth, because a workflow's
//     input is decoded by encoding/json, which would drop unknown keys.
//  3. Defaults is pure and idempotent, and Validate judges what Defaults returns:
//     a policy is judged as it will run.
//  4. Durations and percentages are strings ("168h", "30d", "10%"); a bare number
//     is refused, because its unit would be a guess.
//  5. SQL (where) is only checked for being there; whoever knows the table's
//     schema parses it.
package spec
