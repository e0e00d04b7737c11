// Package activities holds the steps of the workflows: each decodes its input,
// opens tables, makes one or few calls into deltaio, heartbeats, and maps errors
// (errors.go). The logic lies below; the order of steps lies in workflows.
//
// Invariants:
//  1. Every activity is idempotent: a retry after a crash at any point returns
//     what the first attempt would have returned, and changes nothing twice.
//  2. Inputs and results hold counts, digests and names, never rows, keys, file
//     lists or secrets: those lie in the run folder.
//  3. Counts that are not known are null, never 0.
package activities
