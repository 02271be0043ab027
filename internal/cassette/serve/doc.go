// Package serve answers clients from a cassette, over the server half of package
// mcpserver: New makes the server, and Handler the end of one connection.
//
// Invariants:
//   - the response to a request is the recorded one, with the ids of the live
//     client; notifications come with their call, and requests of the server are
//     sent to the live client and its answer is waited for;
//   - a request that is not recorded is reported, and never answered silently;
//   - nothing in the cassette is executed, and none of its addresses is dialed.
package serve
