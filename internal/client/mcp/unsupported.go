package mcp

import (
	"context"
	"net/http"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// askTime limits the request for the supported revisions of a server that rejects the
// pinned one.
const askTime = 3 * time.Second

// UnsupportedVersionError reports that a server does not support the pinned revision.
type UnsupportedVersionError struct {
	Want string
	Has  []string // supported revisions; nil if unknown
	Err  error    // the error of the server
}

// Error names both revisions.
func (e *UnsupportedVersionError) Error() string {
	s := "the server does not speak protocol version " + e.Want
	if len(e.Has) > 0 {
		s += ", it speaks " + strings.Join(e.Has, ", ")
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the error of the server.
func (e *UnsupportedVersionError) Unwrap() error { return e.Err }

// deniesRequest reports whether an HTTP response shows that the server does not know
// the request, rather than that it is down, busy or requires authorization.
func deniesRequest(err error) bool {
	return wire.HasStatus(err, http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnprocessableEntity)
}

// retryVersion describes the rejection of the pinned revision d, and requests
// the revisions of the other era.
func (n *negotiator) retryVersion(ctx context.Context, d protocol.Version, x *Exchange, refused error) *UnsupportedVersionError {
	e := &UnsupportedVersionError{Want: d.Name, Err: refused}
	if v, err := jsonv.Parse(x.Result); err == nil && d.Stateless {
		e.Has = readRevisions(v.Lookup("supportedVersions"))
		return e
	}
	if rpc := x.RPCError(); rpc != nil {
		if data, err := jsonv.Parse(rpc.Data); err == nil {
			e.Has = readRevisions(data.Lookup("supported"))
		}
		if len(e.Has) > 0 {
			return e
		}
	}
	if n.o.OneEra {
		return e
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if d.Stateless {
		params := n.send.who.initializeParams(protocol.Newest(protocol.EraSession).Name)
		v, err := jsonv.Parse(n.send.sendOnce(ctx, Call{Method: "initialize", Params: params}, conn.Delivery{}).Result)
		if err == nil {
			e.Has = readRevisions(jsonv.Array(v.Lookup("protocolVersion")))
		}
		return e
	}
	if v, err := jsonv.Parse(n.discover(ctx, protocol.Newest(protocol.EraStateless)).Result); err == nil {
		e.Has = readRevisions(v.Lookup("supportedVersions"))
	}
	return e
}

// readRevisions returns the texts of a list, escaped for display.
func readRevisions(list jsonv.Value) []string {
	const most = 8
	var out []string
	for _, e := range list.Elems() {
		if e.Kind() == jsonv.KindString && len(out) < most {
			out = append(out, protocol.Excerpt([]byte(e.Text())))
		}
	}
	return out
}
