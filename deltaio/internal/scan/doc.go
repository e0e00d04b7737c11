// Package scan reads Parquet data files into Arrow record batches typed by a
// Delta schema. It owns the way from bytes to rows: footer, pages, encodings,
// the match of Delta fields to Parquet columns, type widening, partition
// constants, and which statistics of a footer may be believed. It refuses
// encrypted files, shredded variants and conversions outside Delta's widening
// rules; it knows nothing of the log, of deletion vectors, of predicates.
//
// Invariants:
//  1. A batch holds exactly the rows of the file, in file order, or the
//     sequence ends with an error that names the object, the row group and the
//     column. Corrupt bytes never panic out of the package.
//  2. No allocation is larger than what the bytes at hand can justify: sizes
//     read from headers are checked before they are used.
//  3. Page checksums are verified wherever a writer left them.
//  4. Memory is bounded by one batch of all columns and, a column, one page, one
//     dictionary and one read window (64 KiB to 1 MiB, together about 32 MiB);
//     batches shrink until no column of several rows exceeds 128 MiB.
//  5. Range never narrows: a bound it returns holds for every row of the group.
package scan
