package upstream

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
)

// MaxBody is the number of bytes that are read of the body of a request.
const MaxBody = 16 << 20

// Request is one request that a server sent to an upstream.
type Request struct {
	Upstream string // the name in the suite
	Method   string
	Host     string // the host that the server addressed: that of stands_for, unless a proxy knows it
	Path     string // as sent, with its escapes
	Query    url.Values
	Header   http.Header
	Body     []byte // without its content encoding only if nothing encoded it
	Time     time.Time
	// Origin is the address at which the server reached the double, such as
	// http://127.0.0.1:41723.
	Origin string
	// Scope is the attempt of a test that the request belongs to; nil if there is
	// none, or more than one.
	Scope *Scope
	// Nearest describes the nearest request that has a response; set by a fallback
	// without a response.
	Nearest string
}

// Scope is an attempt of a test, for a fallback that responds to each attempt
// separately.
type Scope struct {
	Test   string
	Memory any // of the fallback of one double
}

// Parsed returns the body as a value: JSON parsed, a form as an object of texts
// (lists where a name is repeated), any other body as a text. It is absent if there
// is no body.
func (r *Request) Parsed() jsonv.Value {
	if len(r.Body) == 0 {
		return jsonv.Value{}
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		if form, err := url.ParseQuery(string(r.Body)); err == nil {
			return valuesJSON(form)
		}
	}
	if v, err := jsonv.Parse(bytes.TrimSpace(r.Body)); err == nil {
		return v
	}
	return jsonv.String(strings.ToValidUTF8(string(r.Body), "\uFFFD"))
}

// parseQuery parses a query. Unlike in [url.ParseQuery], a parameter that is not
// well-formed stays as it was written.
func parseQuery(raw string) url.Values {
	plain := func(s string) string {
		if text, err := url.QueryUnescape(s); err == nil {
			return text
		}
		return s
	}
	out := url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		name, v, _ := strings.Cut(pair, "=")
		if pair != "" {
			out.Add(plain(name), plain(v))
		}
	}
	return out
}

// JSON returns the request in the form available to targets.
func (r *Request) JSON() jsonv.Value {
	header := map[string][]string{}
	for name, values := range r.Header {
		header[strings.ToLower(name)] = []string{strings.Join(values, ", ")}
	}
	out := jsonv.ObjectOf(
		"method", r.Method, "path", r.Path, "query", valuesJSON(r.Query), "headers", valuesJSON(header),
		"time", r.Time.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
	)
	if body := r.Parsed(); !body.IsAbsent() {
		out = out.With("body", body)
	}
	return out
}

// valuesJSON returns named texts as an object: a text, or a list of them where a
// name is repeated. The names are sorted.
func valuesJSON(values map[string][]string) jsonv.Value {
	out := jsonv.Object()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := jsonv.List(values[name], jsonv.String)
		if v.Len() == 1 {
			v = v.At(0)
		}
		out = out.With(name, v)
	}
	return out
}

// Response is the response of an upstream: a status, headers and a body, and their
// delivery.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Open   bool // the connection ended the received body, which may be truncated

	Delay    time.Duration // before the headers
	Chunks   [][]byte      // sent one by one in place of Body
	Interval time.Duration // between two chunks
	Ending   Ending
	Truncate int // with EndTruncated: number of bytes of the body that are sent
}

// Ending describes how a response ends.
type Ending uint8

// The endings.
const (
	EndNormal    Ending = iota
	EndDropped          // the connection is closed without a response
	EndReset            // the connection is reset without a response
	EndTruncated        // the connection is closed within the body
)

// Fallback responds to requests that no route matches; ok is false if it has no
// response.
type Fallback func(r *Request) (res *Response, ok bool)
