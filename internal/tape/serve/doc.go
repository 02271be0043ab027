// Package serve responds to clients from a cassette, through package mcpserver: New makes
// the server, and Handler handles one connection.
//
// Invariants:
//   - the response to a request is the recorded one, with the ids of the live client;
//     notifications are sent with their call, and requests of the server are sent to the
//     live client, whose response is awaited;
//   - a request that is not recorded is always reported;
//   - nothing in the cassette is executed, and none of its addresses is dialed.
package serve
