package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"mcptest/internal/jsonv"
)

// inbound is the state of reading: it is used under Session.mu.
type inbound struct {
	scan   *Scanner
	pretty pretty
	long   *longMessage
	found  []Violation // of the frame that is being read
	last   []byte      // beginning of the last line
	first  time.Time   // when the first line came
	stream string      // Frame.Stream of the frame that is being read
	early  *time.Timer // see orphan
	tokens tokenSet
}

// lastKept is how much of the last line is kept for a cause of death.
const lastKept = 512

// Frame implements [Sink].
func (s *Session) Frame(f Frame) (kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in.stream = f.Stream
	if s.in.first.IsZero() {
		s.in.first = f.At
	}
	c := clean(f.Raw)
	if len(c.raw) == 0 {
		if c.bom || c.nul {
			s.flagFraming(c, f)
			s.settle("", nil)
		}
		return false
	}
	s.in.last = append(s.in.last[:0], f.Raw[:min(lastKept, len(f.Raw))]...)
	if c.raw[0] != '{' && c.raw[0] != '[' && !s.in.pretty.active() {
		s.flagFraming(c, f)
		s.stray(c.raw, f)
		s.settle("", nil)
		return false
	}
	if kept = len(c.raw) >= giveAway; !kept {
		c.raw = bytes.Clone(c.raw)
	}
	s.line(c, f)
	return kept
}

// line reads a line that may be a message or a piece of one. c.raw is ours.
func (s *Session) line(c cleaned, f Frame) {
	p := &s.in.pretty
	if p.active() {
		switch {
		case s.selfContained(c.raw):
			s.in.flushPretty(s)
		case p.continues(c.raw, s.lim.Message):
			if p.add(c.raw, f.Offset, f.At) {
				s.prettyDone()
			}
			return
		default:
			s.in.flushPretty(s)
			if c.raw[0] != '{' && c.raw[0] != '[' {
				s.flagFraming(c, f)
				s.stray(c.raw, f)
				s.settle("", nil)
				return
			}
		}
	}
	s.flagFraming(c, f)
	if c.raw[0] == '[' {
		s.batch(c.raw, f)
		return
	}
	s.object(c.raw, f)
}

// selfContained reports whether a line is a JSON-RPC message on its own.
func (s *Session) selfContained(raw []byte) bool {
	return raw[0] == '{' && s.in.scan.Scan(raw) == nil && s.in.scan.Has&(HasVersion|HasMethod|HasResult|HasError) != 0
}

// flagFraming notes what is wrong around a message.
func (s *Session) flagFraming(c cleaned, f Frame) {
	if c.bom {
		s.flag(BOM, "a byte order mark before the message", f.Raw, f)
	}
	if c.nul {
		s.flag(NULByte, "NUL bytes around the message", f.Raw, f)
	}
	if !c.utf8 {
		at, bad := badUTF8(c.raw)
		s.flag(InvalidUTF8, fmt.Sprintf("byte %d of the line is not UTF-8", at), bad, f)
	}
	if f.Unterminated {
		s.flag(PartialLine, "the output ended without a newline", f.Raw, f)
	}
}

// flag notes a violation of the frame that is being read; settle files it.
func (s *Session) flag(kind, msg string, excerpt []byte, f Frame) {
	s.in.found = append(s.in.found, Violation{
		Kind: kind, Msg: msg, Excerpt: Excerpt(excerpt), Offset: f.Offset, At: f.At,
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
		s.in.found[i] = Violation{}
	}
	s.in.found = s.in.found[:0]
}

// stray notes a line that is no JSON message.
func (s *Session) stray(raw []byte, f Frame) {
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
		msg = what + " that is " + KindOf(raw).WithArticle() + ", not a message"
	}
	s.flag(StrayOutput, msg, raw, f)
}

// object reads a line that begins like an object.
func (s *Session) object(raw []byte, f Frame) {
	err := s.in.scan.Scan(raw)
	if err == nil {
		s.message(raw, f)
		return
	}
	if !f.Unterminated && !f.Whole && s.in.pretty.opens(raw) {
		s.in.pretty.add(raw, f.Offset, f.At)
		return
	}
	s.broken(raw, f, err)
}

// broken deals with a line that is not valid JSON. If it names a call in
// flight it is the only answer that call will get.
func (s *Session) broken(raw []byte, f Frame, err error) {
	id, k := s.meant(raw, raw)
	what := "a line"
	if f.Whole {
		what = "a body"
		if own := s.callOf(f.Stream); k == nil && own != nil {
			id, k = own.x.ID, own
		}
	}
	if !f.Unterminated {
		s.flag(BadJSON, what+" that is not valid JSON: "+SyntaxText(err), excerptAround(raw, err), f)
	}
	s.settle(id, k)
	if k != nil && !f.Unterminated {
		s.unusable(k, raw, f.At, BadJSON, "the answer is not valid JSON: "+SyntaxText(err))
	}
}

// unusable completes a call whose answer can't be used.
func (s *Session) unusable(k *call, raw []byte, at time.Time, kind, msg string) {
	k.x.Response = raw
	k.x.Cause = &ProtocolError{Method: k.x.Method, Kind: kind, Msg: msg}
	s.complete(k, at)
}

// complete takes a call out of those in flight; Flush wakes its caller.
func (s *Session) complete(k *call, at time.Time) {
	k.x.Elapsed = at.Sub(k.x.Start)
	s.forget(k)
	s.woken = append(s.woken, k)
}

// meant finds the call in flight that a damaged answer names, by the members
// of head as far as they can be read, or by an id at the end of tail.
func (s *Session) meant(head, tail []byte) (string, *call) {
	_ = s.in.scan.Scan(head)
	e := s.in.scan.Envelope
	if e.Has&HasMethod != 0 {
		return "", nil
	}
	id := e.ID
	if e.Has&HasID == 0 {
		id = lastID(tail)
	}
	if n, ok := ownID(id); ok {
		if k := s.pending[n]; k != nil {
			return k.x.ID, k
		}
	}
	return "", nil
}

// lastID finds `"id":N` at the end of a message, where several libraries put it.
func lastID(tail []byte) []byte {
	i := bytes.LastIndex(tail, []byte(`"id"`))
	if i < 0 {
		return nil
	}
	rest := trimSpace(tail[i+len(`"id"`):])
	if len(rest) == 0 || rest[0] != ':' {
		return nil
	}
	rest = trimSpace(rest[1:])
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if end := trimSpace(rest[n:]); len(end) == 0 || end[0] != '}' && end[0] != ',' {
		return nil
	}
	return rest[:n]
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

// prettyDone reads a message that was spread over several lines.
func (s *Session) prettyDone() {
	p := s.in.pretty
	raw := trimSpace(p.buf)
	f := Frame{Dir: FromServer, At: p.at, Raw: raw, Offset: p.offset, Stream: s.in.stream}
	s.in.pretty.reset()
	s.flag(PrettyJSON, fmt.Sprintf("one message written over %d lines", p.lines), raw, f)
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

// flushPretty gives up on a message that was begun over several lines.
func (in *inbound) flushPretty(s *Session) {
	if !in.pretty.active() {
		return
	}
	p := in.pretty
	in.pretty.reset()
	held := in.found
	in.found = nil
	s.flag(BadJSON, fmt.Sprintf("JSON that begins here and is not complete after %d lines", p.lines), trimSpace(p.buf),
		Frame{Offset: p.offset, At: p.at})
	s.settle("", nil)
	in.found = held
}

// Flush implements [Sink].
func (s *Session) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// Waiting implements [Sink].
func (s *Session) Waiting() (calls, answered int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) + len(s.raws), len(s.woken)
}

// HTTP implements [Sink].
func (s *Session) HTTP(id string, info *HTTPInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.callOf(id); k != nil {
		k.x.HTTP = info
	}
}

// Fail implements [Sink].
func (s *Session) Fail(id string, err error, info *HTTPInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.callOf(id); k != nil {
		k.x.HTTP = info
		k.x.Cause = err
		s.complete(k, time.Now())
		s.wake()
	}
}

// callOf finds a call in flight by its id as JSON text.
func (s *Session) callOf(id string) *call {
	n, ok := ownID([]byte(id))
	if ok {
		return s.pending[n]
	}
	if strings.HasPrefix(id, "raw:") {
		for _, k := range s.raws {
			if k.raw.stream == id {
				return k
			}
		}
	}
	return nil
}

// Pending implements [Sink].
func (s *Session) Pending(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.callOf(id) != nil
}

// Violate implements [Sink].
func (s *Session) Violate(id string, v Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.At, v.Tolerated = time.Now(), s.tolerated(v.Kind)
	if k := s.callOf(id); k != nil {
		v.ID = k.x.ID
		k.x.violate(v)
		return
	}
	s.log.add(v)
}

// End implements [Sink].
func (s *Session) End(why *ClosedError) {
	if why.Exited { // what is being written fails now: then it is known what the server never read
		s.sending.Lock()
		defer s.sending.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		s.wake()
		return
	}
	s.in.flushPretty(s)
	if s.in.early != nil {
		s.in.early.Stop()
	}
	why.LastLine = s.lastOdd()
	if s.dialect.Load() != nil {
		s.leftUnread(why)
	}
	why.InFlight = s.inFlight()
	if s.closing {
		why.Ours, why.Reason = true, "the session was closed"
	} else if why.Exited && why.Exit.Failed() && s.dialect.Load() != nil && !s.awaited() {
		s.crashed(why.Error(), why.Stderr)
	}
	s.closed = why
	s.finishAll(why)
	s.wake()
	close(s.ended)
	s.stop()
}
