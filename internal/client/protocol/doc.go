// Package protocol is the vocabulary that both halves of MCP share: the members of a
// JSON-RPC message, the table of protocol versions, the table of violations, error
// codes, the headers that repeat parts of a message, and the events of a
// text/event-stream. It performs no I/O and has no
// state.
//
// version.go is the only place that names protocol versions; a later one is a row.
// Frames are built by appending text, so that the text of a test is sent byte for
// byte.
package protocol
