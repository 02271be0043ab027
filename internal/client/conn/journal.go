package conn

import (
	"slices"

	"mcptest/internal/client/protocol"
)

// Bounds of a journal.
const (
	journalCount   = 1024
	journalBytes   = 1 << 20
	journalMethods = 64
	journalLatest  = 64 << 10 // bytes of one message kept for its method
)

// journal keeps the latest messages of a session, and the callers that wait for one.
type journal struct {
	next    Mark
	ring    []entry // oldest first
	bytes   int
	latest  map[string]entry // last notification of each method, which may be missing in ring
	waiters []*waiter
}

type entry struct {
	at  Mark
	msg Message
}

type waiter struct {
	method string
	got    chan Message
}

func (j *journal) add(m Message) {
	e := entry{j.next, m}
	j.next++
	j.ring = append(j.ring, e)
	j.bytes += len(m.Raw)
	drop := 0
	for (len(j.ring)-drop > journalCount || j.bytes > journalBytes) && drop < len(j.ring)-1 {
		j.bytes -= len(j.ring[drop].msg.Raw)
		j.ring[drop] = entry{}
		drop++
	}
	j.ring = j.ring[drop:]
	if m.Kind != KindNotification {
		return
	}
	if j.latest == nil {
		j.latest = map[string]entry{}
	}
	_, known := j.latest[m.Method]
	if len(m.Raw) <= journalLatest && (known || len(j.latest) < journalMethods) {
		j.latest[m.Method] = e
	}
	j.waiters = slices.DeleteFunc(j.waiters, func(w *waiter) bool {
		if w.method != m.Method {
			return false
		}
		w.got <- m
		return true
	})
}

// find returns the first notification of a method after a mark.
func (j *journal) find(method string, since Mark) (Message, bool) {
	for _, e := range j.ring {
		if e.at >= since && e.msg.Kind == KindNotification && e.msg.Method == method {
			return e.msg, true
		}
	}
	if e, ok := j.latest[method]; ok && e.at >= since {
		return e.msg, true
	}
	return Message{}, false
}

// violationLog keeps the violations that belong to no call in flight.
type violationLog struct {
	limit    int
	tolerate func(kind string) bool // may be nil
	kept     []protocol.Violation
	dropped  map[string]int
}

func (l *violationLog) isTolerated(kind string) bool { return l.tolerate != nil && l.tolerate(kind) }

func (l *violationLog) add(v protocol.Violation) {
	if len(l.kept) < l.limit {
		l.kept = append(l.kept, v)
		return
	}
	if l.dropped == nil {
		l.dropped = map[string]int{}
	}
	l.dropped[v.Kind]++
}
