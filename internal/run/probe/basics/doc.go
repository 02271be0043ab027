// Package basics examines the base protocol of a server: the handshake, the form of
// messages, the transports with their sessions and headers, authorization, and the end of
// the process.
//
// Each exported function is a family of rules; [Diagnose] examines a server whose handshake
// failed. Invariants: what is sent past the session is a single request; a connection that
// is opened here is closed here.
package basics
