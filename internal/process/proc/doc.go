// Package proc starts, monitors and ends child processes: servers that communicate
// over pipes, background programs of fixtures, and hooks that run once.
//
// Entry points: [Start] runs a program in the background, [Run] runs one and waits
// for it, [Registry] and [Watchdog] make sure that no process outlives the runner.
//
// # Invariants
//
//   - A program is an argument vector. No shell is ever started, and no word is
//     expanded.
//   - Every child leads its own process group (on Unix its own session, so that it
//     has no controlling terminal: a program that asks for a password fails
//     immediately; otherwise it would be stopped and hang).
//   - Output is always drained, in any amount, into memory of a fixed size
//     ([tail.Tail]).
//   - A process is reported as ended when the process itself has exited.
//     Grandchildren that hold its pipes delay that by at most [WaitDelay].
//   - A group is only signaled while it is known to be the group that was started:
//     process ids are compared together with start times.
//   - Every wait is limited: by its context, a grace period, or WaitDelay.
//
// # Platforms
//
// Linux: everything above. With [Adopt], processes that left their group and session
// (daemons) are also found at the end. With a [Watchdog], all of them are killed even
// if the runner itself is killed by SIGKILL: it knows the groups, and finds other
// processes by a mark in their environment (MCPTEST_RUN). It cannot find a process
// that left its session and was started with an empty environment.
//
// macOS: groups, sessions and the watchdog work; members are read from the kernel's
// process table and shown by their short name; daemons that left their session are
// not found. The tests only compile this code.
//
// All systems: a process of another user (a program with the set-user-ID bit) cannot
// be killed; it is reported.
//
// Windows: a job object contains each process and its descendants, and ends them when
// the runner's handle is closed, so that no watchdog is needed. A process is created in
// its job, so that neither a grandchild that starts at once nor a kill of the runner in
// this moment leaves anything. The signal that asks a process to exit is CTRL_BREAK. A
// batch file is run by cmd.exe with arguments that are escaped for it (batchLine).
package proc
