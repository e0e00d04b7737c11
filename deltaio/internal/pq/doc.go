// Package pq writes Parquet data files and rewrites them by rows.
//
// It owns the physical side of a data file: footer, pages, dictionaries,
// statistics, page index, checksums. It knows Delta types and nothing of the
// log: which rows go where is the caller's business, handed in as bitmaps.
//
// Rewrite reads a source file once and writes any number of outputs. Per row
// group and output it takes the cheapest way that is right:
//
//   - no row wanted: the row group is skipped;
//   - all rows wanted: column chunks are copied as bytes, with their page index
//     and bloom filter, offsets rebased;
//   - some rows wanted: column chunks are split page by page, by repetition
//     levels, so that nested columns take the same way as flat ones.
//
// Invariants:
//
//  1. An output holds exactly the wanted rows, in source order, bit for bit
//     (NaN payloads and -0.0 included) unless the column's type was converted.
//  2. Nothing of an unwanted row reaches an output: dictionaries are compacted
//     to the values in use, statistics and page index are rebuilt from the
//     values that stay, bloom filters of split chunks are dropped, key-value
//     metadata is dropped but for the four keys that tell Spark in which
//     calendar old dates are written.
//  3. Statistics are true or absent. Footer statistics of a source are carried
//     over, and used for FileStats, only from writers and types where they can
//     be trusted (see trust.go); elsewhere the column is decoded.
//  4. Every page written by encoding carries a CRC; every CRC found is checked,
//     also when a chunk is copied as bytes.
//  5. A corrupt source ends in an error that names object, row group and
//     column, never in a panic or in an allocation that the file's size does
//     not justify.
//
// Memory: Rewrite works column by column. It holds one read buffer of the
// source (at most a page plus 1 MiB), the decoded values of one page and one
// dictionary, and per output one page and the encoded pages of one column chunk
// of one row group, plus the page indexes of what is written so far. Writer
// holds the encoded pages of one row group.
//
// It refuses encrypted files, files whose chunks lie in other files, codec LZO,
// and conversions that Delta's type widening does not know.
package pq
