package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/compat"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/inspect"
)

// Confirmation is what a person must confirm before a tool is called that does not declare
// to be read-only. Token is good for this one call.
type Confirmation struct {
	Token string
	Why   string
}

// Calls returns the calls, the oldest first.
func (h *Hub) Calls() []Call {
	h.mu.Lock()
	list := append([]*Call(nil), h.calls...)
	h.mu.Unlock()
	out := make([]Call, 0, len(list))
	for _, c := range list {
		out = append(out, c.snapshot())
	}
	return out
}

// Call returns a call by its number.
func (h *Hub) Call(id int) (Call, error) {
	h.mu.Lock()
	var found *Call
	for _, c := range h.calls {
		if c.ID == id {
			found = c
		}
	}
	h.mu.Unlock()
	if found == nil {
		return Call{}, refuse("there is no call with this number")
	}
	return found.snapshot(), nil
}

// Send makes a call. A tool that does not declare readOnlyHint: true is not called without
// the confirmation of this call: then Send returns what is to be confirmed, and no call.
func (h *Hub) Send(w Wanted) (id int, confirm *Confirmation, err error) {
	s, err := h.Server(w.Server)
	if err != nil {
		return 0, nil, err
	}
	now := s.View()
	if now.Status != Connected {
		return 0, nil, refuse("the server is not connected")
	}
	tool := jsonv.Value{}
	if w.Kind == CallTool {
		tool = now.Offer.tool(w.Name)
		if !allow.ReadOnly(tool) && !h.useConfirmation(w) {
			return 0, h.toConfirm(w, tool), nil
		}
	}
	c, ctx, err := s.take(h.ctx)
	if err != nil {
		return 0, nil, err
	}
	limited, cancel := context.WithCancelCause(ctx)
	call := &Call{
		mu: &s.mu, Def: c.Server(), Chosen: now.Version, Wanted: w, Tool: tool, Start: time.Now(), cancel: cancel,
	}
	h.mu.Lock()
	h.lastCall++
	call.ID = h.lastCall
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	s.mu.Lock()
	s.running = call
	s.mu.Unlock()
	h.touch()
	h.wg.Go(func() {
		release := s.releaseOnce()
		defer release()
		defer cancel(nil)
		h.make(limited, s, c, call, release)
		h.touch()
	})
	return call.ID, nil, nil
}

// toConfirm remembers a call that a person is asked about.
func (h *Hub) toConfirm(w Wanted, tool jsonv.Value) *Confirmation {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pending) > 100 {
		clear(h.pending)
	}
	token := rand.Text()
	h.pending[token] = fmt.Sprint(w.Server) + w.key()
	why := "tool " + w.Name + " is not in the list of the server"
	switch {
	case w.Beside != nil && (tool.IsAbsent() || allow.ReadOnly(tool)):
		why = "what tool " + w.Name + " declares there is not known"
	case !tool.IsAbsent():
		why = "tool " + w.Name + " " + allow.FindObjection(tool)
	}
	return &Confirmation{Token: token, Why: why}
}

// useConfirmation reports whether a call was confirmed, and uses the confirmation up.
func (h *Hub) useConfirmation(w Wanted) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	key, ok := h.pending[w.Confirm]
	delete(h.pending, w.Confirm)
	return ok && key == fmt.Sprint(w.Server)+w.key()
}

// make makes a call and completes its record. With it the connection is given back.
func (h *Hub) make(ctx context.Context, s *Server, c *inspect.Conn, call *Call, release func()) {
	method, params := call.Wanted.request()
	stop := h.limit(s, call, c.Server().Timeout)
	x := c.DoFor(ctx, method, params)
	stop()
	var warnings []string
	if method == "tools/call" && x.Response != nil {
		warnings = c.CheckCallOf(h.ctx, call.Wanted.Name, call.Tool, call.Wanted.Args, x)
	}
	result, _ := jsonv.Parse(x.Result) // absent if there is none
	var findings []compat.Finding
	if len(x.Result) < examinedResult {
		findings = ofResult(h.ctx, call.Tool, result)
	}
	s.mu.Lock()
	call.Exchange, call.Warnings, call.Result, call.Findings, call.Done = x, warnings, result, findings, true
	if err := inspect.ExchangeError(x); x.Cause != nil {
		call.Cause, call.Detail = err.Error(), inspect.Detail(err)
	}
	s.running = nil
	release()
	s.mu.Unlock()
	h.mu.Lock()
	h.calls = forget(h.calls)
	h.mu.Unlock()
}

// limit ends a call after the time limit of its server. Time in which a request of the
// server waits for a person does not count.
func (h *Hub) limit(s *Server, call *Call, most time.Duration) (stop func()) {
	const step = 100 * time.Millisecond
	tick, done := time.NewTicker(step), make(chan struct{})
	h.wg.Go(func() {
		defer tick.Stop()
		for left := most; most > 0 && left > 0; {
			select {
			case <-tick.C:
				if !h.asks.of(s.ID) {
					left -= step
				}
			case <-done:
				return
			}
		}
		if most > 0 {
			call.cancel(&mcp.Limit{Name: "timeout", For: most})
		}
	})
	return func() { close(done) }
}

// errCancelled is why a call ended that a person canceled.
var errCancelled = errors.New("canceled in the page")

// Cancel cancels a call that is running.
func (h *Hub) Cancel(id int) error {
	c, err := h.Call(id)
	if err != nil {
		return err
	}
	if c.Done {
		return refuse("the call has ended")
	}
	c.cancel(errCancelled)
	return nil
}
