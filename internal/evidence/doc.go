// Package evidence keeps what proves a run: its run folder, digests of what lies
// there, the hash-chained audit rows, and the erasure certificate.
//
// It refuses names that lead out of a run's folder, records whose digest is not
// the expected one, and certificates that claim more than their proof shows.
//
// Invariants:
//  1. Equal values have equal canonical JSON, and so equal digests, on every
//     machine and in every version of this package.
//  2. An unknown count is null, never 0.
//  3. The hash of an audit row covers every audit column but row_hash itself,
//     prev_hash included; a chain has one beginning and no forks.
//  4. Nothing here reads a clock: times are passed in.
package evidence
