package expr

// Where this language knowingly differs from Spark 3.5. Each difference is on
// the side of refusing, or of NULL (a row that is kept), never of guessing.
//
// Read otherwise:
//   - 'it''s' is it's, as in standard SQL and Spark 4; Spark 3.5 joins the two
//     strings to its. String() writes \' which every version reads alike.
//   - A time without a date ('10:11:12') is no timestamp but NULL; Spark puts it
//     on the current day, so that the meaning of data would change daily.
//   - NULL may stand where a condition is wanted (CASE WHEN NULL THEN …).
//   - CAST of a double to string gives the fewest digits, as Java since 19;
//     Java 17 prints 1e23 as 9.999999999999999E22.
//   - \b in RLIKE sees ASCII words, as Java since 19; \p classes and case
//     mapping follow the Unicode tables of the Go release.
//   - Where Spark fails a query because a timestamp leaves its range, the value
//     is NULL.
//   - Names may hold letters of any script without backticks.
//
// Refused, with the place in the text:
//   - bit operators & | ^ ~, array and map access [ ], lambda, subqueries,
//     aggregates, window functions, nondeterministic functions, LIKE ANY / ALL,
//     INTERVAL … TO …, intervals as values (date - date), CAST to nested types,
//     names that start with a digit unless in backticks, DATE'today' and other
//     special values.
//   - RLIKE with a pattern that is not constant, or one that RE2 cannot say:
//     look-around, back references, possessive quantifiers, atomic groups,
//     nested classes and &&, $ elsewhere than at an end, flags but i and s,
//     repetitions beyond 1000.
//   - date patterns with letters other than y M L d D H h K k m s S a X x Z
//     (Spark itself refuses week-based letters and E when parsing).
