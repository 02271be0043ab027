// Package transport records what the transports of a client carry, and answers
// from a cassette in place of a server.
//
// A process is recorded frame by frame around its [wire.Transport]; HTTP one
// exchange at a time, below the client, so that the replay goes through the
// same code and finds the same violations.
//
// Entry points: [Folder] holds the cassettes of a run, one for each server;
// [Stdio] and [HTTP] record one connection, [ReplayStdio] answers one.
package transport
