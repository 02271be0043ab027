package live

import (
	"context"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Ask is a request of a server that a person answers.
type Ask struct {
	ID     int
	Server int
	Call   int // the call during which it came; 0: none
	At     time.Time
	Method string
	Params jsonv.Value
	reply  chan reply
}

type reply struct {
	result []byte
	err    *protocol.RPCError
}

// asks are the requests that wait for a person.
type asks struct {
	mu      sync.Mutex
	last    int
	waiting []*Ask
}

// askable reports whether a person can answer a method.
func askable(method string) bool {
	return method == "elicitation/create" || method == "sampling/createMessage" || method == "roots/list"
}

// wait shows a request and waits for its answer.
func (a *asks) wait(ctx context.Context, one *Ask, changed func()) ([]byte, *protocol.RPCError) {
	a.mu.Lock()
	a.last++
	one.ID, one.At, one.reply = a.last, time.Now(), make(chan reply, 1)
	a.waiting = append(a.waiting, one)
	a.mu.Unlock()
	changed()
	defer changed()
	select {
	case r := <-one.reply:
		return r.result, r.err
	case <-ctx.Done():
		a.take(one.ID)
		return nil, nil
	}
}

// take removes a request, and returns it; nil if it no longer waits.
func (a *asks) take(id int) *Ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, one := range a.waiting {
		if one.ID == id {
			a.waiting = append(a.waiting[:i:i], a.waiting[i+1:]...)
			return one
		}
	}
	return nil
}

// list returns the requests that wait, the oldest first.
func (a *asks) list() []Ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Ask
	for _, one := range a.waiting {
		out = append(out, *one)
	}
	return out
}

// of reports whether a request of a server waits.
func (a *asks) of(server int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.waiting {
		if one.Server == server {
			return true
		}
	}
	return false
}
