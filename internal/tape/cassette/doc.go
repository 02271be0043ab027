// Package cassette stores the traffic between an MCP client and a server, and finds the
// recorded response to a request.
//
// A cassette is a file of JSON lines: a [Header], then one [Frame] per line, in the order in
// which they were received. [Writer] appends to it and masks secrets, in both directions,
// before a line is written; [Open] reads it and indexes it, so that large messages stay in
// the file. A [Player] matches the requests of a client with the recorded ones.
//
// Invariants:
//   - nothing in a cassette is ever executed, and none of its addresses is dialed;
//   - a message in a cassette has exactly the bytes that were sent, except for masks;
//   - a file that ends in the middle of a line is readable up to that line.
package cassette
