// Package deltaio reads and writes Delta tables on object storage.
//
// It owns the table's life: opening and creating, snapshots, scans, the
// optimistic transaction, and one operation a file (append, add column, restore,
// vacuum, checkpoint, history, detail, fence). The formats lie below it: actions
// and replay in internal/log, deletion vectors in internal/dv, Parquet in
// internal/scan and internal/pq, predicates in expr.
//
// It refuses what it does not understand: every table feature has one row in the
// feature table (features.go) that says for each kind of access whether it is
// supported, and a refusal names feature, operation and remedy.
//
// Invariants:
//  1. A version is written by put-if-absent and never overwritten.
//  2. A commit is checked before it is written: every remove matches exactly one
//     active file, no pair (path, deletion vector) occurs twice, and every
//     commit that won meanwhile was examined for a conflict.
//  3. A step (Step) is applied at most once per table, whatever answers of the
//     store are lost, and never after its fence.
//  4. Nothing outside the table's root is written or deleted.
//  5. No clock, no log, no host time zone: time, progress and identifiers come
//     from Env.
package deltaio
