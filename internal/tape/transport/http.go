package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// requestHeaders are the headers of a request that are needed for a replay or useful
// to a reader. None of them is a credential.
var requestHeaders = []string{"Last-Event-Id", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name"}

// HTTP returns a transport that records the exchanges of base. It does not change
// them.
func HTTP(base http.RoundTripper, log *Log) http.RoundTripper { return &recorder{base: base, log: log} }

type recorder struct {
	base http.RoundTripper
	log  *Log

	mu sync.Mutex
	n  int
}

// RoundTrip records a request and its response.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.n++
	x := &exchange{log: r.log, stream: r.n, ctx: req.Context()}
	r.mu.Unlock()
	body, err := takeBody(req)
	if err != nil {
		return nil, err
	}
	h := map[string][]string{}
	for _, k := range requestHeaders {
		if v := req.Header[k]; len(v) > 0 {
			h[k] = v
		}
	}
	x.write(cassette.Frame{Dir: cassette.ToServer, HTTP: &cassette.HTTP{Method: req.Method, Header: h}, Data: body})
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		x.endBroken(err)
		return nil, err
	}
	x.begin(resp)
	return resp, nil
}

// takeBody returns the body of a request, which can still be read afterwards.
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	from := req.Body
	if req.GetBody != nil {
		var err error
		if from, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	b, err := io.ReadAll(from)
	_ = from.Close()
	if req.GetBody == nil {
		req.Body = io.NopCloser(bytes.NewReader(b))
	}
	return b, err
}

// exchange records one HTTP exchange.
type exchange struct {
	log    *Log
	stream int
	ctx    context.Context
	head   *cassette.HTTP // not written yet

	body   io.ReadCloser
	events *cassette.Events // nil: the body is one message
	whole  []byte
	size   int64
	over   sync.Once
}

func (x *exchange) write(f cassette.Frame) {
	f.Stream = x.stream
	x.log.write(f)
}

// begin records the head of a response and continues with its body.
func (x *exchange) begin(resp *http.Response) {
	x.head = &cassette.HTTP{Status: resp.StatusCode, Header: resp.Header.Clone()}
	if protocol.IsEventStream(resp.Header.Get("Content-Type")) {
		x.events = cassette.NewEvents()
		x.write(cassette.Frame{Dir: cassette.FromServer, HTTP: x.head})
		x.head = nil
	}
	x.body, resp.Body = resp.Body, x
}

// Read reads a piece of the body and records the messages that it completes.
func (x *exchange) Read(b []byte) (int, error) {
	n, err := x.body.Read(b)
	switch {
	case n == 0:
	case x.events != nil:
		x.events.Feed(b[:n], func(f cassette.Frame) {
			if *f.Event == (cassette.Event{}) {
				f.Event = nil
			}
			x.write(f)
		})
	default:
		x.size += int64(n)
		if room := cassette.MaxMessage + 1 - len(x.whole); room > 0 {
			x.whole = append(x.whole, b[:min(n, room)]...)
		}
	}
	switch {
	case err == io.EOF:
		x.endWhole()
	case err != nil:
		x.endBroken(err)
	}
	return n, err
}

// Close records that the client stopped reading the body.
func (x *exchange) Close() error {
	x.end(cassette.End{Client: true})
	return x.body.Close()
}

// endWhole records that the whole response was read.
func (x *exchange) endWhole() { x.end(cassette.End{Client: x.ctx.Err() != nil}) }

// endBroken records an error of the connection, unless the client ended the exchange.
func (x *exchange) endBroken(err error) {
	if x.ctx.Err() != nil {
		x.end(cassette.End{Client: true})
	} else {
		x.end(cassette.End{Reason: err.Error()})
	}
}

// end records what is left of the response, and how the exchange ended.
func (x *exchange) end(e cassette.End) {
	x.over.Do(func() {
		if x.events != nil {
			if f, ok := x.events.Begun(); ok {
				x.write(f)
			}
		}
		if x.head != nil {
			f := cassette.Frame{Dir: cassette.FromServer, HTTP: x.head, Data: x.whole}
			if x.size > int64(len(x.whole)) {
				f.Omitted = x.size
			}
			x.write(f)
		}
		x.write(cassette.Frame{End: &e})
	})
}
