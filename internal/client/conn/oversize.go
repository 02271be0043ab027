package conn

import (
	"bytes"
	"fmt"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// longMessage is a message over the size limit that is being skipped.
type longMessage struct {
	foreign bool // a notification or request, which no call waits for
	settled bool
}

// OnOversize implements [wire.Receiver].
func (r *receiver) OnOversize(l wire.OversizeMessage) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	f := wire.Frame{Dir: wire.FromServer, At: l.At, Offset: l.Offset}
	if !l.Done {
		r.dropMultiline()
		r.last = append(r.last[:0], l.Head[:min(lastKept, len(l.Head))]...)
		m := &longMessage{}
		r.long = m
		id, k := r.guessCall(l.Head, nil)
		m.foreign = r.scan.Has&protocol.HasMethod != 0
		if k == nil && !m.foreign && r.scan.Has&protocol.HasID == 0 && bytes.HasPrefix(protocol.TrimSpace(l.Head), []byte("{")) {
			if k = r.calls.onlyCall(); k != nil {
				id = k.x.ID
			}
		}
		m.settled = k != nil || m.foreign
		if m.settled {
			r.tooLong(l, f, l.Head, id, k)
		}
		return
	}
	m := r.long
	r.long = nil
	if m == nil || m.settled {
		return
	}
	id, k := r.guessCall(nil, l.Tail)
	r.tooLong(l, f, l.Tail[max(0, len(l.Tail)-150):], id, k)
}

func (r *receiver) tooLong(l wire.OversizeMessage, f wire.Frame, excerpt []byte, id string, k *call) {
	msg := fmt.Sprintf("a message over the limit of %s", wire.ByteSize(int64(l.Limit)))
	if l.Done {
		msg = fmt.Sprintf("a message of %s, over the limit of %s", wire.ByteSize(l.Size), wire.ByteSize(int64(l.Limit)))
	}
	r.notes.flag(protocol.Oversize, msg, excerpt[:min(len(excerpt), protocol.MaxExcerpt+1)], f)
	r.notes.assign(id, k)
	if k != nil {
		r.failCall(k, nil, f.At, "the response is "+msg)
	}
}
