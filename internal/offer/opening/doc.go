// Package opening has how known clients open a connection to a server, and decides for each
// whether it gets in.
//
// Entry points: [Builtin] returns the scripts of openings.yaml, [Load] checks those of a
// user; [Script.Play] plays one on a [Line] and returns the [Verdict]; [Conclude] compares
// the verdicts of one server with each other.
//
// Invariants:
//   - A script is data: the frames in their order, who was seen sending them, and when. It
//     expires [Lifetime] after it was last seen; its verdicts are warnings then.
//   - What an answer means to a client is a row of a table (reading.go). A row says only what
//     was observed with the client, or with the SDK that it is built with; where nothing is
//     known the client gets in.
//   - The package opens no connection: package run/openings does, and a Line in a test may be
//     a function.
package opening
