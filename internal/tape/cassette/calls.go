package cassette

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/protocol"
)

// Call is one message of a client with everything that belongs to it: the response,
// notifications and requests of the server, and the client's answers to those.
type Call struct {
	Session int
	Stream  int    // the HTTP exchange that it began; 0 on stdio
	Verb    string // of an HTTP request without a message: GET or DELETE
	Method  string // "" for a batch and for data that is not a message
	Name    string // of a tool, prompt or resource
	ID      string // JSON text; "" for a notification
	Token   string // its progress token as JSON text
	Request *Frame
	// Response is the frame that answers it; nil if none does.
	Response *Frame
	// Head is the status and header of its HTTP response.
	Head *HTTP
	// Frames followed, in order. A frame to the server is a point that the client
	// must reach before the next ones are sent: its answer to a request of the
	// server, or its cancellation.
	Frames []*Frame

	open      bool
	cancelled bool
	prev      *Call // in its session
	used      bool
	key       uint64
}

// session collects the calls of one session.
type session struct {
	calls   []*Call
	open    []*Call // without a response yet, oldest first
	last    *Call
	streams map[int]*Call
	asked   map[string]*Call // by the id of the server's request
	texts   []*Frame         // since the last message: data that is not a message
	texted  *Call            // which these were filed with
	scan    *protocol.Scanner
}

// Calls files every frame with the message of the client that it follows from.
// A response belongs to the request with its id, progress to the request with
// its token, a frame on the response stream of a request to that request, and
// anything else to the latest request without a response, or else to the
// latest message. Requests for lists count only if no other request is open,
// because the time at which a client sends them varies. What a server sends
// before the first message is a call without a request.
func (c *Cassette) Calls() ([]*Call, error) {
	sessions := map[int]*session{}
	var out []*Call
	for i := range c.Frames {
		f := &c.Frames[i]
		if f.Note != nil && f.Dir == "" && f.End == nil && f.Stderr == "" {
			continue
		}
		s := sessions[f.Session]
		if s == nil {
			s = &session{streams: map[int]*Call{}, asked: map[string]*Call{}, scan: protocol.NewScanner()}
			sessions[f.Session] = s
		}
		data := c.Data(f)
		before := len(s.calls)
		if f.Dir == ToServer {
			s.takeFromClient(f, data)
		} else {
			s.takeFromServer(f, data)
		}
		out = append(out, s.calls[before:]...)
	}
	return out, c.Err()
}

// Refused reports whether a server refused a request because of its transport: its
// headers, its address, its session, or the server's load.
func (c *Cassette) Refused(call *Call) bool {
	switch {
	case call.Head == nil || call.Head.Status < 300:
		return false
	case call.Response == nil:
		return true
	}
	return protocol.ParseRPCError(protocol.MemberOf(c.Data(call.Response), "error")).Code == protocol.CodeHeaderMismatch
}

// IsMessage reports whether a frame of the call is a message of the server. An event of
// another type is not, nor the body of an HTTP response that only accepts a message.
func (call *Call) IsMessage(f *Frame) bool {
	isOtherEvent := f.Event != nil && f.Event.Type != "" && f.Event.Type != "message"
	switch {
	case f.Dir != FromServer || !f.Has() || isOtherEvent:
		return false
	case f.HTTP == nil:
		return true
	}
	return f.HTTP.Status != http.StatusAccepted && (call.ID != "" || call.Method == "")
}

// Exchange returns the request and the response of a call. The response is
// absent if none is recorded, and both are for what a server sent before the first request.
func (c *Cassette) Exchange(call *Call) (request, response jsonv.Value) {
	if call.Request != nil {
		request = c.Value(call.Request)
	}
	if call.Response != nil {
		response = c.Value(call.Response)
	}
	return request, response
}

// Canceled reports whether the recorded client canceled the call.
func (call *Call) Canceled() bool { return call.cancelled }

// FindCrash reports whether the server broke off instead of responding: its process
// ended by itself, with the returned status, or its connection did.
func (call *Call) FindCrash() (exit *Exit, broken bool) {
	if call.Response != nil || call.ID == "" {
		return nil, false
	}
	for _, f := range call.Frames {
		e := f.End
		switch {
		case e == nil || e.Client:
		case e.Exit != nil && e.Exit.isAbnormal():
			return e.Exit, true
		case e.Exit == nil && f.Stream > 0 && e.Reason != "":
			return nil, true
		}
	}
	return nil, false
}

func (s *session) begin(call *Call) {
	call.prev = s.last
	s.calls, s.last = append(s.calls, call), call
	if call.Stream > 0 {
		s.streams[call.Stream] = call
	}
}

func (s *session) takeFromClient(f *Frame, data []byte) {
	call := &Call{Session: f.Session, Stream: f.Stream, Request: f}
	if f.HTTP != nil && !f.Has() {
		call.Verb = f.HTTP.Method
	}
	e := &protocol.Envelope{}
	if len(data) > 0 && data[0] == '{' && s.scan.Scan(data) == nil {
		e = &s.scan.Envelope
	}
	switch {
	case e.Has&protocol.HasMethod != 0:
		call.Method, call.ID = protocol.TextOf(e.Method), string(e.ID)
		call.Name = protocol.NameOf(call.Method, e.Params)
		call.Token = string(protocol.MemberOf(protocol.MemberOf(e.Params, "_meta"), "progressToken"))
		call.open = call.ID != ""
		if call.Method == "notifications/cancelled" {
			id := string(protocol.MemberOf(e.Params, "requestId"))
			for _, open := range s.open {
				if open.ID == id {
					open.Frames, open.cancelled = append(open.Frames, f), true
				}
			}
		}
	case e.IsResponse():
		if asker := s.asked[string(e.ID)]; asker != nil {
			delete(s.asked, string(e.ID))
			asker.Frames = append(asker.Frames, f)
			if f.Stream > 0 {
				s.streams[f.Stream] = &Call{Request: f} // its HTTP response is not used otherwise
			}
			return
		}
	}
	if call.open {
		s.open = append(s.open, call)
	}
	s.begin(call)
}

func (s *session) takeFromServer(f *Frame, data []byte) {
	e := &protocol.Envelope{}
	if len(data) > 0 && data[0] == '{' && s.scan.Scan(data) == nil {
		e = &s.scan.Envelope
	}
	call := s.findOwner(f, e)
	if call == nil {
		call = &Call{Session: f.Session}
		s.begin(call)
	}
	if f.HTTP == nil {
		call = s.takeText(f, e, data, call)
	}
	if f.HTTP != nil || e.Has > 0 || len(data) == 0 {
		s.texts, s.texted = nil, nil
	}
	if f.HTTP != nil {
		if on := s.streams[f.Stream]; on != nil && on.Head == nil {
			on.Head = f.HTTP
			if f.HTTP.Status >= 300 && on.open && !f.Has() {
				s.close(on)
			}
		}
		if !f.Has() {
			return
		}
	}
	if e.Has&protocol.HasMethod != 0 && e.Has&protocol.HasID != 0 {
		s.asked[string(e.ID)] = call
	}
	call.Frames = append(call.Frames, f)
	switch {
	case call.open && (e.IsResponse() && call.hasID(e) || answersID(data, call.ID)),
		call.open && f.Omitted > 0 && !f.Unterminated && call.isNamedIn(f, data):
		call.Response = f
		s.close(call)
	case call.open && f.HTTP != nil && f.HTTP.Status >= 300:
		s.close(call) // refused: no response follows
	}
}

// close marks a call as having no outstanding response.
func (s *session) close(call *Call) {
	call.open = false
	s.open = slices.DeleteFunc(s.open, func(open *Call) bool { return open == call })
}

// takeText assigns lines that are not messages, such as those of a message on several
// lines: together, and to the call whose id they contain.
func (s *session) takeText(f *Frame, e *protocol.Envelope, data []byte, other *Call) *Call {
	if e.Has > 0 || len(data) == 0 {
		return other
	}
	call := s.texted
	for _, open := range slices.Backward(s.open) {
		if open.isNamedIn(f, data) {
			call = open
			break
		}
	}
	call = cmp.Or(call, other)
	if s.texted != nil && s.texted != call {
		s.texted.Frames = slices.DeleteFunc(s.texted.Frames, func(f *Frame) bool { return slices.Contains(s.texts, f) })
		call.Frames = append(call.Frames, s.texts...)
	}
	s.texted = call
	if len(s.texts) < maxTexts {
		s.texts = append(s.texts, f)
	}
	return call
}

// maxTexts bounds the lines that are filed with the id that follows them.
const maxTexts = 100

// hasID reports whether a message answers a call, or is the same request sent back.
// Incorrect servers write the id in another form.
func (call *Call) hasID(e *protocol.Envelope) bool {
	switch {
	case call.ID == "" || len(e.ID) == 0:
		return false
	case e.Has&protocol.HasMethod != 0 && protocol.TextOf(e.Method) != call.Method:
		return false
	}
	return string(e.ID) == call.ID || strings.TrimSuffix(strings.Trim(string(e.ID), `"[] `), ".0") == call.ID
}

// isNamedIn reports whether a message that is not JSON, or incomplete, contains the id
// of a call.
func (call *Call) isNamedIn(f *Frame, data []byte) bool {
	return findID(data, call.ID) != nil || findID([]byte(f.Tail), call.ID) != nil
}

// answersID reports whether a batch contains the response with an id.
func answersID(data []byte, id string) bool {
	if len(data) == 0 || data[0] != '[' || id == "" {
		return false
	}
	elems, _ := jsonv.Elements(data)
	return slices.ContainsFunc(elems, func(e []byte) bool {
		return string(protocol.MemberOf(e, "id")) == id && protocol.MemberOf(e, "method") == nil
	})
}

// callNamed returns the call that a frame names by an id or a token; nil if it names none.
func (s *session) callNamed(e *protocol.Envelope) *Call {
	if e.Has&protocol.HasID != 0 {
		// A request may be sent again with its id, or answered twice.
		for _, calls := range [][]*Call{s.open, s.calls} {
			for _, call := range slices.Backward(calls) {
				if call.hasID(e) {
					return call
				}
			}
		}
		return nil
	}
	if protocol.TextOf(e.Method) != "notifications/progress" {
		return nil
	}
	token := string(protocol.MemberOf(e.Params, "progressToken"))
	return lists.First(s.open, func(call *Call) bool { return call.Token != "" && token == call.Token })
}

// findOwner returns the call that a frame of the server belongs to, or nil if the client
// has sent nothing yet.
func (s *session) findOwner(f *Frame, e *protocol.Envelope) *Call {
	on := s.streams[f.Stream]
	if call := s.callNamed(e); call != nil {
		return call
	}
	// A frame on the stream of a request belongs to that request, unless the stream
	// is shared by all.
	if on != nil {
		ownVerb := on.Verb == "" && on.Method != protocol.MethodListen
		ownEvent := f.Event != nil && f.Event.Type != "" && f.Event.Type != "message"
		ownEnd := f.End != nil && on.Head == nil
		if ownVerb || f.HTTP != nil || ownEvent || ownEnd {
			return on
		}
	}
	var latest *Call
	for _, open := range slices.Backward(s.open) {
		switch {
		case open.Method == protocol.MethodListen:
		case !IsOverhead(open.Method):
			return open
		case latest == nil:
			latest = open
		}
	}
	return cmp.Or(latest, s.last, on)
}
