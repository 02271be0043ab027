// Package proxy passes the requests of servers whose API address cannot be changed to
// doubles: an HTTP proxy that ends TLS with its own certificates, and on Linux a network
// namespace from which only this proxy can be reached.
//
//	Start → *Proxy      Proxy.Environ: variables that make a program use and trust it
//	Isolation.Command   runs a program in a network namespace (isolate_linux.go)
//
// Invariants:
//
//   - The key of the certificate authority exists in memory only. It can certify only the
//     declared hosts, for one day.
//   - No trust store of the system or of a user is changed: the program under test gets the
//     certificate through environment variables.
//   - The proxy never connects to a host that is not declared.
//   - Every wait for a client has a limit.
//
// Start reading at proxy.go.
package proxy
