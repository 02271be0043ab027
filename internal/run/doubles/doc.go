// Package doubles runs the doubles of upstreams: when they start and end, which
// server gets their addresses, and which requests belong to which test.
//
// A [Group] has one double for each upstream of a file. Every server with a command
// has a group of its own, so that its requests are known to be its own; the programs
// of a file (hooks and fixture steps) and its servers with an address share one.
package doubles
