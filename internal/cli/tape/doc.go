// Package tape contains the commands of mcptest for cassettes: record, serve and
// cassette. Each New…Cmd function returns one command.
//
// Invariants:
//   - a proxy forwards what it cannot record: only errors before the server starts
//     end the command;
//   - nothing in a cassette is executed, and none of its addresses is dialed.
package tape
