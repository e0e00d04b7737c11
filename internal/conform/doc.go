// Package conform is Silver's row engine: raw rows in, the rows of a Silver
// table out. It maps, cleans and casts columns, judges rows by the spec's rules,
// and keeps of each key the version that counts.
//
// It owns readers of CSV and JSON lines, the casts, the order of versions, and
// the reasons for which a row is rejected. It refuses what it would have to
// guess: a text that does not match a declared format, a number that would be
// rounded, a time that does not exist. It opens no file and knows no table.
//
// Invariants:
//  1. No clock and no host time zone: time comes from Options.
//  2. No value becomes NULL, is rounded or shifted without a reason: a row either
//     keeps what its source said, or is rejected with the whole raw record.
//  3. What happens to a row depends on that row alone; which version of a key
//     counts depends on the set of its versions alone, never on their order, on
//     how they were cut into batches, on file names or row numbers.
//  4. Versions are compared as bytes (Row.Order): two rows are equal in every
//     column that is not technical exactly when their bytes are equal.
//  5. Each row read is counted once: as quarantined, expired, a duplicate,
//     superseded, or the winner of its key.
package conform
