// Package proxy passes the requests of servers whose API address cannot be changed
// to doubles: an HTTP proxy that ends TLS with certificates of its own, and on Linux
// a network namespace that leads nowhere else.
//
//	Start → *Proxy      Proxy.Environ: what makes a program use and trust it
//	Isolation.Command   runs a program in a network namespace (isolate_linux.go)
//
// Invariants:
//
//   - The key of the certificate authority exists in memory only. It can certify
//     the declared hosts and nothing else, for one day.
//   - No trust store of the system or of a user is changed: the program that is
//     tested gets the certificate by environment variables.
//   - A host that is not declared is never connected to.
//   - Every wait for a client has a limit.
//
// Start reading at proxy.go.
package proxy
