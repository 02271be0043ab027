// Package clientconfig edits the configuration files of MCP clients, so that a client starts
// a server through a recording proxy. Find looks for the file, Wrap and Unwrap change the
// bytes of one entry.
//
// Invariants:
//   - only the command and the arguments of the entry change: the comments, order and layout
//     of everything else stay;
//   - a backup of the original file is made before anything is written, and a backup is
//     never overwritten;
//   - a file that cannot be parsed completely is not changed.
package clientconfig
