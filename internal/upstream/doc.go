// Package upstream holds test doubles of the APIs behind a server under test:
// the requests that the server sends to them, the routes that answer these
// requests, and the loopback listener that the server is pointed to.
//
// A [Declaration] is one entry of `upstreams:` as written; [Compile] makes an
// [Upstream] of it. A [Double] answers the requests for one Upstream, in this
// order: the routes of the test, those of the suite, its fallback (a recording
// or the real API), and then the response for unmatched requests.
package upstream
