package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Session is a connection that carries calls.
type Session interface {
	Do(ctx context.Context, c mcp.Call) *mcp.Exchange
	Alive() bool
	Protocol() string
}

// Call is a call that is sent many times.
type Call struct {
	Tool string // the name of its series
	mcp.Call
	// Examine returns why a response is wrong, "" if it is not; nil: nothing is examined.
	Examine func(ctx context.Context, version string, x *mcp.Exchange) string
}

// Options are the parameters of [Run].
type Options struct {
	Settings
	Shard    Shard // the zero value is the whole load
	Start    time.Time
	Calls    []Call    // sent in turn
	Sessions []Session // used in turn
	// Processors is the number of processors, for the generator's share; 0: GOMAXPROCS.
	Processors int
	// Pause sleeps for a few milliseconds at most, precisely; nil: as the system does.
	Pause func(time.Duration)
	// Doing is called after each call with what was measured so far, without the warm-up;
	// may be nil.
	Doing func(elapsed time.Duration, count, failed int)
}

const (
	hopeless = 20          // the first answers: if all of them are errors, nothing is measured
	patience = time.Second // how long after it was due a call is sent at the latest
	every    = 100         // the first response of a call is examined, and every one after so many
	moments  = 60          // of a timeline, at most
)

// generator sends the calls of a load.
type generator struct {
	o        Options
	from     time.Time     // when calls begin to count
	began    time.Time     // when the first one that counts was due; zero: not yet
	used     time.Duration // time of processors until then
	free     chan struct{} // a place for each call in flight
	inFlight sync.WaitGroup

	mu            sync.Mutex
	rep           *Report
	good          map[*Call]int // usable responses
	count, failed int
	answered      int           // calls that came to an end
	first         []Problem     // how the first calls ended, the warm-up included, while all of them failed
	useful        bool          // one of them did not fail
	last          time.Duration // when the last of them did
}

// Run sends the calls until their time is over, ctx is canceled or every session has ended,
// and waits for the responses.
func Run(ctx context.Context, o Options) *Report {
	step := max(time.Second, (time.Duration(o.DurationMS) * time.Millisecond / moments).Round(time.Second)).Milliseconds()
	rep := &Report{
		Schema:     Schema,
		Protocol:   o.Sessions[0].Protocol(),
		Settings:   o.Settings,
		MeasuredMS: o.DurationMS,
		StepMS:     step,
		Timeline:   make([]Moment, (o.DurationMS+step-1)/step),
		Generator:  Generator{Processors: cmp.Or(o.Processors, runtime.GOMAXPROCS(0))},
	}
	rep.Shard = &o.Shard
	if o.Shard.Total == 0 {
		o.Shard, rep.Shard = Shard{1, 1}, nil
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	rep.Start = o.Start.UTC()
	g := &generator{
		o:    o,
		from: o.Start.Add(time.Duration(o.WarmUpMS) * time.Millisecond),
		free: make(chan struct{}, o.InFlight),
		rep:  rep,
		good: map[*Call]int{},
	}
	for _, c := range o.Calls {
		rep.findSeries(c.Tool)
	}
	rep.Ended = g.send(ctx)
	measured := time.Since(g.from)
	if !g.began.IsZero() {
		used := (readCPUTime() - g.used).Seconds()
		rep.Generator.CPU = used / time.Since(g.began).Seconds() / float64(rep.Generator.Processors)
	}
	g.inFlight.Wait()
	if rep.Interrupted = ctx.Err() != nil; rep.Interrupted || rep.Ended != "" {
		rep.MeasuredMS = min(o.DurationMS, max(0, measured.Milliseconds()))
	}
	if span := max(time.Duration(rep.MeasuredMS)*time.Millisecond, g.last); span > 0 {
		rep.AnsweredRate = float64(g.answered) / span.Seconds()
	}
	rep.finish()
	return rep
}

// send sends each call when it is due, and returns why it ended early.
func (g *generator) send(ctx context.Context) (why string) {
	o := &g.o
	total := int(o.Rate * float64(o.WarmUpMS+o.DurationMS) / 1000)
	held := o.Start // until when calls waited for a place
	for k, turn := o.Shard.Index-1, 0; k < total; k, turn = k+o.Shard.Total, turn+1 {
		due := o.Start.Add(time.Duration(float64(k) / o.Rate * float64(time.Second)))
		if !g.wait(ctx, due) {
			break
		}
		if g.began.IsZero() && !due.Before(g.from) {
			g.began, g.used = time.Now(), readCPUTime()
		}
		s := findAlive(o.Sessions, turn)
		if s == nil {
			return "every session has ended"
		}
		if why := g.explainHopeless(); why != "" {
			return why
		}
		c := &o.Calls[k%len(o.Calls)]
		free, waited := g.place(ctx, due)
		if waited {
			held = time.Now()
		}
		if free {
			ready := due.Add(max(0, held.Sub(due)))
			g.inFlight.Go(func() { g.call(ctx, c, s, due, ready) })
		} else if ctx.Err() == nil && !due.Before(g.from) {
			g.record(c, due, time.Since(due), dropped, "not sent within 1 s of its time")
		}
	}
	return ""
}

// wait waits until a call is due, and reports whether ctx is still valid.
func (g *generator) wait(ctx context.Context, due time.Time) bool {
	const precise = 2 * time.Millisecond
	if d := time.Until(due); d > 2*precise {
		select {
		case <-time.After(d - precise):
		case <-ctx.Done():
		}
	}
	for d := time.Until(due); d > 0 && ctx.Err() == nil; d = time.Until(due) {
		g.o.Pause(d) // a signal may end it early
	}
	return ctx.Err() == nil
}

// findAlive returns the session whose turn it is, or the next one that has not ended.
func findAlive(all []Session, turn int) Session {
	for i := range all {
		if s := all[(turn+i)%len(all)]; s.Alive() {
			return s
		}
	}
	return nil
}

// place takes a place for a call in flight, and reports whether it had to wait. There is
// none when the call can no longer be sent in time.
func (g *generator) place(ctx context.Context, due time.Time) (free, waited bool) {
	left := time.Until(due.Add(patience))
	if left <= 0 {
		return false, len(g.free) == cap(g.free)
	}
	select {
	case g.free <- struct{}{}:
		return true, false
	default:
	}
	select {
	case g.free <- struct{}{}:
		return true, true
	case <-time.After(left):
	case <-ctx.Done():
	}
	return false, true
}

// call makes one call. One that had to wait for a place until it was ready is not late by
// the generator's fault.
func (g *generator) call(ctx context.Context, c *Call, s Session, due, ready time.Time) {
	limited, cancel := mcp.WithLimit(ctx, "timeout", time.Duration(g.o.TimeoutMS)*time.Millisecond)
	defer cancel()
	sent := time.Now()
	x := s.Do(limited, c.Call)
	<-g.free
	g.noteExchange(x)
	if due.Before(g.from) || x.Cause != nil && ctx.Err() != nil {
		return
	}
	kind, text := findProblem(x)
	g.mu.Lock()
	g.rep.Generator.Late.Add(sent.Sub(ready))
	g.mu.Unlock()
	ended := x.Start.Add(x.Elapsed) // when the response was read
	nth := g.record(c, due, ended.Sub(due), kind, text)
	if kind != "" || c.Examine == nil || nth%every != 0 {
		return
	}
	why := c.Examine(ctx, s.Protocol(), x)
	g.mu.Lock()
	defer g.mu.Unlock()
	series := g.rep.findSeries(c.Tool)
	series.Examined++
	if why != "" {
		series.Wrong++
		series.Why = cmp.Or(series.Why, why)
	}
}

// noteExchange notes how one of the first calls ended.
func (g *generator) noteExchange(x *mcp.Exchange) {
	kind, text := findProblem(x)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.useful = g.useful || kind == ""; !g.useful && len(g.first) < hopeless {
		g.first = append(g.first, Problem{kind, 1, text})
	}
}

// explainHopeless says why the load ends: all of its first calls failed, for at least a second, in which
// a server may have been starting.
func (g *generator) explainHopeless() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.useful || len(g.first) < hopeless || time.Since(g.o.Start) < patience {
		return ""
	}
	p := g.first[0]
	return fmt.Sprintf("stopped: the first %d calls all failed: %s: %s", hopeless, p.Kind, p.Example)
}

// record records the end of a call, and returns how many usable responses there were before.
func (g *generator) record(c *Call, due time.Time, took time.Duration, kind, text string) (before int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	step := int(due.Sub(g.from).Milliseconds() / g.rep.StepMS)
	s := g.rep.findSeries(c.Tool)
	m := &g.rep.Timeline[min(step, len(g.rep.Timeline)-1)]
	s.Count++
	m.Count++
	g.count++
	if kind != "" {
		s.fail(Problem{kind, 1, text})
		m.Failed++
		g.failed++
	}
	switch {
	case isTimed(kind):
		s.Latency.Add(took)
		m.Latency.Add(took)
	case kind == toolError || strings.HasPrefix(kind, rpcError):
		s.computeErrorLatency().Add(took)
	}
	if kind != dropped && kind != timeout {
		g.answered++
		g.last = max(g.last, due.Sub(g.from)+took)
	}
	if g.o.Doing != nil {
		g.o.Doing(time.Since(g.from), g.count, g.failed)
	}
	before = g.good[c]
	if kind == "" {
		g.good[c]++
	}
	return before
}

// Kinds of errors; others name the code of JSON-RPC or the status of HTTP.
const (
	dropped   = "dropped" // not sent
	toolError = "tool error"
	timeout   = "timeout"
	rpcError  = "JSON-RPC "
)

// isTimed reports whether a call that ended with this kind of error is in the latencies: if it took
// too long. A quick error says nothing about how long the work takes.
func isTimed(kind string) bool { return kind == "" || kind == timeout || kind == dropped }

// findProblem returns the kind of error that a call ended with, "" for none, and its text.
func findProblem(x *mcp.Exchange) (kind, text string) {
	var status *wire.HTTPError
	switch {
	case x.Cause == nil && x.Error != nil:
		e := x.RPCError()
		return fmt.Sprint(rpcError, e.Code), strings.TrimSuffix(e.Message+"; "+e.Challenge, "; ")
	case x.Cause == nil && string(protocol.MemberOf(x.Result, "isError")) == "true":
		return toolError, protocol.Excerpt(protocol.MemberOf(x.Result, "content"))
	case x.Cause == nil:
		return "", ""
	case errors.As(x.Cause, &status):
		kind = fmt.Sprint("HTTP ", status.Info.Status)
	case errors.As(x.Cause, new(*mcp.TimeoutError)):
		kind = timeout
	case errors.As(x.Cause, new(*wire.ProtocolError)),
		errors.As(x.Cause, new(*mcp.TooManyValuesError)),
		errors.As(x.Cause, new(*mcp.InputError)):
		kind = "unusable response"
	default:
		kind = "connection"
	}
	return kind, x.Cause.Error()
}
