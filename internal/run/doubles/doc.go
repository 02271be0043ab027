// Package doubles runs the test doubles of upstreams: it starts and stops them,
// passes their addresses to servers, and assigns requests to tests.
//
// A [Group] has one double for each upstream of a file. Every server with a command
// has its own group, so that requests can be attributed to it. The programs of a
// file (hooks and fixture steps) and its servers with an address share one.
package doubles
