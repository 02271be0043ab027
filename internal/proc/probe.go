package proc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ProbeKind is what a Probe looks at.
type ProbeKind uint8

// The kinds of probes.
const (
	ProbeTCP ProbeKind = iota + 1
	ProbeHTTP
	ProbePath // a path on an origin that At gives
	ProbeLog
)

// Probe tells whether something is ready. The zero value is no probe.
type Probe struct {
	kind ProbeKind
	raw  string
	addr string         // tcp
	url  string         // http
	re   *regexp.Regexp // log

	tls    *tls.Config // http; nil: the system's authorities
	header http.Header // http
}

// ProbeError says why a text is not a probe.
type ProbeError struct{ Msg, Hint string }

func (e *ProbeError) Error() string { return e.Msg }

const probeForms = "write tcp://host:port, http://…, https://…, /path or log:/regex/"

// ParseProbe reads `tcp://host:port`, `http://…`, `https://…`, `/path` or
// `log:/regex/` (RE2). The error is a *ProbeError.
func ParseProbe(s string) (Probe, error) {
	p := Probe{raw: s}
	bad := func(format string, args ...any) (Probe, error) {
		return Probe{}, &ProbeError{Msg: fmt.Sprintf(format, args...), Hint: probeForms}
	}
	switch {
	case strings.HasPrefix(s, "log:"):
		expr := s[len("log:"):]
		if len(expr) < 3 || expr[0] != '/' || expr[len(expr)-1] != '/' {
			return bad("a log probe is log:/regex/")
		}
		re, err := regexp.Compile(expr[1 : len(expr)-1])
		if err != nil {
			var se interface{ Error() string } = err
			return bad("the regular expression is wrong: %s", strings.TrimPrefix(se.Error(), "error parsing regexp: "))
		}
		p.kind, p.re = ProbeLog, re
	case strings.HasPrefix(s, "tcp://"):
		host, port, err := net.SplitHostPort(s[len("tcp://"):])
		if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
			return bad("%q is not tcp://host:port", s)
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return bad("%q is not a port from 1 to 65535", port)
		}
		p.kind, p.addr = ProbeTCP, net.JoinHostPort(host, port)
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			return bad("%q is not a URL", s)
		}
		u.Fragment = ""
		p.kind, p.url = ProbeHTTP, u.String()
	case strings.HasPrefix(s, "/"):
		if _, err := url.ParseRequestURI(s); err != nil || strings.HasPrefix(s, "//") {
			return bad("%q is not a path of a URL", s)
		}
		p.kind = ProbePath
	default:
		return bad("%q is not a probe", s)
	}
	return p, nil
}

// String is the probe as it was written.
func (p Probe) String() string { return p.raw }

// Kind is what the probe looks at; 0 for the zero Probe.
func (p Probe) Kind() ProbeKind { return p.kind }

// Absolute tells whether the probe names its place by itself (tcp://, http://,
// https://): then it must not succeed before the program it waits for has been
// started, or something else owns the port.
func (p Probe) Absolute() bool { return p.kind == ProbeTCP || p.kind == ProbeHTTP }

// At puts the path of a ProbePath onto an origin such as http://127.0.0.1:8080
// (what follows the authority in it is ignored). Other probes are returned as
// they are.
func (p Probe) At(origin string) (Probe, error) {
	if p.kind != ProbePath {
		return p, nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Probe{}, &ProbeError{Msg: fmt.Sprintf("%q has no http origin for the path %s", origin, p.raw), Hint: probeForms}
	}
	p.kind, p.url = ProbeHTTP, u.Scheme+"://"+u.Host+p.raw
	return p, nil
}

// With returns the probe with what its requests need: how to trust the server
// (nil: as the system does), and headers. It changes nothing for a probe that
// makes no HTTP request.
func (p Probe) With(trust *tls.Config, header http.Header) Probe {
	p.tls, p.header = trust, header
	return p
}

// Watch is what a Probe looks at while it waits.
type Watch struct {
	// Process ends the waiting when it ends; nil = there is none.
	Process *Process
	// Owned: an answer from another program than Process is an error, where
	// that is known.
	Owned bool
	// Logs are what a log probe reads; nil = the output of Process.
	Logs []*Tail
}

func (w Watch) logs() []*Tail {
	if w.Logs != nil || w.Process == nil {
		return w.Logs
	}
	if w.Process.out == nil || w.Process.out == w.Process.err {
		return []*Tail{w.Process.err}
	}
	return []*Tail{w.Process.out, w.Process.err}
}

func (w Watch) died() <-chan struct{} {
	if w.Process == nil {
		return nil
	}
	return w.Process.done
}

// NotReadyError says that a probe was not ready in time.
type NotReadyError struct {
	Probe  string
	Waited time.Duration
	Last   error // why the last look failed; nil for a log
	Cause  error // of the context
}

func (e *NotReadyError) Error() string {
	msg := fmt.Sprintf("%s is not ready after %s", e.Probe, e.Waited.Round(time.Millisecond))
	if e.Last != nil {
		msg += ": " + e.Last.Error()
	}
	return msg
}

func (e *NotReadyError) Unwrap() error { return e.Cause }

// DiedError says that the program ended before it was ready.
type DiedError struct {
	Name  string
	Probe string
	Exit  Exit
	Lines []string // the last lines it wrote, at most 20
}

func (e *DiedError) Error() string {
	msg := fmt.Sprintf("%s ended (%s) before %s was ready", e.Name, e.Exit, e.Probe)
	if len(e.Lines) > 0 {
		msg += "; its last output:\n" + strings.Join(e.Lines, "\n")
	}
	return msg
}

var (
	errNoOrigin = errors.New("the probe has a path only and no origin")
	errNoLog    = errors.New("the probe reads a log and there is none")
)

// Check looks once; nil = ready. A log probe looks at what the logs hold now.
func (p Probe) Check(ctx context.Context, logs ...*Tail) error {
	switch p.kind {
	case ProbeTCP, ProbeHTTP:
		_, err := p.ask(ctx)
		return err
	case ProbeLog:
		w := p.follow(logs)
		defer w.close()
		if len(logs) == 0 {
			return errNoLog
		}
		if !w.ready() {
			return fmt.Errorf("no line matches %s", p.re)
		}
		return nil
	}
	return errNoOrigin
}

// ask looks once over the network; it returns the address that answered.
func (p Probe) ask(ctx context.Context) (net.Addr, error) {
	if p.kind == ProbeTCP {
		return checkTCP(ctx, p.addr)
	}
	return p.checkHTTP(ctx)
}

// ForeignError says that another program than the one that was waited for
// answers at its address.
type ForeignError struct{ Probe, Owner string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is answered by %s, which is not of this run: something else owns the port", e.Probe, e.Owner)
}

const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Wait looks again and again, with pauses that grow from 10 ms to 500 ms, until
// the probe is ready (nil), ctx is done (*NotReadyError), the process of w has
// ended (*DiedError), the output that a log probe reads has (*OverError), or
// somebody else answers (*ForeignError).
func (p Probe) Wait(ctx context.Context, w Watch) error {
	if p.kind == ProbeLog {
		return p.waitLog(ctx, w)
	}
	if p.kind == 0 || p.kind == ProbePath {
		return errNoOrigin
	}
	began := time.Now()
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.Process != nil {
		go func() { // a look that hangs ends with the process
			select {
			case <-w.died():
				cancel()
			case <-alive.Done():
			}
		}()
	}
	var last error
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		addr, err := p.ask(alive)
		if err == nil {
			if owner := w.foreign(addr); owner != "" {
				return &ForeignError{p.raw, owner}
			}
			return nil
		}
		// A look that was cut short before it found anything out says less than
		// the one before it.
		if ctx.Err() == nil || last == nil || !errors.Is(err, errSilent) {
			last = err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-w.died():
			timer.Stop()
			return w.dead(p)
		case <-ctx.Done():
			timer.Stop()
			return &NotReadyError{Probe: p.raw, Waited: time.Since(began), Last: last, Cause: context.Cause(ctx)}
		}
	}
}

// foreign names the program that listens at an address when it is known not to
// be of the process; "" otherwise.
func (w Watch) foreign(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !w.Owned || w.Process == nil || !ok {
		return ""
	}
	return foreignListener(w.Process, tcp)
}

// dead makes the error for a process that ended.
func (w Watch) dead(p Probe) error {
	e := &DiedError{Name: w.Process.Name(), Probe: p.raw, Exit: w.Process.Exit()}
	for _, t := range w.logs() {
		e.Lines = append(e.Lines, t.Ends(20)...)
	}
	e.Lines = e.Lines[max(0, len(e.Lines)-20):]
	return e
}

// OverError says that a log probe looked in vain at output that has ended.
type OverError struct{ Probe string }

func (e *OverError) Error() string {
	return fmt.Sprintf("no line of its output matches %s, and its output has ended", e.Probe)
}

// over tells whether nothing more can come of any of the logs.
func (w *logWatch) over() bool {
	for _, t := range w.logs {
		if !t.Over() {
			return false
		}
	}
	return true
}

// logWatch looks for a line in several logs.
type logWatch struct {
	logs  []*Tail
	match []*lineMatch
	found chan struct{}
}

func (p Probe) follow(logs []*Tail) *logWatch {
	w := &logWatch{logs: logs, found: make(chan struct{})}
	once := new(sync.Once)
	for _, t := range logs {
		w.match = append(w.match, t.watch(p.re, once, w.found))
	}
	return w
}

func (w *logWatch) close() {
	for i, t := range w.logs {
		t.unwatch(w.match[i])
	}
}

// ready also looks at unfinished last lines.
func (w *logWatch) ready() bool {
	for i, t := range w.logs {
		t.tryRest(w.match[i])
	}
	select {
	case <-w.found:
		return true
	default:
		return false
	}
}

// ended is the error for output that has ended: of a program that has ended as
// well, or of one that closed it.
func (w Watch) ended(ctx context.Context, p Probe) error {
	if w.Process != nil && waitFor(ctx, w.Process.done, WaitDelay) {
		return w.dead(p)
	}
	return &OverError{Probe: p.raw}
}

// waitLog waits for a line; whole lines are seen as they come, an unfinished
// one at the next look.
func (p Probe) waitLog(ctx context.Context, w Watch) error {
	logs := w.logs()
	if len(logs) == 0 {
		return errNoLog
	}
	began := time.Now()
	f := p.follow(logs)
	defer f.close()
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		over := f.over() // before: what comes in between is seen
		if f.ready() {
			return nil
		}
		if over {
			return w.ended(ctx, p)
		}
		timer := time.NewTimer(pause)
		select {
		case <-f.found:
		case <-timer.C:
		case <-w.died():
			timer.Stop()
			if f.ready() {
				return nil
			}
			return w.dead(p)
		case <-ctx.Done():
			timer.Stop()
			if f.ready() {
				return nil
			}
			return &NotReadyError{Probe: p.raw, Waited: time.Since(began), Cause: context.Cause(ctx)}
		}
	}
}
