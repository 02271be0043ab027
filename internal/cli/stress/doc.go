// Package stress contains the commands of mcptest that put a server under stress: leak
// and load. Each New…Cmd function returns one command.
//
// Invariants:
//   - nothing is sent to an address that is not this machine without --allow-remote;
//   - a tool is called only through package allow, and never one that declares
//     destructiveHint: true, because it would be called many times;
//   - every process that a command starts has ended when it returns.
package stress
