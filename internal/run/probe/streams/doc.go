// Package streams judges what a session over HTTP sent on several event streams: whether
// each message came on the stream that it belongs to, and once.
//
// [Capture] and [Session.Judge] are the entry points. Invariants: only messages that are certainly the
// same one count as such (responses and requests by their id, progress by its token and
// value), because equal notifications may be two.
package streams
