// Package workflows holds the runbooks: PurgeTable, ProveErasure, RestorePurge
// and PurgeLakehouse. Each reads as numbered steps; the verbs stand below it, the
// work itself is done by activities.
//
// One purge or restore runs per table, as workflow PurgeID(table). Who starts one
// under another ID gets that workflow's answer, or, where it runs already, the
// outcome skipped: see delegatePurge.
//
// Invariants:
//  1. Nothing here reads a clock, a file, the network or randomness but through
//     the workflow API; maps are never ranged over.
//  2. Before a step that changes a table its compensation is registered;
//     compensation runs on a disconnected context and starts with the fence.
//  3. After the delete is committed nothing is undone; what cannot be verified
//     holds, visibly, for an operator.
//  4. An outcome is shown once its audit row is written.
//  5. The status query tells the whole state and the next command at any time.
package workflows
