package mcp

import (
	"fmt"

	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// longMessage is an over-long message that is being skipped.
type longMessage struct {
	foreign bool // a notification or request: no call waits for it
	settled bool
}

// OnOversize implements [wire.Receiver].
func (s *Session) OnOversize(l wire.OversizeMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := wire.Frame{Dir: wire.FromServer, At: l.At, Offset: l.Offset}
	if !l.Done {
		s.in.dropMultiline(s)
		s.in.last = append(s.in.last[:0], l.Head[:min(lastKept, len(l.Head))]...)
		m := &longMessage{}
		s.in.long = m
		id, k := s.meant(l.Head, nil)
		m.foreign = s.in.scan.Has&protocol.HasMethod != 0
		if k == nil && !m.foreign && s.in.scan.Has&protocol.HasID == 0 && protocol.TrimSpace(l.Head)[0] == '{' {
			if k = s.calls.only(); k != nil {
				id = k.x.ID
			}
		}
		m.settled = k != nil || m.foreign
		if m.settled {
			s.tooLong(l, f, l.Head, id, k)
		}
		return
	}
	m := s.in.long
	s.in.long = nil
	if m == nil || m.settled {
		return
	}
	id, k := s.meant(nil, l.Tail)
	s.tooLong(l, f, l.Tail[max(0, len(l.Tail)-150):], id, k)
}

func (s *Session) tooLong(l wire.OversizeMessage, f wire.Frame, excerpt []byte, id string, k *call) {
	msg := fmt.Sprintf("a message over the limit of %s", wire.ByteSize(int64(l.Limit)))
	if l.Done {
		msg = fmt.Sprintf("a message of %s, over the limit of %s", wire.ByteSize(l.Size), wire.ByteSize(int64(l.Limit)))
	}
	s.flag(protocol.Oversize, msg, excerpt[:min(len(excerpt), protocol.MaxExcerpt+1)], f)
	s.settle(id, k)
	if k != nil {
		s.unusable(k, nil, f.At, protocol.Oversize, "the answer is "+msg)
	}
}
