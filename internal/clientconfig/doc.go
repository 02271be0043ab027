// Package clientconfig edits the configuration files of MCP clients, so that a
// client starts a server through a recording proxy. Find looks for the file,
// Wrap and Unwrap change the bytes of one entry.
//
// Invariants:
//   - only the command and the arguments of the entry change: comments, order and
//     layout of the rest stay;
//   - the original file is kept as a backup before anything is written, and a
//     backup is never overwritten;
//   - what cannot be read completely is not changed.
package clientconfig
