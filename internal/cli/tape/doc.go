// Package tape holds the commands of mcptest that work with cassettes: record,
// serve and cassette. Each New…Cmd function returns one command.
//
// Invariants:
//   - a proxy passes on what it cannot record: only what is wrong before the server
//     starts ends the command;
//   - nothing in a cassette is executed, and none of its addresses is dialed.
package tape
