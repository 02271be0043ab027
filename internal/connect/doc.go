// Package connect opens sessions with the servers of a plan: the transport and
// its credentials, the wait until a server is ready, and what is remembered of
// its protocol era. It also explains why a session could not be opened.
//
// [Opener.Open] is the entry point of a run; the commands that examine one
// server by hand use [Dial] and [Retry].
package connect
