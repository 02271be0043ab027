// Package openings replays how known clients open a connection (package opening) with a
// server: each script on a process or session of its own.
//
// [Run] is the entry point. Invariants:
//   - At most two processes of a server run at a time. A script that failed while another
//     one ran is repeated alone before it counts.
//   - A lost opening counts only if mcptest gets in itself afterwards, as it did before: a
//     server that accepts a number of sessions only, or has died, is said to be so.
//   - Every wait has a limit, and every process and session is ended, also after a failure.
//   - No tool is called.
package openings
