package cassette

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
)

// Player finds the recorded call for each message of a client. It is safe for
// concurrent use.
type Player struct {
	c      *Cassette
	calls  []*Call
	redact *secret.Redactor
	Damage bool // change the values of responses

	mu      sync.Mutex
	hash    *jsonv.Hasher
	byKey   map[uint64][]*Call
	refused []*Call // by the recorded server; see OmitRefusals
	streams []*Call // that begin with GET, until TakeEarly
}

// NewPlayer indexes a cassette. Requests are masked with redact before they are compared.
func NewPlayer(c *Cassette, redact *secret.Redactor) (*Player, error) {
	p := &Player{c: c, redact: redact, hash: jsonv.NewHasher(), byKey: map[uint64][]*Call{}}
	var err error
	if p.calls, err = c.Calls(); err != nil {
		return nil, err
	}
	for _, call := range p.calls {
		if call.Request != nil && call.Verb == "GET" && len(call.Frames) > 0 {
			p.streams = append(p.streams, call)
		}
		if call.Request == nil || call.Verb != "" {
			continue
		}
		call.key = p.computeKey(call.Method, c.Data(call.Request))
		p.byKey[call.key] = append(p.byKey[call.key], call)
	}
	return p, c.Err()
}

// OmitRefusals removes the requests of [Cassette.Refused]: the server of the
// recording decides on these itself.
func (p *Player) OmitRefusals() {
	p.calls = slices.DeleteFunc(p.calls, func(call *Call) bool {
		refused := p.c.Refused(call)
		if refused && call.ID != "" {
			p.refused = append(p.refused, call)
		}
		return refused
	})
	for key, list := range p.byKey {
		p.byKey[key] = slices.DeleteFunc(list, p.c.Refused)
	}
	p.streams = slices.DeleteFunc(p.streams, p.c.Refused)
}

// HasMore reports whether there is an unused recording of a message.
func (c *Client) HasMore(raw []byte) bool {
	p := c.p
	data := p.redact.Bytes(raw)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := p.computeKey(protocol.TextOf(protocol.MemberOf(data, "method")), data)
	return slices.ContainsFunc(p.byKey[key], func(call *Call) bool { return !call.used })
}

// Cassette returns the recording.
func (p *Player) Cassette() *Cassette { return p.c }

// Calls returns the recorded calls, in order.
func (p *Player) Calls() []*Call { return p.calls }

// Client is one live connection to a [Player].
type Client struct {
	p       *Player
	n       int
	history []uint64 // keys of its latest requests
	last    *Call
}

// Client starts a connection. n is its number, from 1.
func (p *Player) Client(n int) *Client { return &Client{p: p, n: n} }

// Limits of the comparison of recordings of the same request: the number of the
// client's latest requests, of recordings, and of recorded messages before each.
const (
	maxHistory    = 32
	maxCandidates = 64
	maxSteps      = 256
)

// IsOverhead reports whether clients make a request for the session, not for its result.
// Its recording may be used any number of times: how often a client requests the lists
// of a server depends on timing.
func IsOverhead(method string) bool {
	return method == "initialize" || method == protocol.MethodDiscover || method == "ping" || strings.HasSuffix(method, "/list")
}

// Take returns the recorded call for a message of the client and marks it as used.
// Identical messages get their recordings in order; one before which another request
// was sent is left for later if a following one fits better. A nil call means that a notification
// is not recorded, or that [MakeDefault] answers; the miss describes a request that is
// not recorded.
func (c *Client) Take(raw []byte) (*Call, *Miss) {
	p := c.p
	data := p.redact.Bytes(raw)
	p.mu.Lock()
	defer p.mu.Unlock()
	var method, id string
	if len(data) > 0 && data[0] == '{' {
		method, id = protocol.TextOf(protocol.MemberOf(data, "method")), string(protocol.MemberOf(data, "id"))
	}
	key := p.computeKey(method, data)
	call := c.choose(p.byKey[key], method)
	if call == nil && (id != "" || method == "") {
		call = c.findLenient(method, data)
	}
	switch {
	case call == nil && (id == "" && method != "" || MakeDefault(raw) != nil):
		return nil, nil
	case call == nil:
		m := p.explainMiss(method, data)
		if at := slices.IndexFunc(p.refused, func(call *Call) bool { return call.key == key }); at >= 0 {
			m.Refused = p.refused[at]
		}
		return nil, m
	}
	call.used = true
	c.last = call
	if id != "" && !IsOverhead(method) {
		c.history = append(c.history, key)
		if len(c.history) > maxHistory {
			c.history = c.history[1:]
		}
	}
	return call, nil
}

// MakeDefault returns the response to a request that needs no recording, because it only
// checks whether the server is available and which era it supports; nil for any other
// message.
func MakeDefault(raw []byte) []byte {
	id := protocol.MemberOf(raw, "id")
	if id == nil {
		return nil
	}
	var out []byte
	switch protocol.TextOf(protocol.MemberOf(raw, "method")) {
	case "ping":
		out, _ = protocol.AppendResponse(nil, id, []byte("{}"), nil)
	case protocol.MethodDiscover:
		out, _ = protocol.AppendResponse(nil, id, nil, &protocol.RPCError{Code: -32601, Message: "server/discover is not recorded"})
	}
	return out
}

// choose returns the best of the recordings of one request. A list request that the
// recorded client canceled ends only when the live client cancels it as well, which
// depends on timing: it is used only if there is no other.
func (c *Client) choose(list []*Call, method string) *Call {
	if IsOverhead(method) {
		complete := slices.DeleteFunc(slices.Clone(list), func(call *Call) bool { return call.cancelled })
		if len(complete) > 0 {
			list = complete
		}
	}
	var best *Call
	var most context
	seen := 0
	for _, call := range list {
		if call.used {
			continue
		}
		is := c.measureContext(call)
		if best == nil || is.isBetter(most) {
			best, most = call, is
		}
		seen++
		if seen == maxCandidates || most.here && !most.differs {
			break
		}
	}
	if best == nil && len(list) > 0 && IsOverhead(method) {
		for _, call := range list { // of the same session, if there is one
			if best == nil || c.last != nil && call.Session == c.last.Session {
				best = call
			}
		}
	}
	return best
}

// context compares what precedes a recorded call with what a client has sent.
type context struct {
	same    int  // latest requests that are equal
	differs bool // the one before these differs
	here    bool // the call is of the session that answered last
}

// isBetter reports whether a recording is used before an earlier one of the same
// request, which is the case only if the earlier one does not fit.
func (x context) isBetter(earlier context) bool {
	return earlier.differs && x.same > earlier.same || x.here && !earlier.here && x.same >= earlier.same
}

// measureContext compares the requests before a recorded call. Requests identical to the call
// do not count: how many of them precede it says only how far the client is.
func (c *Client) measureContext(call *Call) context {
	x := context{here: c.last != nil && c.last.Session == call.Session || c.last == nil && call.Session == c.n}
	before, steps := call.prev, 0
	for _, key := range slices.Backward(c.history) {
		if key == call.key {
			continue
		}
		for before != nil && (before.ID == "" || IsOverhead(before.Method) || before.key == call.key) {
			before, steps = before.prev, steps+1
			if steps > maxSteps {
				return x
			}
		}
		if x.differs = before != nil && before.key != key; x.differs || before == nil {
			return x
		}
		before, x.same = before.prev, x.same+1
	}
	return x
}

// findLenient compares more slowly: a mask in a recording matches any text, and the
// handshake of another client matches that of the recorded one.
func (c *Client) findLenient(method string, data []byte) *Call {
	live := c.p.reduceParams(data)
	var same *Call
	for _, call := range c.p.calls {
		if call.Method != method || call.Request == nil || call.Verb != "" {
			continue
		}
		if method == "initialize" || method == protocol.MethodDiscover {
			agrees := jsonv.Equal(c.p.recordedParams(call).Lookup("protocolVersion"), live.Lookup("protocolVersion"))
			if same == nil || agrees && !call.used && same.used {
				same = call
			}
			continue
		}
		if call.used {
			continue
		}
		if method != "" && isMaskedEqual(c.p.recordedParams(call), live) {
			return call
		}
	}
	return same
}

// ListUnused returns the recorded requests that no client has sent, except those made
// outside of tests, such as for lists.
func (p *Player) ListUnused() []*Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.calls), func(call *Call) bool {
		return call.used || call.ID == "" || IsOverhead(call.Method)
	})
}

// Shown returns the method and parameters of a recorded request for people.
func (p *Player) Shown(call *Call) string { return ShowRequest(call.Method, p.recordedParams(call)) }

// CountRecorded returns the number of the recorded session that answered last or, before
// the first answer, that of the connection.
func (c *Client) CountRecorded() int {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.last == nil {
		return c.n
	}
	return c.last.Session
}

// TakeEarly returns the recorded streams of sessions (GET) that were opened before a call
// in its session, and marks them as used: a server without such streams sends their
// messages with the call.
func (c *Client) TakeEarly(before *Call) (out []*Call) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams = slices.DeleteFunc(p.streams, func(call *Call) bool {
		early := call.Session == before.Session && call.Request.Line < before.Request.Line
		if early {
			out = append(out, call)
		}
		return early
	})
	return out
}

// TakeStream returns the recorded GET of an event stream and marks it as used. A
// stream is resumed after the event with an id; "" starts a new one.
func (c *Client) TakeStream(lastEventID string) *Call {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *Call
	for _, call := range p.calls {
		if call.Verb != "GET" || call.used || call.Resumes() != lastEventID {
			continue
		}
		if best == nil || c.last != nil && call.Session == c.last.Session && best.Session != call.Session {
			best = call
		}
	}
	if best != nil {
		best.used = true
	}
	return best
}

// Resumes returns the id of the event after which a recorded GET resumed a stream; ""
// if it began a new one.
func (call *Call) Resumes() string {
	return http.Header(call.Request.HTTP.Header).Get("Last-Event-Id")
}
