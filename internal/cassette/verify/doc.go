// Package verify sends the recorded requests of a cassette to another build of
// the server, or looks them up in another cassette, and classifies what differs as
// package surface/diff does.
//
// Invariants:
//   - requests are sent one after the other, in the recorded order, with the
//     recorded parameters; what cannot be sent again is named in Skipped;
//   - there is one live session for each recorded one, whose client declares and
//     answers what the recorded client did;
//   - a crash or timeout is a change like others: the next request is sent to a
//     new session;
//   - a response that was a result and is an error now, a member that is gone or
//     has another type is breaking; another value is to be reviewed; a new member
//     is safe.
package verify
