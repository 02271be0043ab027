package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// inbound is the state of reading: it is used under Session.mu.
type inbound struct {
	scan      *protocol.Scanner
	multiline multilineJSON
	long      *longMessage
	found     []protocol.Violation // of the frame that is being read
	last      []byte               // beginning of the last line
	first     time.Time            // when the first line came
	heard     time.Time            // when the latest line came
	stream    string               // Frame.Stream of the frame that is being read
	early     *time.Timer          // see orphan
	tokens    tokenSet
}

// lastKept is how much of the last line is kept for a cause of death.
const lastKept = 512

// OnFrame implements [wire.Receiver].
func (s *Session) OnFrame(f wire.Frame) (kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in.stream = f.Stream
	if s.in.first.IsZero() {
		s.in.first = f.At
	}
	s.in.heard = f.At
	c := protocol.Clean(f.Raw)
	if len(c.Raw) == 0 {
		if c.BOM || c.NUL {
			s.flagFraming(c, f)
			s.settle("", nil)
		}
		return false
	}
	s.in.last = append(s.in.last[:0], f.Raw[:min(lastKept, len(f.Raw))]...)
	if c.Raw[0] != '{' && c.Raw[0] != '[' && !s.in.multiline.active() {
		s.flagFraming(c, f)
		s.stray(c.Raw, f)
		s.settle("", nil)
		return false
	}
	if kept = len(c.Raw) >= wire.LargeFrame; !kept {
		c.Raw = bytes.Clone(c.Raw)
	}
	s.line(c, f)
	return kept
}

// line reads a line that may be a message or a piece of one. c.Raw is ours.
func (s *Session) line(c protocol.Cleaned, f wire.Frame) {
	p := &s.in.multiline
	if p.active() {
		switch {
		case s.selfContained(c.Raw):
			s.in.dropMultiline(s)
		case p.continues(c.Raw, s.lim.Message):
			if p.add(c.Raw, f.Offset, f.At) {
				s.multilineDone()
			}
			return
		default:
			s.in.dropMultiline(s)
			if c.Raw[0] != '{' && c.Raw[0] != '[' {
				s.flagFraming(c, f)
				s.stray(c.Raw, f)
				s.settle("", nil)
				return
			}
		}
	}
	s.flagFraming(c, f)
	if c.Raw[0] == '[' {
		s.batch(c.Raw, f)
		return
	}
	s.object(c.Raw, f)
}

// selfContained reports whether a line is a JSON-RPC message on its own.
func (s *Session) selfContained(raw []byte) bool {
	return raw[0] == '{' && s.in.scan.Scan(raw) == nil && s.in.scan.Has&(protocol.HasVersion|protocol.HasMethod|protocol.HasResult|protocol.HasError) != 0
}

// flagFraming notes what is wrong around a message.
func (s *Session) flagFraming(c protocol.Cleaned, f wire.Frame) {
	if c.BOM {
		s.flag(protocol.BOM, "a byte order mark before the message", f.Raw, f)
	}
	if c.NUL {
		s.flag(protocol.NULByte, "NUL bytes around the message", f.Raw, f)
	}
	if !c.UTF8 {
		at, bad := badUTF8(c.Raw)
		s.flag(protocol.InvalidUTF8, fmt.Sprintf("byte %d of the line is not UTF-8", at), bad, f)
	}
	if f.Unterminated {
		s.flag(protocol.PartialLine, "the output ended without a newline", f.Raw, f)
	}
}

// flag notes a violation of the frame that is being read; settle files it.
func (s *Session) flag(kind, msg string, excerpt []byte, f wire.Frame) {
	s.in.found = append(s.in.found, protocol.Violation{
		Kind: kind, Msg: msg, Excerpt: protocol.Excerpt(excerpt), Offset: f.Offset, At: f.At,
		Tolerated: s.tolerated(kind),
	})
}

func (s *Session) tolerated(kind string) bool { return s.o.Tolerate != nil && s.o.Tolerate(kind) }

// settle files the violations of a frame: with its call if that is in flight,
// else with the session.
func (s *Session) settle(id string, k *call) {
	for i := range s.in.found {
		s.in.found[i].ID = id
		if k != nil {
			k.x.violate(s.in.found[i])
		} else {
			s.log.add(s.in.found[i])
		}
		s.in.found[i] = protocol.Violation{}
	}
	s.in.found = s.in.found[:0]
}

// stray notes a line that is no JSON message.
func (s *Session) stray(raw []byte, f wire.Frame) {
	if f.Unterminated {
		return // said by flagFraming
	}
	what := "a line"
	if f.Whole {
		what = "a body"
	}
	msg := what + " that is not JSON"
	if !f.Whole && s.isStdio() {
		msg = "the server wrote a log line to stdout; stdout is reserved for JSON-RPC, write logs to stderr"
	}
	if jsonv.Valid(raw) == nil {
		msg = what + " that is " + protocol.KindOf(raw).WithArticle() + ", not a message"
	}
	s.flag(protocol.StrayOutput, msg, raw, f)
}

// object reads a line that begins like an object.
func (s *Session) object(raw []byte, f wire.Frame) {
	err := s.in.scan.Scan(raw)
	if err == nil {
		s.message(raw, f)
		return
	}
	if !f.Unterminated && !f.Whole && s.in.multiline.opens(raw) {
		s.in.multiline.add(raw, f.Offset, f.At)
		return
	}
	s.broken(raw, f, err)
}

// broken deals with a line that is not valid JSON. If it names a call in
// flight it is the only answer that call will get.
func (s *Session) broken(raw []byte, f wire.Frame, err error) {
	id, k := s.meant(raw, raw)
	what := "a line"
	if f.Whole {
		what = "a body"
		if own := s.calls.callOf(f.Stream); k == nil && own != nil {
			id, k = own.x.ID, own
		}
	}
	if !f.Unterminated {
		s.flag(protocol.BadJSON, what+" that is not valid JSON: "+protocol.SyntaxText(err), excerptAround(raw, err), f)
	}
	s.settle(id, k)
	if k != nil && !f.Unterminated {
		s.unusable(k, raw, f.At, protocol.BadJSON, "the answer is not valid JSON: "+protocol.SyntaxText(err))
	}
}

// unusable completes a call whose answer can't be used.
func (s *Session) unusable(k *call, raw []byte, at time.Time, kind, msg string) {
	k.x.Response = raw
	k.x.Cause = &wire.ProtocolError{Method: k.x.Method, Kind: kind, Msg: msg}
	s.calls.complete(k, at)
}

// meant finds the call in flight that a damaged answer names, by the members
// of head as far as they can be read, or by an id at the end of tail.
func (s *Session) meant(head, tail []byte) (string, *call) {
	_ = s.in.scan.Scan(head)
	e := s.in.scan.Envelope
	if e.Has&protocol.HasMethod != 0 {
		return "", nil
	}
	id := e.ID
	if e.Has&protocol.HasID == 0 {
		id = lastID(tail)
	}
	if n, ok := ownID(id); ok {
		if k := s.calls.find(n); k != nil {
			return k.x.ID, k
		}
	}
	return "", nil
}

func excerptAround(raw []byte, err error) []byte {
	var s *jsonv.SyntaxError
	if errors.As(err, &s) && s.Offset > 100 {
		return raw[min(s.Offset-100, len(raw)):]
	}
	return raw
}

func badUTF8(raw []byte) (int, []byte) {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i, raw[max(0, i-20):]
		}
		i += n
	}
	return 0, raw
}

// multilineDone reads a message that was spread over several lines.
func (s *Session) multilineDone() {
	p := s.in.multiline
	raw := protocol.TrimSpace(p.buf)
	f := wire.Frame{Dir: wire.FromServer, At: p.at, Raw: raw, Offset: p.offset, Stream: s.in.stream}
	s.in.multiline.reset()
	s.flag(protocol.PrettyJSON, fmt.Sprintf("one message written over %d lines", p.lines), raw, f)
	if raw[0] == '[' {
		s.batch(raw, f)
		return
	}
	if err := s.in.scan.Scan(raw); err != nil {
		s.broken(raw, f, err)
		return
	}
	s.message(raw, f)
}

// dropMultiline gives up on a message that was begun over several lines.
func (in *inbound) dropMultiline(s *Session) {
	if !in.multiline.active() {
		return
	}
	p := in.multiline
	in.multiline.reset()
	held := in.found
	in.found = nil
	s.flag(protocol.BadJSON, fmt.Sprintf("JSON that begins here and is not complete after %d lines", p.lines), protocol.TrimSpace(p.buf),
		wire.Frame{Offset: p.offset, At: p.at})
	s.settle("", nil)
	in.found = held
}

// OnDrained implements [wire.Receiver].
func (s *Session) OnDrained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.wake()
}

// InFlight implements [wire.Receiver].
func (s *Session) InFlight() (calls, answered int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls.inFlight(), len(s.calls.woken)
}

// OnHTTP implements [wire.Receiver].
func (s *Session) OnHTTP(id string, info *wire.HTTPInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.calls.callOf(id); k != nil {
		k.x.HTTP = info
	}
}

// OnFailure implements [wire.Receiver].
func (s *Session) OnFailure(id string, err error, info *wire.HTTPInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.calls.callOf(id); k != nil {
		k.x.HTTP = info
		k.x.Cause = err
		s.calls.complete(k, time.Now())
		s.calls.wake()
	}
}

// Pending implements [wire.Receiver].
func (s *Session) Pending(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls.callOf(id) != nil
}

// OnViolation implements [wire.Receiver].
func (s *Session) OnViolation(id string, v protocol.Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.At, v.Tolerated = time.Now(), s.tolerated(v.Kind)
	if k := s.calls.callOf(id); k != nil {
		v.ID = k.x.ID
		k.x.violate(v)
		return
	}
	s.log.add(v)
}

// OnEnd implements [wire.Receiver].
func (s *Session) OnEnd(why *wire.ClosedError) {
	if why.Exited { // what is being written fails now: then it is known what the server never read
		s.sending.Lock()
		defer s.sending.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		s.calls.wake()
		return
	}
	s.in.dropMultiline(s)
	if s.in.early != nil {
		s.in.early.Stop()
	}
	why.LastLine = s.lastOdd()
	if s.agreed().Known() {
		s.calls.leftUnread(why)
	}
	why.InFlight = s.calls.requestsInFlight()
	if s.closing {
		why.Ours, why.Reason = true, "the session was closed"
	} else if why.Exited && why.Exit.Failed() && s.agreed().Known() && !s.calls.awaited() {
		s.crashed(why.Error(), why.Stderr)
	}
	s.closed = why
	s.calls.finishAll(why)
	s.calls.wake()
	close(s.ended)
	s.stop()
}
