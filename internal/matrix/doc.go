// Package matrix holds no code but tests: they run whole workflows in process,
// with the real activities on real tables, and break them everywhere. They own
// the promises that no package can keep alone: whatever happens to workers, to
// stores, to the workflow or to the table by other writers' hands,
//
//  1. rows = kept + archived, as multisets, by reading everything again;
//  2. a purge that did not complete leaves the table row for row as it was, and
//     nothing of the run in the archive;
//  3. a completed purge took exactly the rows that were due, and archived each
//     of them once;
//  4. no flag is left, and the audit says what happened;
//  5. input that must be refused is refused before anything is touched.
//
// What is broken here in process is broken in earnest, by killing workers, in
// the end-to-end tests.
package matrix
