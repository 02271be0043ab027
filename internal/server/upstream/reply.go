package upstream

import (
	"net/http"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// reply is one compiled response.
type reply struct {
	status   int
	headers  []header
	kind     string // content type, unless the headers have one
	body     []byte // of a response without values of the request
	text     template
	json     *source.Node // with values of the request
	chunks   []template
	delay    time.Duration
	interval time.Duration
	ending   Ending
	truncate int
}

// size returns the length of the body, unless it depends on the request.
func (r *reply) size() (n int, known bool) {
	n = len(r.body)
	for _, c := range r.chunks {
		if !c.isFixed() {
			return 0, false
		}
		n += len(c[0])
	}
	return n, r.text == nil && r.json == nil
}

type header struct {
	name  string
	value template
}

// template is a text with values of the request: texts and placeholders in turn,
// beginning with a text.
type template []string

// parseTemplate splits a text at its {{…}}; bad is one that is not a value of a
// request.
func parseTemplate(text string) (t template, bad string) {
	for {
		before, rest, found := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return append(t, text), bad
		}
		name = strings.TrimSpace(name)
		switch root, _, dotted := strings.Cut(name, "."); root {
		case "path", "query", "header", "body":
			if !dotted && root != "body" {
				bad = name
			}
		case "method":
		default:
			bad = name
		}
		t, text = append(t, before, name), after
	}
}

// isFixed reports whether the text has no values of the request.
func (t template) isFixed() bool { return len(t) <= 1 }

// values are the values that a response may use from its request.
type values struct {
	request *Request
	vars    map[string]string
	missing string // one that the request does not have
}

// of returns a value of the request.
func (v *values) of(name string) jsonv.Value {
	value := v.find(name)
	if value.IsAbsent() {
		v.missing = name
	}
	return value
}

func (v *values) find(name string) jsonv.Value {
	switch root, rest, _ := strings.Cut(name, "."); root {
	case "method":
		return jsonv.String(v.request.Method)
	case "path":
		if text, ok := v.vars[rest]; ok {
			return jsonv.String(text)
		}
	case "query":
		if v.request.Query.Has(rest) {
			return jsonv.String(v.request.Query.Get(rest))
		}
	case "header":
		if len(v.request.Header.Values(rest)) > 0 {
			return jsonv.String(v.request.Header.Get(rest))
		}
	case "body":
		return member(v.request.Parsed(), rest)
	}
	return jsonv.Value{}
}

// member returns a.b of a body, or all of it if the path is empty.
func member(body jsonv.Value, path string) jsonv.Value {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		body = body.Lookup(key)
	}
	return body
}

func (t template) fill(v *values) string {
	var b strings.Builder
	for i, part := range t {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		value := v.of(part)
		switch {
		case value.Kind() == jsonv.KindString:
			b.WriteString(value.Text())
		case !value.IsAbsent():
			b.WriteString(value.String())
		}
	}
	return b.String()
}

// fillJSON replaces the values of the request in the texts of a JSON value. A text
// that consists of a single value keeps its type.
func fillJSON(n *source.Node, v *values) jsonv.Value {
	return n.MapScalars(func(sc *source.Node) *source.Node {
		if sc.Kind != source.KindString || !strings.Contains(sc.Text, "{{") {
			return sc
		}
		t, _ := parseTemplate(sc.Text)
		if len(t) == 3 && t[0] == "" && t[2] == "" {
			if value := v.of(t[1]); !value.IsAbsent() {
				return source.FromJSON(value, sc.Pos)
			}
			return sc
		}
		out := sc.WithText(t.fill(v))
		out.Quoted = true
		return out
	}).JSON()
}

// response returns the response to one request.
func (r *reply) response(v *values) *Response {
	out := &Response{
		Status: r.status, Header: http.Header{}, Body: r.body,
		Delay: r.delay, Interval: r.interval, Ending: r.ending, Truncate: r.truncate,
	}
	switch {
	case r.json != nil:
		out.Body = fillJSON(r.json, v).Append(nil)
	case r.text != nil:
		out.Body = []byte(r.text.fill(v))
	}
	for _, c := range r.chunks {
		out.Chunks = append(out.Chunks, []byte(c.fill(v)))
	}
	if r.kind != "" {
		out.Header.Set("Content-Type", r.kind)
	}
	set := map[string]bool{}
	for _, h := range r.headers {
		if name := http.CanonicalHeaderKey(h.name); !set[name] {
			set[name] = true
			out.Header.Del(name)
		}
		out.Header.Add(h.name, oneLine(h.value.fill(v)))
	}
	return out
}

// oneLine removes line breaks, which would end a header.
func oneLine(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }

// text returns the event in its wire format.
func (e *EventDecl) text() string {
	var b strings.Builder
	field := func(name, value string) {
		for _, line := range strings.Split(strings.TrimSuffix(value, "\n"), "\n") {
			b.WriteString(name + ": " + line + "\n")
		}
	}
	if e.Event != "" {
		field("event", e.Event)
	}
	if e.ID != "" {
		field("id", string(e.ID))
	}
	if e.Data != nil {
		data, ok := e.Data.AsText()
		if !ok || !e.Data.IsScalar() {
			data = e.Data.JSON().String()
		}
		field("data", data)
	}
	return b.String() + "\n"
}
