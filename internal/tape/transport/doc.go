// Package transport records what the transports of a client carry, and responds from a
// cassette in place of a server.
//
// A process is recorded frame by frame around its [wire.Transport]; HTTP is recorded one
// exchange at a time, below the client, so that a replay runs the same code and finds the
// same violations.
//
// Entry points: [Folder] manages the cassettes of a run, one for each server; [Stdio] and
// [HTTP] record one connection, [ReplayStdio] replays one.
package transport
