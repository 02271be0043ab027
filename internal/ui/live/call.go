package live

import (
	"context"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/compat"
	"mcptest/internal/spec/plan"
)

// What a call requests.
const (
	CallTool     = "tool"
	ReadResource = "resource"
	GetPrompt    = "prompt"
)

// Wanted is a call as a person wants it.
type Wanted struct {
	Server  int
	Kind    string
	Name    string // of the tool or prompt; the URI of a resource
	Args    jsonv.Value
	Meta    jsonv.Value // absent: none
	Confirm string      // the confirmation of exactly this call; see Confirmation
	Beside  *Beside     // nil: in the session that is open
}

// Beside says where a call is made again, in a session of its own that ends with it.
type Beside struct {
	Call    int    // that is made again
	Version string // of the protocol; "": that of the server
}

// request returns the method and the parameters of a call.
func (w Wanted) request() (method string, params jsonv.Value) {
	switch w.Kind {
	case ReadResource:
		method, params = "resources/read", jsonv.ObjectOf("uri", w.Name)
	case GetPrompt:
		method, params = "prompts/get", jsonv.ObjectOf("name", w.Name, "arguments", w.Args)
	default:
		method, params = "tools/call", jsonv.ObjectOf("name", w.Name, "arguments", w.Args)
	}
	if !w.Meta.IsAbsent() {
		params = params.With("_meta", w.Meta)
	}
	return method, params
}

// key is equal for equal calls.
func (w Wanted) key() string {
	_, params := w.request()
	key := w.Kind + "\x00" + string(params.Append(nil))
	if w.Beside != nil {
		key += "\x00" + w.Beside.Version
	}
	return key
}

// Call is a call that was made.
type Call struct {
	ID     int
	Wanted Wanted
	Def    *plan.Server // the server as it was
	Chosen string       // the protocol version that the person chose; "": that of Def
	Tool   jsonv.Value  // its definition; absent if it is not listed
	Start  time.Time
	// Done is set at the end; what follows is then complete.
	Done     bool
	Exchange *mcp.Exchange
	Warnings []string
	Result   jsonv.Value // absent: there is none
	Findings []compat.Finding
	Cause    string   // why there is no response
	Detail   []string // further lines of the cause
	Gone     bool     // the result is no longer kept

	mu       *sync.Mutex // of its server; guards the rest
	progress []byte      // params of the latest progress notification
	cancel   context.CancelCauseFunc
}

// Progress returns the latest progress that the server reported; absent if there is none.
func (c Call) Progress() jsonv.Value {
	v, err := jsonv.Parse(c.progress)
	if err != nil {
		return jsonv.Value{}
	}
	return v
}

// Limits of the calls that are kept.
const (
	maxCalls       = 100
	maxResultBytes = 64 << 20
)

// forget returns calls without the oldest ones, and without results over the limit.
func forget(calls []*Call) []*Call {
	if n := len(calls) - maxCalls; n > 0 && calls[0].hasEnded() {
		calls = calls[n:]
	}
	sum := 0
	for i := len(calls) - 1; i >= 0; i-- {
		if sum += calls[i].countKept(); sum > maxResultBytes && i < len(calls)-1 {
			calls[i].drop()
		}
	}
	return calls
}

// countKept returns how many bytes the result of a call takes.
func (c *Call) countKept() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Exchange == nil {
		return 0
	}
	return len(c.Exchange.Response)
}

// drop forgets the result of a call that has ended.
func (c *Call) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Done {
		c.Exchange, c.Result, c.Gone = nil, jsonv.Value{}, true
	}
}

// hasEnded reports whether a call is complete.
func (c *Call) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Done
}

// snapshot copies a call.
func (c *Call) snapshot() Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c
}
