// Package calendar turns a policy's age into a cutoff: the day, in the policy's
// time zone, before which rows are due, and the SQL that says so for a column of
// a given type. And it turns a range of expected partitions into periods with
// their instants: which have ended, until when their data may come, which may be
// missing. It owns calendar arithmetic; it reads no clock, no host time zone and
// no table.
//
// Invariants:
//  1. In doubt a cutoff is earlier, so that more rows are kept: short months
//     clamp, a day that begins late or twice begins at its first instant, an age
//     that cannot be subtracted is an error.
//  2. A later clock never gives an earlier cutoff.
//  3. A cutoff is never shown without its zone.
//  4. For any row at most one of the due and the undated predicate is TRUE.
//  5. Periods do not overlap and leave no instant out; an hour that a zone skips
//     is no period, one that comes twice is a single longer one.
//  6. A period that has not ended, or whose deadline has not passed, is not due.
package calendar
