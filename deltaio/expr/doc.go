// Package expr is the SQL predicate language of lakewarden: criteria, holds,
// CHECK constraints and generated columns are written in it. It parses a text,
// binds it to a Delta schema, evaluates it on Arrow batches and prunes files by
// value ranges.
//
// Meaning is Spark SQL's with the defaults of Spark 3.5: spark.sql.ansi.enabled
// is false (a cast that fails gives NULL, integers wrap around, division by zero
// is NULL), spark.sql.legacy.timeParserPolicy is CORRECTED (a date that does not
// match its pattern is NULL). Each place where the meaning comes from Spark
// names the rule; each known difference is listed in differences.go.
//
// What it owns: the grammar, type coercion, three-valued logic, functions.
// What it refuses: subqueries, aggregates, window functions, user functions,
// and every name it does not know, each with its position in the text.
//
// Invariants:
//  1. No clock and no host time zone: time comes from Context alone.
//  2. Expr.String re-parses to the same tree, and Freeze makes that text mean
//     the same at any later time.
//  3. Eval gives what a row-by-row reading of the tree gives.
//  4. Prune never says None when a row could be TRUE, nor All when a row could
//     be FALSE or NULL. What is not known is Some.
//  5. Parse is linear in the text and bounded in depth; hostile text is an
//     error, never a panic.
package expr
