// Package respond implements the client's side of a session: the capabilities that
// it declares, and the scripted answers to requests of the server.
package respond
