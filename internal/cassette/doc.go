// Package cassette records what passes between an MCP client and a server, and
// answers from the recording.
//
// A cassette is a file of JSON lines: a [Header], then one [Frame] a line, in
// the order in which they were seen. [Writer] appends to it and masks secrets
// before a line is written, in both directions; [Open] reads it and indexes it,
// so that large messages stay in the file. A [Player] matches the requests of a
// client with the recorded ones.
//
// Invariants:
//   - nothing in a cassette is ever executed, and none of its addresses dialed;
//   - a message of the cassette is byte for byte what was sent, except for masks;
//   - a file that ends in the middle of a line is readable up to that line.
package cassette
