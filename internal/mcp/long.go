package mcp

import "fmt"

// longMessage is an over-long message that is being skipped.
type longMessage struct {
	foreign bool // a notification or request: no call waits for it
	settled bool
}

// Long implements [Sink].
func (s *Session) Long(l Long) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := Frame{Dir: FromServer, At: l.At, Offset: l.Offset}
	if !l.Done {
		s.in.flushPretty(s)
		s.in.last = append(s.in.last[:0], l.Head[:min(lastKept, len(l.Head))]...)
		m := &longMessage{}
		s.in.long = m
		id, k := s.meant(l.Head, nil)
		m.foreign = s.in.scan.Has&HasMethod != 0
		if k == nil && !m.foreign && s.in.scan.Has&HasID == 0 && len(s.pending) == 1 && trimSpace(l.Head)[0] == '{' {
			for _, k = range s.pending {
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

func (s *Session) tooLong(l Long, f Frame, excerpt []byte, id string, k *call) {
	msg := fmt.Sprintf("a message over the limit of %s", ByteSize(int64(l.Limit)))
	if l.Done {
		msg = fmt.Sprintf("a message of %s, over the limit of %s", ByteSize(l.Size), ByteSize(int64(l.Limit)))
	}
	s.flag(Oversize, msg, excerpt[:min(len(excerpt), maxExcerpt+1)], f)
	s.settle(id, k)
	if k != nil {
		s.unusable(k, nil, f.At, Oversize, "the answer is "+msg)
	}
}

// ByteSize writes a size for people.
func ByteSize(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
