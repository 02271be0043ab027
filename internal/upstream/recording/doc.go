// Package recording keeps what a real API returned in files, without secrets,
// and finds the response to a request in them.
//
//	Recorder.Add → Recorder.Save → file   sanitized, sorted
//	Read → *File → File.Player → *Player.Lookup → *upstream.Response
//
// Invariants:
//
//   - Nothing reaches the disk before it was sanitized: see sanitize.go for what
//     that covers.
//   - A request is sanitized in the same way before it is looked up, so a masked
//     credential matches every credential.
//   - The order in which tests ran has no influence on the file, and none on
//     what a test gets back from it.
//   - A body gives the same bytes back that were received, except for masks.
//
// Start reading at file.go, then sanitize.go.
package recording
