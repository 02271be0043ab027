// Package protocol is the vocabulary that both halves of MCP share: the members
// of a JSON-RPC message, the table of protocol versions, the table of violations,
// error codes and the headers that repeat parts of a message. It does no input or
// output and keeps no state.
//
// version.go is the only place that names protocol versions; a later one is a
// row. Frames are built by appending text, so that what the author of a test
// wrote is sent byte for byte.
package protocol
