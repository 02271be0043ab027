// Package identity has what known clients say about themselves in the handshake: their
// name and version, and the capabilities that they declare.
//
// Entry point: [Named] returns the profile of a client. Profiles are facts about other
// programs, each with its source and the day on which it was last seen; they change what
// mcptest says about itself, and never which frames it sends.
package identity
