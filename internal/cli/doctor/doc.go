// Package doctor finds out why a server does not work, layer by layer
// (Examine): DNS, TCP, TLS and HTTP of an address, or the command and start of
// a process; then the credentials, the handshake, the protocol version, the
// lists, the schemas of tools, and the protocol violations on the way.
//
// Invariants:
//   - the result is data; it is neither masked nor escaped;
//   - examination stops at the first failure that prevents the layers after it;
//   - no tool is called.
package doctor
