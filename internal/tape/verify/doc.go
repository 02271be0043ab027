// Package verify sends the recorded requests of a cassette to another build of the server,
// or looks them up in another cassette, and classifies the differences as package
// surface/diff does.
//
// Invariants:
//   - requests are sent one after the other, in the recorded order, with the recorded
//     parameters; requests that cannot be repeated are named in Skipped;
//   - each recorded session has one live session, whose client declares the recorded
//     capabilities and gives the recorded responses;
//   - a crash or timeout is a change like others: the next request uses a new session;
//   - an error in place of a result, a missing member and a member of another type are
//     breaking; another value must be reviewed; a new member is safe.
package verify
