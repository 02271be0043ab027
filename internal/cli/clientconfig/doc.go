// Package clientconfig reads and edits the configuration files of MCP clients. Read returns
// the entry of a server. For a client that should start a server through a recording proxy,
// Find looks for the file, and Wrap and Unwrap change the bytes of one entry.
//
// Invariants:
//   - only the command and the arguments of the entry change: the comments, order and layout
//     of everything else stay;
//   - a backup of the original file is made before anything is written, and a backup is
//     never overwritten;
//   - a file that cannot be parsed completely is not changed.
package clientconfig
