package mcpserver

import (
	"context"
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// listener is one open subscription.
type listener struct {
	id     []byte
	filter jsonv.Value
	out    responseWriter
	over   chan struct{} // closed when the client has disconnected
	gone   func() bool   // reports whether the client has canceled it

	mu sync.Mutex // held until the acknowledgement is sent, and while a change is sent
}

// listened maps notifications to their names in a subscription.
var listened = map[string]string{
	"notifications/tools/list_changed":     "toolsListChanged",
	"notifications/prompts/list_changed":   "promptsListChanged",
	"notifications/resources/list_changed": "resourcesListChanged",
}

// listenedOne maps notifications about one object to the list of a subscription that
// identifies such objects, and the member of their params that identifies it.
var listenedOne = map[string]struct{ list, member string }{
	"notifications/resources/updated": {"resourceSubscriptions", "uri"},
	"notifications/tasks":             {"taskIds", "taskId"},
}

func isListened(method string) bool {
	_, one := listenedOne[method]
	return one || listened[method] != ""
}

// subscribe starts a subscription: it receives all changes from now on. They wait for
// its acknowledgement, which listen sends.
func (s *stateless) subscribe(ctx context.Context, out responseWriter, req *Request) *listener {
	p, _ := jsonv.Parse(req.Params)
	l := &listener{
		id:     req.ID,
		filter: p.Lookup("notifications"),
		out:    out,
		over:   make(chan struct{}),
		gone:   func() bool { return ctx.Err() != nil },
	}
	l.mu.Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
	if s.gone {
		close(l.over)
	}
	return l
}

// listen serves a subscription until the client cancels it.
func (s *stateless) listen(ctx context.Context, l *listener) {
	ack := jsonv.ObjectOf("notifications", l.filter).Append(nil)
	_ = l.out.event(protocol.AppendNotification(nil, protocol.ListenAcknowledged, l.addTag(ack)))
	l.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-s.ctx.Done():
	case <-l.over:
	}
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
	l.out.end()
}

// addTag adds the subscription's id.
func (l *listener) addTag(params []byte) []byte {
	v, _ := jsonv.Parse(params) // absent if there are none
	id, _ := jsonv.Parse(l.id)
	return v.With("_meta", v.Lookup("_meta").With(protocol.MetaSubscription, id)).Append(nil)
}

// publish sends a change to its subscribers.
func (s *stateless) publish(method string, raw []byte) {
	s.mu.Lock()
	var to []*listener
	for l := range s.listeners {
		if !l.gone() && l.wants(method, raw) {
			to = append(to, l)
		}
	}
	s.mu.Unlock()
	for _, l := range to {
		l.mu.Lock()
		_ = l.out.event(protocol.AppendNotification(nil, method, l.addTag(protocol.MemberOf(raw, "params"))))
		l.mu.Unlock()
	}
}

func (l *listener) wants(method string, raw []byte) bool {
	if name := listened[method]; name != "" {
		return l.filter.Lookup(name).Bool()
	}
	one := listenedOne[method]
	name := protocol.TextOf(protocol.MemberOf(protocol.MemberOf(raw, "params"), one.member))
	return slices.Contains(l.filter.Lookup(one.list).Texts(), name)
}
