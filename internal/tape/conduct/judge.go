package conduct

import (
	"bytes"
	"net/http"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// Breach is a clause that a recorded client broke.
type Breach struct {
	Session  int
	Line     int // of the cassette
	Message  string
	Sentence string // of the specification
}

// The sentences of the specification: basic, lifecycle and transports of 2025-06-18, which
// 2025-11-25 repeats; a header is judged only if the agreed revision has it.
const (
	sentenceID       = "Requests MUST include a string or integer ID."
	sentenceNull     = "Unlike base JSON-RPC, the ID MUST NOT be null."
	sentenceReuse    = "The request ID MUST NOT have been previously used by the requestor within the same session."
	sentenceReady    = "After successful initialization, the client MUST send an initialized notification to indicate it is ready to begin normal operations."
	sentenceMessage  = "The client MUST NOT write anything to the server's stdin that is not a valid MCP message."
	sentenceSingle   = "The body of the POST request MUST be a single JSON-RPC request, notification, or response."
	sentenceAccept   = "The client MUST include an Accept header, listing both application/json and text/event-stream as supported content types."
	sentenceRevision = "If using HTTP, the client MUST include the MCP-Protocol-Version: <protocol-version> HTTP header on all subsequent requests to the MCP server."
)

// visit is what was seen of one session.
type visit struct {
	ids      map[string]string // methods of requests
	opening  string            // id of initialize
	revision string            // that was agreed
	ready    bool
	working  *cassette.Frame // first request after the handshake
}

// Judge returns what the clients of a cassette did against the specification, in the order
// of the frames; of each clause and session the first.
func Judge(c *cassette.Cassette) ([]Breach, error) {
	visits := map[int]*visit{}
	var order []int
	var out []Breach
	for i := range c.Frames {
		f := &c.Frames[i]
		v := visits[f.Session]
		if v == nil {
			v = &visit{ids: map[string]string{}}
			visits[f.Session] = v
			order = append(order, f.Session)
		}
		switch f.Dir {
		case cassette.FromServer:
			v.learn(c, f)
		case cassette.ToServer:
			out = append(out, v.judge(c, f)...)
		}
	}
	for _, n := range order {
		v := visits[n]
		if v.working != nil && !v.ready {
			out = append(out, newBreach(v.working, "no notifications/initialized after the handshake", sentenceReady))
		}
	}
	return keepFirst(out), c.Err()
}

func newBreach(f *cassette.Frame, message, sentence string) Breach {
	return Breach{Session: f.Session, Line: f.Line, Message: message, Sentence: sentence}
}

func keepFirst(all []Breach) (out []Breach) {
	type key struct {
		session  int
		sentence string
	}
	seen := map[key]bool{}
	for _, b := range all {
		k := key{b.Session, b.Sentence}
		if !seen[k] {
			out = append(out, b)
		}
		seen[k] = true
	}
	return out
}

// learn notes the revision that the server agreed to.
func (v *visit) learn(c *cassette.Cassette, f *cassette.Frame) {
	if v.opening == "" || v.revision != "" || !f.Has() || f.Omitted > 0 {
		return
	}
	m := c.Value(f)
	if m.Lookup("id").String() == v.opening {
		v.revision = m.Lookup("result", "protocolVersion").Text()
	}
}

// judge returns what is wrong with a frame of the client.
func (v *visit) judge(c *cassette.Cassette, f *cassette.Frame) (out []Breach) {
	if c.Transport == cassette.StreamableHTTP { // HTTP+SSE has no such headers
		out = v.judgeHeader(f)
	}
	if !f.Has() || f.Omitted > 0 || f.Unterminated {
		return out
	}
	data := c.Data(f)
	if len(bytes.TrimSpace(data)) == 0 { // a blank line, which servers skip
		return out
	}
	m, err := jsonv.Parse(data)
	switch {
	case err != nil && f.HTTP == nil && c.Transport == cassette.Stdio:
		return append(out, newBreach(f, "a line that is not JSON", sentenceMessage))
	case err != nil:
		return out
	case m.Kind() == jsonv.KindArray:
		if protocol.VersionOf(v.revision).VersionHeader && c.Transport == cassette.StreamableHTTP {
			out = append(out, newBreach(f, "several messages in one request", sentenceSingle))
		}
		return out
	case m.Kind() != jsonv.KindObject:
		return append(out, newBreach(f, "a message that is not an object", sentenceMessage))
	}
	return append(out, v.judgeMessage(f, m)...)
}

// judgeHeader judges the headers of an HTTP request.
func (v *visit) judgeHeader(f *cassette.Frame) (out []Breach) {
	if f.HTTP == nil || len(f.HTTP.Header) == 0 {
		return nil
	}
	header := http.Header(f.HTTP.Header)
	accept := strings.ToLower(strings.Join(header.Values("Accept"), ","))
	both := strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
	if f.HTTP.Method == http.MethodPost && !both && !strings.Contains(accept, "*/*") {
		out = append(out, newBreach(f, "Accept: "+accept, sentenceAccept))
	}
	if protocol.VersionOf(v.revision).VersionHeader && header.Get("MCP-Protocol-Version") == "" {
		out = append(out, newBreach(f, "a request without MCP-Protocol-Version", sentenceRevision))
	}
	return out
}

// judgeMessage judges one message.
func (v *visit) judgeMessage(f *cassette.Frame, m jsonv.Value) (out []Breach) {
	method := m.Lookup("method").Text()
	id, hasID := m.Get("id")
	switch {
	case method == "notifications/initialized":
		v.ready = true
		return nil
	case method == "" || !hasID:
		return nil
	case id.Kind() == jsonv.KindNull:
		return []Breach{newBreach(f, method+" with the id null", sentenceNull)}
	case id.Kind() != jsonv.KindString && !id.IsInteger():
		return []Breach{newBreach(f, method+" with the id "+id.Short(40), sentenceID)}
	}
	key := id.String()
	isModern := !m.Lookup("params", "_meta", protocol.MetaVersion).IsAbsent()
	// Over HTTP a request is repeated as it is after a sign-in or a broken connection.
	earlier, used := v.ids[key]
	isRepeated := f.HTTP != nil && earlier == method
	if used && !isModern && !isRepeated && method != "initialize" {
		what := method + " with the id " + id.Short(40) + ", which an earlier request had"
		out = append(out, newBreach(f, what, sentenceReuse))
	}
	if !isModern {
		v.ids[key] = method
	}
	switch {
	case method == "initialize": // again, after a session that was lost: ids begin again
		v.opening, v.ids = key, map[string]string{key: method}
	case v.revision != "" && method != "ping" && v.working == nil && !isModern:
		v.working = f
	}
	return out
}
