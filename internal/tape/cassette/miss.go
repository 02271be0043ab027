package cassette

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Miss is a request that has no recording.
type Miss struct {
	File    string
	Request string // method and parameters, shortened
	Nearest *Call  // nil if no call has this method
	Line    int    // of the nearest
	Differs string // how the request differs from the nearest; "": it was used before
	Refused *Call  // the same request, which the recorded server refused; see [Player.OmitRefusals]
}

// Error describes the nearest recording and the difference.
func (m *Miss) Error() string {
	text := m.File + " has no recording of " + m.Request
	switch {
	case m.Refused != nil && m.Refused.Response == nil:
		return fmt.Sprintf("%s:%d: the recorded server refused %s with HTTP %d and no response, which is not served",
			m.File, m.Refused.Request.Line, m.Request, m.Refused.Head.Status)
	case m.Nearest == nil:
		return text + ", and none of its method"
	case m.Differs == "":
		return fmt.Sprintf("%s that is not used yet; the last one is in line %d", text, m.Line)
	}
	return fmt.Sprintf("%s; the nearest is in line %d: %s", text, m.Line, m.Differs)
}

// explainMiss describes a request that has no recording.
func (p *Player) explainMiss(method string, data []byte) *Miss {
	live := p.reduceParams(data)
	name := protocol.NameOf(method, protocol.MemberOf(data, "params"))
	m := &Miss{File: p.c.File, Request: ShowRequest(method, live)}
	least := 0
	for _, call := range p.calls {
		if call.Method != method || call.Request == nil || call.Verb != "" {
			continue
		}
		changes := jsonv.Diff(p.recordedParams(call), live)
		distance := 2*len(changes) + 1
		if call.Name != name {
			distance += 1000
		}
		if call.used {
			distance--
		}
		if m.Nearest == nil || distance < least || distance == least && len(changes) == 0 { // the last one of identical ones
			m.Nearest, m.Line, m.Differs, least = call, call.Request.Line, DescribeChanges(changes), distance
		}
	}
	return m
}

// Unanswered returns an error if nothing that ended a request is recorded: a response,
// its cancellation or the end of its connection.
func (p *Player) Unanswered(call *Call) error {
	if call.Response != nil || call.ID == "" || call.cancelled || call.Method == protocol.MethodListen {
		return nil
	}
	ended := func(f *Frame) bool {
		return f.End != nil && f.Session == call.Session && f.Stream == call.Stream && (!f.End.Client || f.Stream > 0)
	}
	handshake := call.Method == "initialize" // without a response, nothing of its session follows in a replay
	for _, f := range call.Frames {          // a client may accept a response without an id
		data, err := p.c.Read(f)
		isAnswer := f.Dir == FromServer && len(data) > 0 && (data[0] == '{' || !handshake) && protocol.MemberOf(data, "method") == nil
		if err != nil || isAnswer || ended(f) {
			return nil
		}
	}
	for i := range p.c.Frames {
		if ended(&p.c.Frames[i]) && (!handshake || call.Stream > 0) {
			return nil
		}
	}
	return p.c.ExplainNoResponse(call)
}

// ExplainNoResponse returns the error for a request whose response is not recorded.
func (c *Cassette) ExplainNoResponse(call *Call) error {
	return fmt.Errorf("%s has no response to the request in line %d", c.File, call.Request.Line)
}

// CheckAnswer compares the live client's answer to a request of the server with the
// recorded one, which is a frame of the call.
func (p *Player) CheckAnswer(call *Call, recorded *Frame, live []byte) error {
	data, err := p.c.Read(recorded)
	if err != nil || protocol.MemberOf(data, "method") != nil { // a cancellation
		return err
	}
	want, got := p.answer(data), p.answer(p.redact.Bytes(live))
	if isMaskedEqual(want, got) {
		return nil
	}
	changes := slices.DeleteFunc(jsonv.Diff(want, got), func(ch jsonv.Change) bool {
		return ch.Kind == jsonv.Changed && isMaskedEqual(ch.Want, ch.Got)
	})
	return fmt.Errorf("the client responded to %s differently from the recording in %s:%d: %s",
		p.findAskedMethod(call, protocol.MemberOf(data, "id")), p.c.File, recorded.Line, DescribeChanges(changes))
}

// answer returns the part of an answer that is compared.
func (p *Player) answer(data []byte) jsonv.Value {
	v, err := jsonv.Parse(data)
	if err != nil {
		return jsonv.String(string(data))
	}
	if e := v.Lookup("error"); !e.IsAbsent() {
		return jsonv.ObjectOf("error", e)
	}
	return jsonv.ObjectOf("result", p.c.Stable(v.Lookup("result")))
}

// findAskedMethod returns the method of the server's request with an id.
func (p *Player) findAskedMethod(call *Call, id []byte) string {
	for _, f := range call.Frames {
		data := p.c.Data(f)
		if f.Dir == FromServer && bytes.Equal(protocol.MemberOf(data, "id"), id) {
			if method := protocol.TextOf(protocol.MemberOf(data, "method")); method != "" {
				return method
			}
		}
	}
	return "a request of the server"
}

// ShowRequest formats a request for people.
func ShowRequest(method string, params jsonv.Value) string {
	if method == "" {
		return "a message that is not a request: " + params.Short(200)
	}
	if params.IsAbsent() {
		return method
	}
	return method + " " + params.Short(200)
}

// DescribeChanges formats the first changes for people.
func DescribeChanges(changes []jsonv.Change) string {
	var parts []string
	for i, ch := range changes {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d more", len(changes)-i))
			break
		}
		path := cmp.Or(ch.Path, "params")
		switch ch.Kind {
		case jsonv.Added:
			parts = append(parts, fmt.Sprintf("%s is not recorded (it is %s)", path, ch.Got.Short(80)))
		case jsonv.Removed:
			parts = append(parts, fmt.Sprintf("%s is missing (recorded: %s)", path, ch.Want.Short(80)))
		default:
			parts = append(parts, fmt.Sprintf("%s is %s (recorded: %s)", path, ch.Got.Short(80), ch.Want.Short(80)))
		}
	}
	return strings.Join(parts, ", ")
}
