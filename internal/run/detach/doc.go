// Package detach keeps an environment that mcptest run --setup-only left
// running: which suites were set up, with which variables, and which processes
// belong to it. Begin creates it and Open reads it for mcptest down; both hold
// its lock until Release.
//
// Invariants:
//   - the state is in .mcptest/up below the current folder, in files that only
//     their owner can read: variables and what hooks passed on may be secret;
//   - one process at a time uses an environment;
//   - processes are stored a second time, so that they can be stopped even if
//     the state file is damaged or of another version.
package detach
