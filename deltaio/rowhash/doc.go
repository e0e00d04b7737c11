// Package rowhash digests multisets of rows independently of their order, of
// the way they are cut into batches, and of how a file encoded them. It proves
// that two sets of rows are the same; it is no defence against somebody who
// forges rows on purpose.
//
// A value is hashed with xxh3-128 under a seed made of its column's name and
// type; the hashes of a row's values are added and hashed once more, which
// binds them to each other; the rows' hashes are added mod 2^128.
//
// Invariants:
//  1. Equal rows of equal schemas hash alike, whatever batch, row order, column
//     order, dictionary or physical type carried them.
//  2. A row's hash covers the name and the type of every column, and tells null
//     from empty, -0.0 from 0.0, and where one nested value ends. All NaNs are
//     one value; the entries of a map have no order.
//  3. Sum is a group: Add and Sub are inverses (mod 2^128 and 2^64), so
//     duplicates count. It never cancels pairs as XOR would.
//  4. The hash of given rows never changes: it is stored and compared years
//     later. A test holds its values.
package rowhash
