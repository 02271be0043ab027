// Package cmdutil holds what the command lines of mcptest and
// mcpaql-conformance share: their streams and environment (Streams, System),
// the processes that a command starts (World, made by NewWorld), the handling
// of signals (WatchSignals), the wording of errors in flags and arguments
// (FlagError, UsageError), the description of a command tree for the reference
// (Describe) and the version.
//
// Invariants:
//   - commands use Streams instead of the streams of the process, so tests can
//     run them in process;
//   - no process that a command starts outlives the command, not even one that
//     is killed: a watchdog process watches it;
//   - after the first signal the context of the command is canceled, after the
//     second one the program ends immediately.
package cmdutil
