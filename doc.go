// Package mcptest runs a suite for MCP servers as a Go test. [Test] is the entry
// point: it makes each case of the suite a subtest, so that
//
//	go test -run 'TestServer/adds_numbers'
//
// runs one of them. A failure shows the file and line of the suite. [InProcess]
// connects a server of the suite to one in the test process, where breakpoints,
// coverage and the race detector of Go work; [Var] sets a variable of the suite.
// [Validate] returns the mistakes of a suite without running it.
//
// The suite language is described in docs/reference/suite.md; the guide is
// docs/guides/go.md.
//
// Invariants:
//   - a suite passes here exactly if `mcptest run` exits with 0;
//   - only the cases that -run and -skip select are executed;
//   - when Test returns, the processes that the suite started have ended.
package mcptest
