package live

import (
	"context"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// SendBeside makes a call again, on another server or with another protocol version, in a
// session of its own. It asks like [Hub.Send]: what is known of the tool is what the other
// server or the first call says.
func (h *Hub) SendBeside(w Wanted) (id int, confirm *Confirmation, err error) {
	first, err := h.Call(w.Beside.Call)
	if err != nil {
		return 0, nil, err
	}
	if v := w.Beside.Version; v != "" && !protocol.VersionOf(v).Known() {
		return 0, nil, refuse("unknown protocol version")
	}
	s, err := h.Server(w.Server)
	if err != nil {
		return 0, nil, err
	}
	now := s.View()
	tool := now.Tool(w.Name)
	if tool.IsAbsent() && first.Wanted.Server == w.Server {
		tool = first.Tool
	}
	if w.Kind == CallTool && !h.isKnown(now, w, tool) && !h.useConfirmation(w) {
		return 0, h.toConfirm(w, tool), nil
	}
	def := *now.Def
	if w.Beside.Version != "" {
		def.Protocol = w.Beside.Version
	}
	// The session is not that of the page: a server of its own holds it.
	own := &Server{ID: s.ID, def: &def, status: Connecting, use: make(chan struct{}, 1)}
	return h.beside(own, &def, w, tool), nil, nil
}

// isKnown reports whether a tool is known to be read-only in the session that would be opened.
// A server may list other tools with another protocol version.
func (h *Hub) isKnown(now View, w Wanted, tool jsonv.Value) bool {
	other := w.Beside.Version != "" && w.Beside.Version != now.Version
	return allow.ReadOnly(tool) && now.Status == Connected && !other
}

// beside opens a session and makes a call in it.
func (h *Hub) beside(own *Server, def *plan.Server, w Wanted, tool jsonv.Value) (id int) {
	limited, cancel := context.WithCancelCause(h.ctx)
	call := &Call{
		mu: &own.mu, Def: def, Chosen: w.Beside.Version, Wanted: w, Tool: tool, Start: time.Now(), cancel: cancel,
	}
	own.running = call
	h.mu.Lock()
	h.lastCall++
	call.ID = h.lastCall
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	h.touch()
	h.wg.Go(func() {
		defer cancel(nil)
		c := h.dial(own, def)
		defer c.Close()
		if err := c.Open(limited); err != nil {
			own.fail(call, err)
		} else {
			h.make(limited, own, c, call, func() {})
		}
		h.touch()
	})
	return call.ID
}

// fail ends a call for which no session could be opened.
func (s *Server) fail(call *Call, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call.Exchange = &mcp.Exchange{Cause: err}
	call.Cause, call.Detail, call.Done = "there is no session: "+err.Error(), inspect.Detail(err), true
	s.running = nil
}
