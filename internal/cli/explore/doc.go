// Package explore is the command `mcptest ui`: a page on this machine to call tools by hand,
// and to keep calls as tests.
//
// It gives the rooms below ui what they need of the command line: the servers of the suites
// ([NewCmd] says which), how to connect, and the insertion of a test. Invariants: only suites of
// the command line are written; nothing runs in CI.
package explore
