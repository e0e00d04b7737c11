// Package bench measures whole operations: time per row and peak memory of a
// purge. It holds benchmarks only; kernels have theirs beside their code.
package bench
