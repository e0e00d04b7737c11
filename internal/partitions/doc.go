// Package partitions finds out which date partitions a table has, which it
// should have, and what is wrong with them. It owns the schemes by which dates
// stand in partition columns, the comparison with a calendar, the check of data
// files, statistics by partition, the rules' judgement, and the tables that keep
// findings and statistics. It refuses to guess: a name that is no date is invalid,
// whatever it resembles; a value that cannot be computed is not judged, and says
// so.
//
// Invariants:
//  1. Partitions of a Delta table come from its log; a directory is listed only
//     where there is no log.
//  2. A period that has not ended, or whose deadline has not passed, is never a
//     gap, nor is what the calendar accepts or a recorded purge removed.
//  3. One damaged file never hides another: each is named with its kind, and the
//     rest is still checked.
//  4. A rule that could not be judged is not a rule that holds.
//  5. Figures are exact, or marked as approximations (distinct values).
package partitions
