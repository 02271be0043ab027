// Package upstreams connects the test doubles of a run to recordings, the real APIs,
// and the networks of servers.
//
//	Flags.Open → *Traffic → Traffic.Deps → the run → Traffic.Save
//
// Start reading at traffic.go.
package upstreams
