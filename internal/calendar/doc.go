// Package calendar turns a policy's age into a cutoff: the day, in the policy's
// time zone, before which rows are due, and the SQL that says so for a column of
// a given type. It owns calendar arithmetic; it reads no clock, no host time
// zone and no table.
//
// Invariants:
//  1. In doubt a cutoff is earlier, so that more rows are kept: short months
//     clamp, a day that begins late or twice begins at its first instant, an age
//     that cannot be subtracted is an error.
//  2. A later clock never gives an earlier cutoff.
//  3. A cutoff is never shown without its zone.
//  4. For any row at most one of the due and the undated predicate is TRUE.
package calendar
