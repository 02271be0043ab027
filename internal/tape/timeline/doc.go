// Package timeline lists what a cassette contains in the order of time: messages, HTTP
// responses without one, standard error, and ends, each with the violations found in it.
//
// [Read] returns the rows, and [Violations] replays the recording through the client of this
// program to find what is wrong with it. Invariants:
//   - nothing of a cassette is executed, and none of its addresses is dialed;
//   - a row names the line of the cassette, from which [cassette.Cassette.Data] returns the
//     exact bytes, so that large messages stay in the file.
package timeline
