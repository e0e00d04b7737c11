// Package purge removes rows past their retention from a Delta table without
// ever losing one: plan, mark, archive, verify, delete, verify again, and the way
// back from each of these steps.
//
// It owns the purge's protocol on the tables: which rows are due, in which files
// they lie after other writers moved them, what a step may commit, and what a
// repeated, late or failed step finds. It knows nothing of workflows; package
// deltaio knows nothing of purges.
//
// It refuses to touch flags it did not set, to delete a row whose archived copy
// was not verified against the row as it is now, to undo a purge after its
// delete, and to delete any object that the run did not create.
//
// Invariants:
//  1. At every version of the table, rows = kept + archived: a row leaves the
//     table only in the delete commit, and only if the multiset hash of the rows
//     that leave equals that of the verified archive.
//  2. Each step commits at most once (a txn entry lakewarden/<run>/<step>, odd =
//     done), and never after its fence (even). What a step did is written to the
//     run folder before its commit; the commit names that record, so a repeated
//     step answers what the first one did.
//  3. Undoing starts with the fence; staged files are deleted only after it, and
//     only those whose name carries the run and that no live file and no
//     tombstone refers to.
//  4. A row is due only where the criteria are TRUE: never on NULL, never on a
//     date that could not be read. A held row is not due.
//  5. Nothing of a due row survives in the files that keep the others, and rows
//     hidden by deletion vectors that meet the criteria are rewritten away too.
//  6. File lists stay in the run folder; results are small. An unknown count is
//     nil, never 0.
package purge
