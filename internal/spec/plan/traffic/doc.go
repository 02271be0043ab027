// Package traffic compiles the HTTP settings of a suite: the upstreams behind the
// servers, the routes that tests add to them, and the headers of calls.
package traffic
