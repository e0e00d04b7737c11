// Package arch holds the architecture of the repository as tests: which package
// may import which, and that each says what it is for. It has no code of its
// own.
//
// The same import rules stand in .golangci.yml, where an editor shows them while
// one types; a test keeps both lists equal. Imports of test files are free,
// except that nothing ever links the Temporal server.
package arch
