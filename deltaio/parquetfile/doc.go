// Package parquetfile looks at one Parquet file without a table: whether it is
// whole, what columns it has, and its rows. It owns the names of damage, and the
// Delta type that a Parquet column reads as; it refuses to guess a type, and it
// knows nothing of logs, partitions or rules.
//
// Invariants:
//  1. Damage is a value with a kind; an error of another type says that the file
//     could not be looked at.
//  2. A file that Verify passes had every page read: by its checksum where the
//     writer left one, else decoded. Columns of a type that cannot be decoded are
//     named in the result.
//  3. Bytes that were changed in a page without a checksum, so that it still
//     decodes, cannot be told from what was written; nothing here claims so.
package parquetfile
