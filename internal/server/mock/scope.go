package mock

import (
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// scope holds the values that placeholders of one request may refer to.
type scope struct {
	req    *mcpserver.Request
	sess   *Session
	params jsonv.Value
	args   jsonv.Value
	vars   jsonv.Value
	uri    jsonv.Value
	asks   jsonv.Value
	calls  int
	token  jsonv.Value // of progress; absent when the client requested none

	held *jsonv.Value // the state while a set step holds it
	task *task        // that the call has become, or nil
}

func (s *scope) root(name string) jsonv.Value {
	switch name {
	case "args":
		return s.args
	case "state":
		if s.held != nil {
			return *s.held
		}
		return s.sess.server.world.state()
	case "ask":
		return s.asks
	case "vars":
		return s.vars
	case "uri":
		return s.uri
	case "calls":
		return jsonv.Int(int64(s.calls))
	case "client":
		return s.client()
	case "params":
		return s.params
	case "id":
		return parseKnown(s.req.ID)
	case "request":
		return parseKnown(s.req.Raw)
	}
	return jsonv.Value{}
}

// parseKnown returns the value of a part of a frame that is known to be valid JSON.
func parseKnown(raw []byte) jsonv.Value {
	v, err := jsonv.Parse(raw)
	if err != nil {
		return jsonv.Value{}
	}
	return v
}

// client returns the value of ${client}.
func (s *scope) client() jsonv.Value {
	info, capabilities, protocol := s.clientInfo()
	return jsonv.ObjectOf("name", info.Lookup("name"), "version", info.Lookup("version"), "protocol", protocol, "capabilities", capabilities)
}

// clientInfo returns the client's description of itself: from the request, or from
// the start of the session.
func (s *scope) clientInfo() (info, capabilities jsonv.Value, protocol string) {
	if c := s.req.Caller; c != nil {
		return c.Client, c.Capabilities, c.Version
	}
	s.sess.mu.Lock()
	defer s.sess.mu.Unlock()
	return s.sess.client.Lookup("clientInfo"), s.sess.client.Lookup("capabilities"), s.sess.protocol
}

// isDeclared reports whether the client declared a capability.
func (s *scope) isDeclared(capability string) bool {
	_, capabilities, _ := s.clientInfo()
	_, ok := capabilities.Get(capability)
	return ok
}

// level returns the index of the least severe log message that the client requested;
// without a request, an index above all messages.
func (s *scope) level() int {
	if c := s.req.Caller; c != nil {
		at := slices.Index(manifest.LogLevels, c.LogLevel)
		if at < 0 {
			at = len(manifest.LogLevels)
		}
		return at
	}
	s.sess.mu.Lock()
	defer s.sess.mu.Unlock()
	return s.sess.level
}

// world is the state that changes while a server runs and that all its sessions
// share.
type world struct {
	mu     sync.Mutex
	vars   jsonv.Value // the state, an object
	calls  map[any]int // by tool, resource, template or prompt
	turns  map[*manifest.Response]int
	failed int             // calls refused by recover-after
	used   map[string]bool // tools that have returned
}

func newWorld(state jsonv.Value) *world {
	if state.IsAbsent() {
		state = jsonv.Object()
	}
	return &world{
		vars:  state,
		calls: map[any]int{},
		turns: map[*manifest.Response]int{},
		used:  map[string]bool{},
	}
}

func (w *world) state() jsonv.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.vars
}

// countUse counts a use and returns its number, from 1.
func (w *world) countUse(what any) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[what]++
	return w.calls[what]
}

// firstReturn records that a tool has returned and reports whether it is the first time.
func (w *world) firstReturn(tool string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.used[tool]
	w.used[tool] = true
	return first
}

// hasCalled reports whether a tool has returned.
func (w *world) hasCalled(tool string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used[tool]
}

// turn returns the index of the next element of a sequence, from 0.
func (w *world) turn(r *manifest.Response) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.turns[r]
	w.turns[r]++
	return n
}

// failing counts the first n calls and reports whether this is one of them.
func (w *world) failing(n int) (nth int, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed >= n {
		return 0, false
	}
	w.failed++
	return w.failed, true
}

// change atomically replaces the state with the result of fn, so that simultaneous
// requests do not lose each other's changes. fn must not read the state from the
// world.
func (w *world) change(fn func(jsonv.Value) jsonv.Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.vars = fn(w.vars)
}

// put sets the member at keys, creating objects as needed. An absent value removes
// the member.
func put(v jsonv.Value, keys []string, to jsonv.Value) jsonv.Value {
	if len(keys) == 0 {
		return to
	}
	if v.Kind() != jsonv.KindObject {
		v = jsonv.Object()
	}
	return v.With(keys[0], put(v.Lookup(keys[0]), keys[1:], to))
}

// tasksExtension is the name of tasks in stateless revisions.
const tasksExtension = "io.modelcontextprotocol/tasks"

// knowsTasks reports whether the client supports tasks as responses: in a session its
// revision decides, otherwise its declared extensions.
func (s *scope) knowsTasks() bool {
	if c := s.req.Caller; c != nil {
		return !c.Capabilities.Lookup("extensions", tasksExtension).IsAbsent()
	}
	_, _, version := s.clientInfo()
	return protocol.VersionOf(version).Tasks
}
