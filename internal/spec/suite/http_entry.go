package suite

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"mcptest/internal/base/source"
)

// httpEntry is one entry of `http`: a raw request to the address of a server.
type httpEntry struct {
	Pos          source.Pos
	boundaryKeys `yaml:",inline"`
	// The request. What is not written is not sent: no session, no MCP headers.
	Request httpRequest `yaml:"request" title:"A raw request" example:"{method: OPTIONS, headers: {Origin: \"https://evil.example\"}}"`
}

// httpRequest is `http[].request`.
type httpRequest struct {
	Pos source.Pos
	// The method: POST with a body, GET without when left out.
	Method string `yaml:"method" example:"DELETE"`
	// The path and query on the server's origin; those of its url when left out.
	Path string `yaml:"path" example:"/.well-known/oauth-protected-resource" schema:"pattern: '^/'"`
	// Headers on top of the server's headers and credentials; null removes one. Host may be set.
	Headers source.Map[change[Header]] `yaml:"headers" example:"{Authorization: null, Origin: \"https://evil.example\"}"`
	// A map or list is sent as JSON, text as it is, {base64} as bytes.
	Body *source.Node `yaml:"body"`
	// Follow redirects within the origin, at most 5.
	Follow bool `yaml:"follow" default:"false" example:"true"`
	// Of an event stream: the number of events to read, at most until the time limit.
	Events int `yaml:"events" default:"1" example:"2" range:"1-10000"`
}

// Request is the action of a test that sends a raw HTTP request.
type Request struct {
	Method  string
	Path    string // "" is that of the server
	Removed []string
	Body    []byte // nil: none
	JSON    bool   // the body was written as a map or list
	Follow  bool
	Events  int
}

// Name is the request.
func (a Request) Name() string { return strings.TrimSpace("HTTP " + a.Method + " " + a.Path) }

// Plan says that it is sent.
func (a Request) Plan() string { return "send " + a.Name() }

// Connects is false: no handshake is made.
func (Request) Connects() bool { return false }

// Refuses says why a program gets no HTTP request.
func (Request) Refuses(address bool) (why, hint string) {
	if !address {
		return "http: requires a server with url:", "how a program starts and ends is tested under start:"
	}
	return "", ""
}

func (e *httpEntry) common() Common {
	c := e.boundaryKeys.common()
	for _, h := range e.Request.Headers.Entries {
		if !h.Value.Removed {
			c.Headers.Entries = append(c.Headers.Entries, source.Entry[Header]{
				Key:   h.Key,
				Pos:   h.Pos,
				Value: h.Value.Value,
			})
		}
	}
	return c
}

func (e *httpEntry) action() Action {
	r := e.Request
	a := Request{Method: r.Method, Path: r.Path, Follow: r.Follow, Events: max(r.Events, 1)}
	for _, h := range r.Headers.Entries {
		if h.Value.Removed {
			a.Removed = append(a.Removed, h.Key)
		}
	}
	a.Body, a.JSON = readBody(r.Body)
	if a.Method == "" {
		a.Method = http.MethodGet
		if a.Body != nil {
			a.Method = http.MethodPost
		}
	}
	return a
}

// readBody returns the bytes of a body; nil if it is left out.
func readBody(n *source.Node) (data []byte, isJSON bool) {
	if n == nil || n.Kind == source.KindNull {
		return nil, false
	}
	if text, ok := n.AsText(); ok {
		return []byte(text), false
	}
	if b := n.Get("base64"); b != nil && len(n.Fields) == 1 {
		data, _ = base64.StdEncoding.DecodeString(b.Text) // checked by expectations
		return data, false
	}
	return n.JSON().Append(nil), true
}

// isPathOnOrigin reports whether the path of a request can be sent to the server; an empty one
// stands for the server's own.
func isPathOnOrigin(path string) bool {
	u, err := url.Parse(path)
	if err != nil || u.Host != "" || u.Scheme != "" {
		return false
	}
	return path == "" || strings.HasPrefix(u.Path, "/")
}

func (e *httpEntry) expectations(n *source.Node, path string, d *source.Decoder) *source.Node {
	r, path2 := n.Get("request"), path+".request"
	if !isPathOnOrigin(e.Request.Path) {
		d.Errorf(r.Get("path"), path2+".path", "%q is not a path on the server's origin", e.Request.Path).Hint = "write /path?query; another origin is another server"
	}
	if !IsHeaderName(e.Request.Method) && e.Request.Method != "" {
		d.Errorf(r.Get("method"), path2+".method", "%q is not an HTTP method", e.Request.Method)
	}
	for _, h := range e.Request.Headers.Entries {
		why := Unsent(h.Key, "", true)
		if h.Value.Removed && why != "" {
			d.ErrorAt(h.Pos, source.PathKey(path2+".headers", h.Key), why, "")
		}
	}
	if b := e.Request.Body; b != nil && b.Kind == source.KindMap && len(b.Fields) == 1 && b.Get("base64") != nil {
		if _, err := base64.StdEncoding.DecodeString(b.Get("base64").Text); err != nil {
			d.Errorf(b.Get("base64"), path2+".body.base64", "it is not base64")
		}
	}
	return e.boundaryKeys.expectations(n, path, d)
}
