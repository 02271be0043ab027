// Package recording stores the responses of a real API in files, without secrets, and finds
// the response to a request in them.
//
//	Recorder.Add → Recorder.Save → file   sanitized, sorted
//	Read → *File → File.Player → *Player.Lookup → *upstream.Response
//
// Invariants:
//
//   - Everything is sanitized before it is written to disk (sanitize.go).
//   - A request is sanitized in the same way before it is looked up, so a masked credential
//     matches every credential, and no other text (secret.Matcher).
//   - The order in which tests run affects neither the file nor the response that a test
//     gets.
//   - A replayed body has the bytes that were received, except for masks.
//
// Start reading at file.go, then sanitize.go.
package recording
