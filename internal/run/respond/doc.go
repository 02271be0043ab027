// Package respond is the client's side of a session: the capabilities that it
// declares, and the scripted answers to what a server requests.
package respond
