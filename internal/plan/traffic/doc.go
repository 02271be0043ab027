// Package traffic compiles what a suite says about the HTTP around its tests: the
// upstreams behind the servers, the routes that tests add to them, and the headers
// of calls.
package traffic
