package conn

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// receiver reads the messages of the server and assigns them to calls in flight, the
// journal and the violations. It starts the responses to the server's requests. It
// holds the lock of the state while it reads a frame.
type receiver struct {
	state    *state
	calls    *callTable // of state
	notes    findings
	answers  *responder
	own      Answerer // used unless a call has its own
	limits   wire.Limits
	declares func(capability ...string) bool // of the client
	sending  *sync.RWMutex                   // see Conn
	stop     func()                          // stops the goroutines of the connection

	// Guarded by the lock of the state.
	scan      *protocol.Scanner
	multiline multilineJSON
	long      *longMessage
	last      []byte      // beginning of the last line
	first     time.Time   // time of the first line
	heard     time.Time   // time of the latest line
	stream    string      // Frame.Stream of the frame that is being read
	early     *time.Timer // see useIfOnlyCall
}

func newReceiver(s *state, o Options, stdio bool) *receiver {
	return &receiver{
		state: s, calls: s.calls, notes: findings{stdio: stdio, log: &s.log}, own: o.Answer, limits: o.Limits, scan: protocol.NewScanner(),
		declares: func(path ...string) bool { return !o.Capabilities.Lookup(path...).IsAbsent() },
	}
}

// lastKept limits the part of the last line that is kept to explain the end of a
// process.
const lastKept = 512

// OnFrame implements [wire.Receiver].
func (r *receiver) OnFrame(f wire.Frame) (kept bool) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.stream = f.Stream
	if r.first.IsZero() {
		r.first = f.At
	}
	r.heard = f.At
	c := protocol.Clean(f.Raw)
	if len(c.Raw) == 0 {
		if c.BOM || c.NUL {
			r.notes.framing(c, f)
			r.notes.assign("", nil)
		}
		return false
	}
	r.last = append(r.last[:0], f.Raw[:min(lastKept, len(f.Raw))]...)
	return r.line(c, f)
}

// line reads a line that may be a message or a part of one.
func (r *receiver) line(c protocol.Cleaned, f wire.Frame) (kept bool) {
	if p := &r.multiline; p.active() {
		if !r.selfContained(c.Raw) && p.continues(c.Raw, r.limits.Message) {
			if p.add(c.Raw, f.Offset, f.At) {
				r.multilineDone()
			}
			return false
		}
		r.dropMultiline()
	}
	r.notes.framing(c, f)
	if c.Raw[0] != '{' && c.Raw[0] != '[' {
		r.notes.stray(c.Raw, f)
		r.notes.assign("", nil)
		return false
	}
	if kept = len(c.Raw) >= wire.LargeFrame; !kept {
		c.Raw = bytes.Clone(c.Raw)
	}
	id, k := r.read(c.Raw, f)
	if !r.multiline.active() { // otherwise what was found belongs to a message that is not complete
		r.notes.assign(id, k)
	}
	return kept
}

// selfContained reports whether a line is a JSON-RPC message on its own.
func (r *receiver) selfContained(raw []byte) bool {
	return raw[0] == '{' && r.scan.Scan(raw) == nil && r.scan.Has&(protocol.HasVersion|protocol.HasMethod|protocol.HasResult|protocol.HasError) != 0
}

// read reads what begins with "{" or "[", and completes the call that it ends. It
// returns the call that gets the violations, and the id for them.
func (r *receiver) read(raw []byte, f wire.Frame) (id string, k *call) {
	if raw[0] == '[' {
		return r.batch(raw, f)
	}
	err := r.scan.Scan(raw)
	if err == nil {
		return r.message(raw, f)
	}
	if !f.Unterminated && !f.Whole && r.multiline.opens(raw) {
		r.multiline.add(raw, f.Offset, f.At)
		return "", nil
	}
	return r.invalidJSON(raw, f, err)
}

// invalidJSON handles a line that is not valid JSON. If it contains the id of a call in
// flight, it is the only response that call will get.
func (r *receiver) invalidJSON(raw []byte, f wire.Frame, err error) (id string, k *call) {
	id, k = r.guessCall(raw, raw)
	what := "a line"
	if f.Whole {
		what = "a body"
		if own := r.calls.callOf(f.Stream); k == nil && own != nil {
			id, k = own.x.ID, own
		}
	}
	if f.Unterminated {
		return id, k // reported by framing
	}
	r.notes.flag(protocol.BadJSON, what+" that is not valid JSON: "+protocol.SyntaxText(err), excerptAround(raw, err), f)
	if k != nil {
		r.failCall(k, raw, f.At, "the response is not valid JSON: "+protocol.SyntaxText(err))
	}
	return id, k
}

// failCall completes a call whose response cannot be used.
func (r *receiver) failCall(k *call, raw []byte, at time.Time, msg string) {
	k.x.Response = raw
	k.x.Cause = &wire.ProtocolError{Method: k.x.Method, Msg: msg}
	r.calls.complete(k, at)
}

// guessCall returns the call in flight that a damaged response belongs to: by the
// readable members of head, or by an id at the end of tail.
func (r *receiver) guessCall(head, tail []byte) (string, *call) {
	_ = r.scan.Scan(head)
	e := r.scan.Envelope
	if e.Has&protocol.HasMethod != 0 {
		return "", nil
	}
	id := e.ID
	if e.Has&protocol.HasID == 0 {
		id = protocol.LastID(tail)
	}
	if n, ok := protocol.OwnID(id); ok {
		if k := r.calls.find(n); k != nil {
			return k.x.ID, k
		}
	}
	return "", nil
}

func excerptAround(raw []byte, err error) []byte {
	if s, ok := errors.AsType[*jsonv.SyntaxError](err); ok && s.Offset > 100 {
		return raw[min(s.Offset-100, len(raw)):]
	}
	return raw
}

// multilineDone reads a message that consists of several lines.
func (r *receiver) multilineDone() {
	p := r.multiline
	raw := protocol.TrimSpace(p.buf)
	f := wire.Frame{Dir: wire.FromServer, At: p.at, Raw: raw, Offset: p.offset, Stream: r.stream}
	r.multiline.reset()
	r.notes.flag(protocol.PrettyJSON, fmt.Sprintf("one message written over %d lines", p.lines), raw, f)
	r.notes.assign(r.read(raw, f))
}

// giveUp completes a call with cause. It returns false if its response has arrived.
func (r *receiver) giveUp(k *call, cause error, p *proc.Process) bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if !r.calls.isWaiting(k) {
		return false
	}
	r.dropMultiline()
	r.calls.giveUp(k)
	k.x.Cause = cause
	k.x.Elapsed = time.Since(k.x.Start)
	if timeout, ok := errors.AsType[*TimeoutError](cause); ok {
		r.state.silent = true
		if p != nil && r.long == nil && time.Since(r.heard) > time.Second {
			timeout.Waiting = p.OutputWaiting()
		}
	}
	return true
}

// dropMultiline abandons an incomplete message of several lines.
func (r *receiver) dropMultiline() {
	if !r.multiline.active() {
		return
	}
	p := r.multiline
	r.multiline.reset()
	held := r.notes.found
	r.notes.found = nil
	r.notes.flag(protocol.BadJSON, fmt.Sprintf("JSON that begins here and is not complete after %d lines", p.lines), protocol.TrimSpace(p.buf),
		wire.Frame{Offset: p.offset, At: p.at})
	r.notes.assign("", nil)
	r.notes.found = held
}

// OnDrained implements [wire.Receiver].
func (r *receiver) OnDrained() {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.calls.wake()
}

// InFlight implements [wire.Receiver].
func (r *receiver) InFlight() (calls, answered int) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.calls.inFlight(), len(r.calls.woken)
}

// OnHTTP implements [wire.Receiver].
func (r *receiver) OnHTTP(id string, info *wire.HTTPInfo) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if k := r.calls.callOf(id); k != nil {
		k.x.HTTP = info
	}
}

// OnFailure implements [wire.Receiver].
func (r *receiver) OnFailure(id string, err error, info *wire.HTTPInfo) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if k := r.calls.callOf(id); k != nil {
		k.x.HTTP = info
		k.x.Cause = err
		r.calls.complete(k, time.Now())
		r.calls.wake()
	}
}

// Pending implements [wire.Receiver].
func (r *receiver) Pending(id string) bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.calls.callOf(id) != nil
}

// OnViolation implements [wire.Receiver].
func (r *receiver) OnViolation(id string, v protocol.Violation) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	v.At, v.Tolerated = time.Now(), r.state.log.tolerated(v.Kind)
	if k := r.calls.callOf(id); k != nil {
		v.ID = k.x.ID
		k.x.violate(v)
		return
	}
	r.state.log.add(v)
}

// OnEnd implements [wire.Receiver].
func (r *receiver) OnEnd(why *wire.ClosedError) {
	if why.Exited { // wait for writes in progress to fail, to know what the server did not read
		r.sending.Lock()
		defer r.sending.Unlock()
	}
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if r.state.closed != nil {
		r.calls.wake()
		return
	}
	r.dropMultiline()
	if r.early != nil {
		r.early.Stop()
	}
	why.LastLine = r.lastInvalidLine()
	if r.state.agreed().Known() {
		r.calls.markUnread(why)
	}
	r.calls.addUnwritten(why)
	why.InFlight = r.calls.requestsInFlight()
	if r.state.closing {
		why.Ours, why.Reason = true, "the session was closed"
	} else if why.Exited && why.Exit.Failed() && r.state.agreed().Known() && !r.calls.hasWaiter() {
		r.state.crashed(why.Error(), why.Stderr)
	}
	r.state.closed = why
	r.calls.finishAll(why)
	r.calls.wake()
	close(r.state.ended)
	r.stop()
}

// lastInvalidLine returns the last line of standard output, or "" if it was a message or
// there is no standard output (HTTP). The caller holds the lock of the state.
func (r *receiver) lastInvalidLine() string {
	if last := r.last; r.notes.stdio && len(last) > 0 && (last[0] != '{' || len(last) < lastKept && !r.selfContained(last)) {
		return protocol.Excerpt(last)
	}
	return ""
}
