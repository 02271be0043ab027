// Package upstream implements test doubles of the APIs behind a server under test: the
// requests that the server sends to them, the routes that define the responses, and the
// loopback listener.
//
// A [Declaration] is one entry of `upstreams:` as written; [Compile] makes an [Upstream] of
// it. A [Double] responds to the requests for one Upstream. It uses, in this order, the
// routes of the test, those of the suite, its fallback (a recording or the real API), and
// then the response for unmatched requests.
package upstream
