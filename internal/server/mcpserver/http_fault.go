package mcpserver

import "net/http"

// HTTPFault is an answer of HTTP in place of the response to a request. If the event
// stream of the request has begun, it ends without a response.
type HTTPFault struct {
	Status int
	Header http.Header
	Body   []byte
	Drop   bool // the connection is reset; nothing else is used
	Expire bool // the session of the request ends
}

// fault sends a fault.
func (o *eventOut) fault(f *HTTPFault) {
	if f.Drop {
		o.reset()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun {
		h := o.w.Header()
		if len(f.Body) > 0 {
			h.Set("Content-Type", "application/json")
		}
		for name, values := range f.Header {
			h[name] = values
		}
		o.w.WriteHeader(f.Status)
		_, _ = o.w.Write(f.Body)
	}
	o.done, o.over = true, true
}

// expire ends a session: later requests get the status 404.
func (s *HTTPServer) expire(id string) {
	s.mu.Lock()
	sess := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if sess != nil {
		sess.stop()
		sess.asks.hangUp()
	}
}
