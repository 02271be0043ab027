package conn

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// receiver reads the lines of the server and passes each frame on in four steps: it is
// parsed and matched to its call, classified, delivered, and its findings are recorded.
// It holds the lock of the state meanwhile.
type receiver struct {
	state   *state
	parser  parser
	answers *responder
	out     deliverer
	sending *sync.RWMutex // see Conn
	stop    func()        // stops the goroutines of the connection

	// Guarded by the lock of the state.
	multiline multilineJSON
	held      []finding   // of the first of several lines, until they are a message
	long      bool        // a message over the size limit is being skipped
	settled   bool        // its findings are recorded
	last      []byte      // beginning of the last line
	first     time.Time   // time of the first line
	heard     time.Time   // time of the latest line
	early     *time.Timer // see adoptLater
}

func newReceiver(s *state, answers *responder, own Answerer) *receiver {
	return &receiver{state: s, parser: parser{protocol.NewScanner(), s}, answers: answers, out: deliverer{s, answers, own}}
}

// lastKept limits the part of the last line that is kept to explain the end of a
// process.
const lastKept = 512

// OnFrame implements [wire.Receiver].
func (r *receiver) OnFrame(f wire.Frame) (kept bool) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if r.first.IsZero() {
		r.first = f.At
	}
	r.heard = f.At
	line, around := f.Raw, protocol.Clean(f.Raw)
	f.Raw = around.Raw
	p := &r.multiline
	switch {
	case len(f.Raw) > 0:
		r.last = append(r.last[:0], line[:min(lastKept, len(line))]...)
		if p.active() && !r.isSelfContained(f.Raw) && p.continues(f.Raw, r.state.limits.Message) {
			if p.add(f) {
				r.handle(r.joinLines())
			}
			return false
		}
		r.dropMultiline()
	case !around.BOM && !around.NUL:
		return false
	}
	if kept = len(f.Raw) >= wire.LargeFrame && (f.Raw[0] == '{' || f.Raw[0] == '['); !kept {
		f.Raw = bytes.Clone(f.Raw)
	}
	in := r.parser.parse(f)
	in.line, in.around = line, around
	r.handle(in)
	return kept
}

// handle classifies a frame, delivers it, and records its findings: the one place where
// those of frames are recorded.
func (r *receiver) handle(in incoming) {
	found := slices.Concat(r.held, classify(r.state, r.answers, in))
	r.held = nil
	if in.shape == incomplete { // what was found belongs to a message that is not complete
		r.held = found
		r.multiline.add(in.Frame)
		return
	}
	cause := ""
	for i := range found {
		cause = cmp.Or(cause, found[i].cause)
	}
	r.emit(&in, found)
	r.out.deliver(&in, cause)
	for i := range found {
		r.state.record(found[i].Violation, in.id, in.call)
	}
	switch {
	case in.shape == batch && !in.ends:
		for _, part := range in.parts {
			in.Raw = part
			one := r.parser.parseObject(in.Frame)
			one.part = true
			r.handle(one)
		}
	case in.orphan:
		r.adoptLater(in.Frame)
	}
}

// emit passes a frame with its findings to the watcher.
func (r *receiver) emit(in *incoming, found []finding) {
	s := r.state
	if s.watch == nil || in.shape == blank && len(found) == 0 {
		return
	}
	e := Event{At: in.At, ID: in.id}
	for _, f := range found {
		v := f.Violation
		v.ID, v.Tolerated = in.id, s.log.isTolerated(v.Kind)
		e.Violations = append(e.Violations, v)
	}
	if in.shape == adopted { // it was passed on when it arrived
		s.emit(e)
		return
	}
	f := FrameEvent{Dir: wire.FromServer, Raw: in.Raw, Size: int64(len(in.Raw)), Part: in.part}
	if in.line != nil {
		f.Raw, f.Size = in.line, int64(len(in.line))
	}
	if in.over != nil {
		f.Size = in.over.Size
	}
	if env := in.envelope; env != nil {
		f.Method, f.ID = protocol.TextOf(env.Method), string(env.ID)
	}
	e.Frame = &f
	s.emit(e)
}

// isSelfContained reports whether a line is a JSON-RPC message on its own.
func (r *receiver) isSelfContained(raw []byte) bool {
	const anyMember = protocol.HasVersion | protocol.HasMethod | protocol.HasResult | protocol.HasError
	scan := r.parser.scan
	return raw[0] == '{' && scan.Scan(raw) == nil && scan.Has&anyMember != 0
}

// joinLines reads a message that consists of several lines.
func (r *receiver) joinLines() incoming {
	f, lines := r.multiline.take()
	in := r.parser.parse(f)
	in.lines = lines
	return in
}

// dropMultiline abandons an incomplete message of several lines.
func (r *receiver) dropMultiline() {
	if !r.multiline.active() {
		return
	}
	f, lines := r.multiline.take()
	held := r.held
	r.held = nil
	r.handle(incoming{shape: abandoned, Frame: f, lines: lines})
	r.held = held
}

// orphanGrace is how long a response without an id waits for a better one.
const orphanGrace = 500 * time.Millisecond

// adoptLater takes a response that matches no call. If exactly one call is in flight
// and gets no other response within orphanGrace, this one is used, which is better
// than a timeout.
func (r *receiver) adoptLater(f wire.Frame) {
	only := r.state.calls.onlyCall()
	if only == nil || r.early != nil {
		return
	}
	id := only.id
	r.early = time.AfterFunc(orphanGrace, func() {
		r.state.mu.Lock()
		defer r.state.mu.Unlock()
		r.early = nil
		if k := r.state.calls.find(id); k != nil {
			r.handle(r.parser.adopt(f, k))
			r.state.calls.wake()
		}
	})
}

// OnOversize implements [wire.Receiver].
func (r *receiver) OnOversize(l wire.OversizeMessage) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if !l.Done {
		r.dropMultiline()
		r.last = append(r.last[:0], l.Head[:min(lastKept, len(l.Head))]...)
		r.long, r.settled = true, false
	}
	if r.long && !r.settled {
		var in incoming
		if in, r.settled = r.parser.parseOversize(&l); r.settled {
			r.handle(in)
		}
	}
	r.long = !l.Done
}

// giveUp completes a call with cause. It returns false if its response has arrived.
func (r *receiver) giveUp(k *call, cause error, p *proc.Process) bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if !r.state.calls.isWaiting(k) {
		return false
	}
	r.dropMultiline()
	r.state.calls.giveUp(k)
	k.x.Cause = cause
	k.x.Elapsed = time.Since(k.x.Start)
	if timeout, ok := errors.AsType[*TimeoutError](cause); ok {
		r.state.silent = true
		timeout.Reports, timeout.Quiet = k.reports, timeout.At.Sub(k.reported)
		timeout.Busy, timeout.BusyLast = r.state.late.After(k.x.Start), timeout.At.Sub(r.state.late)
		if p != nil && !r.long && time.Since(r.heard) > time.Second {
			timeout.Waiting = p.OutputWaiting()
		}
	}
	return true
}

// measureSilence returns how long a call in flight has not reported progress.
func (r *receiver) measureSilence(k *call) time.Duration {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if k.reports > 0 {
		return time.Since(k.reported)
	}
	return time.Since(k.x.Start)
}

// hasReportedSince reports whether progress of a call that is over has come since a time. Other
// output does not say that the server works on it: one that never reads again may write.
func (r *receiver) hasReportedSince(at time.Time) bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.late.After(at)
}

// OnDrained implements [wire.Receiver].
func (r *receiver) OnDrained() {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.state.calls.wake()
}

// InFlight implements [wire.Receiver].
func (r *receiver) InFlight() (calls, answered int) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.calls.inFlight(), len(r.state.calls.woken)
}

// OnHTTP implements [wire.Receiver].
func (r *receiver) OnHTTP(id string, info *wire.HTTPInfo) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.state.emit(Event{HTTP: info, ID: id})
	if k := r.state.calls.callOf(id); k != nil {
		k.x.HTTP = info
	}
}

// OnFailure implements [wire.Receiver].
func (r *receiver) OnFailure(id string, err error, info *wire.HTTPInfo) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if info != nil {
		r.state.emit(Event{HTTP: info, ID: id})
	}
	if k := r.state.calls.callOf(id); k != nil {
		k.x.HTTP = info
		k.x.Cause = err
		r.state.calls.complete(k, time.Now())
		r.state.calls.wake()
	}
}

// Pending implements [wire.Receiver].
func (r *receiver) Pending(id string) bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.calls.callOf(id) != nil
}

// OnViolation implements [wire.Receiver].
func (r *receiver) OnViolation(id string, v protocol.Violation) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	v.At = time.Now()
	if k := r.state.calls.callOf(id); k != nil {
		r.state.report(v, k.x.ID, k)
		return
	}
	r.state.report(v, "", nil)
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
		r.state.calls.wake()
		return
	}
	r.dropMultiline()
	if r.early != nil {
		r.early.Stop()
	}
	why.LastLine = r.findLastInvalidLine()
	r.state.calls.markUnread(why, r.state.agreedVersion().Known())
	why.InFlight = r.state.calls.requestsInFlight()
	why.Also = r.describeBefore()
	if r.state.closing {
		why.Ours, why.Reason = true, "the session was closed"
	} else if why.Exited && why.Exit.Failed() && r.state.agreedVersion().Known() && !r.state.calls.hasWaiter() {
		r.state.recordCrash(why.Error(), why.Stderr)
	}
	if why.Ours {
		why.Also = ""
	}
	r.state.closed = why
	r.state.emit(Event{End: why})
	r.state.calls.finishAll(why)
	r.state.calls.wake()
	close(r.state.ended)
	r.stop()
}

// endTime is how long what the client did by itself may be why a server ends.
const endTime = 5 * time.Second

// describeBefore says what the client did by itself just before the end, if the server has not
// written anything since: a notification, or another session. The caller holds the lock.
func (r *receiver) describeBefore() string {
	text := ""
	for _, e := range r.state.side.List() {
		ago := time.Since(e.At)
		if (e.Kind != wire.SideSent && e.Kind != wire.SideRival) || ago > endTime || r.heard.After(e.At) {
			continue
		}
		text = ", " + wire.Duration(max(ago.Round(time.Millisecond), time.Millisecond)) + " after " + e.Text
	}
	return text
}

// findLastInvalidLine returns the last line of standard output, or "" if it was a message or
// there is no standard output (HTTP). The caller holds the lock of the state.
func (r *receiver) findLastInvalidLine() string {
	last := r.last
	if !r.state.stdio || len(last) == 0 {
		return ""
	}
	isWhole := len(last) < lastKept // a longer line was cut
	if last[0] != '{' || isWhole && !r.isSelfContained(last) {
		return protocol.Excerpt(last)
	}
	return ""
}
