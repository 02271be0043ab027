// Package tee records what passes between a real client and a server without
// taking part in it: Stdio starts the server and connects its streams with those
// of this process, Proxy is a reverse proxy in front of an HTTP server. Both
// pass bytes on unchanged and hand copies of the messages to a Tap.
//
// Invariants:
//   - bytes are passed on as they come, partial lines included; nothing is parsed
//     before it was passed on;
//   - recording is done by a goroutine of its own, from copies. A recorder that is
//     too slow or fails loses messages, which it counts, and never delays the
//     exchange;
//   - messages are recorded in an order in which they can have happened: a
//     response never comes before its request.
package tee
