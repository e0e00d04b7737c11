// Package log owns the Delta transaction log of one table: the actions and
// their JSON and Parquet forms, the paths in them, the listing of _delta_log,
// the replay of commits and checkpoints into a State, and the writing of
// commits, checkpoints and the checkpoint hint.
//
// It refuses what it cannot read whole: a gap between commits, a commit that
// does not parse to its last byte, a checkpoint without protocol or metadata, a
// file that is live twice. A damaged checkpoint is passed over for an older one
// or for the commits alone; when neither covers the version, loading fails. It
// refuses tables whose log it cannot trust (a newer protocol, commits kept by a
// catalog); all other table features are the caller's to check, by
// State.Protocol. It reads no data files, keeps no clock and logs nothing.
//
// Invariants:
//  1. A State is complete for its version or does not exist.
//  2. Loading through any checkpoint gives the same State as the commits alone,
//     but for what the protocol keeps out of checkpoints: expired tombstones,
//     and Extra.
//  3. Fields of known actions that this package does not know survive in Extra
//     from reading a commit to writing it; unknown actions in UnknownAction.
//  4. Values of a State are shared and immutable: callers copy an action before
//     they change it. Equal partition value and tag maps are one map.
//  5. Integers are never read through a float.
package log
