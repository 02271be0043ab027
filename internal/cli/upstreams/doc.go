// Package upstreams connects a run to what is behind the doubles of upstreams:
// recordings, the real APIs, and the networks of servers.
//
//	Flags.Open → *Traffic → Traffic.Deps → the run → Traffic.Save
//
// Start reading at traffic.go.
package upstreams
