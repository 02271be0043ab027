// Package proc starts, watches and ends child processes: servers that speak on
// their pipes, background programs of fixtures, and hooks that run once.
//
// Entry points: [Start] runs a program in the background, [Run] one that is waited
// for, [Registry] and [Watchdog] make sure that no process outlives the runner.
//
// # Invariants
//
//   - A program is an argument vector. No shell is ever started here, and
//     nothing in a word is expanded.
//   - Every child leads a process group of its own (on Unix a session of its
//     own, so it has no controlling terminal: a program that asks for a
//     password fails at once where it would otherwise be stopped and hang).
//   - Output is always drained, in any amount, into memory of a fixed
//     size ([tail.Tail]).
//   - A process is reported as ended when the process itself ended.
//     Grandchildren that hold its pipes delay that by [WaitDelay] at most.
//   - A group is signalled only while it is known to be the group that was
//     started: process ids are compared together with start times.
//   - Every wait ends: with its context, with a grace period, or with WaitDelay.
//
// # What is promised where
//
// Linux: everything above. With [Adopt] also processes that left their group
// and session (daemons) are found at the end. With a [Watchdog] all of that
// dies even when the runner itself is killed by SIGKILL: it knows the groups,
// and finds the others by a mark in their environment (MCPTEST_RUN). Only what
// left its session and was started with an empty environment is out of reach.
//
// macOS: groups, sessions and the watchdog work; members are read from the
// kernel's process table and shown by their short name; daemons that left
// their session are not found. Compiled, not run by our tests.
//
// Everywhere: a process of another user (a program with the set-user-ID bit)
// can't be killed; it is named and left.
//
// Windows: a job object holds each process and what it starts, and ends them
// when the runner's handle goes, so the watchdog has nothing to do. A process
// is put into its job right after it was created: a grandchild started in
// between is not in the job. The polite signal is CTRL_BREAK. Compiled, not run
// by our tests.
package proc
