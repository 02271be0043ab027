// Package boundary tests a server from outside a session: how its program starts and
// ends, and how its address responds to raw HTTP requests.
//
// [Env.Start] and [Env.Request] are the entry points. Both return what the assertions of
// a test examine. Invariants: a started program has ended when Start returns; what a suite
// does not write is not sent; a redirect to another origin is not followed.
package boundary

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/connect"
)

// Env is what a test takes from its run.
type Env struct {
	Connect  connect.Options
	Client   mcp.Implementation
	Declares jsonv.Value // the capabilities of the client; absent: none
	Dir      string      // of the suite
	Headers  http.Header // of the request
	Response bool        // the JSON-RPC response in the body is examined
	// Secret declares values that must not appear in any output.
	Secret func(values ...string)
	// Answers reports whether an event is the last one that is needed; nil if none is.
	Answers func(data jsonv.Value) bool
}

// HeaderValue is the value of the target http.headers.
func HeaderValue(h http.Header) jsonv.Value {
	var out []jsonv.Member
	for _, name := range slices.Sorted(maps.Keys(h)) {
		out = append(out, jsonv.Member{Key: name, Value: jsonv.String(strings.Join(h[name], ", "))})
	}
	return jsonv.Object(out...)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
