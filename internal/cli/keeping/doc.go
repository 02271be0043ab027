// Package keeping turns a request that was made by hand, or that a cassette holds, into a
// test of a suite: the flag --keep of commands.
//
// [Flags] are the flags. Flags.Begin checks before the request is made that the suite can
// get a test, and returns a [Keeper]; Keeper.Keep writes the test, or shows it and asks.
//
// Invariants:
//   - a suite that is refused is refused before anything is sent to a server;
//   - nothing is written without a person's consent: an answer on a terminal, or --yes;
//   - no secret is written: an argument that is one becomes a placeholder.
package keeping
