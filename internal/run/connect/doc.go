// Package connect opens sessions with the servers of a plan: it opens the transport
// with its credentials, waits until a server is ready, and records its protocol era.
// It also explains why a session could not be opened.
//
// [Opener.Open] is the entry point of a run; commands that examine a single server
// use [Dial] and [Retry].
package connect
