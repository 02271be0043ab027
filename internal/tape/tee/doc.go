// Package tee records the traffic between a real client and a server without changing it:
// Stdio starts the server and connects its streams with those of this process, Proxy is a
// reverse proxy in front of an HTTP server. Both forward bytes unchanged and pass copies of
// the messages to a Tap.
//
// Invariants:
//   - bytes are forwarded as they arrive, partial lines included, and parsed only after
//     that;
//   - a separate goroutine records the copies. A recorder that is too slow or fails loses
//     messages, which are counted, and never delays the traffic;
//   - messages are recorded in a possible order: a response never comes before its request.
package tee
