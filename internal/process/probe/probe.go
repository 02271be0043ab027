package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

// Kind is the kind of a Probe.
type Kind uint8

// The kinds of probes.
const (
	TCP Kind = iota + 1
	HTTP
	Path // a path; At adds the origin
	Log
)

// Probe checks whether something is ready. The zero value means no probe.
type Probe struct {
	kind Kind
	raw  string
	addr string         // tcp
	url  string         // http
	re   *regexp.Regexp // log

	ofServer bool        // http: the address of an MCP server
	tls      *tls.Config // http; nil: the system's authorities
	header   http.Header // http
}

// Error explains why a text is not a probe.
type Error struct{ Msg, Hint string }

func (e *Error) Error() string { return e.Msg }

const probeForms = "write tcp://host:port, http://…, https://…, /path or log:/regex/"

// Parse parses `tcp://host:port`, `http://…`, `https://…`, `/path` or `log:/regex/`
// (RE2). The error is an *Error.
func Parse(s string) (Probe, error) {
	p := Probe{raw: s}
	bad := func(format string, args ...any) (Probe, error) {
		return Probe{}, &Error{Msg: fmt.Sprintf(format, args...), Hint: probeForms}
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
		p.kind, p.re = Log, re
	case strings.HasPrefix(s, "tcp://"):
		host, port, err := net.SplitHostPort(s[len("tcp://"):])
		if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
			return bad("%q is not tcp://host:port", s)
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return bad("%q is not a port from 1 to 65535", port)
		}
		p.kind, p.addr = TCP, net.JoinHostPort(host, port)
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			return bad("%q is not a URL", s)
		}
		u.Fragment = ""
		p.kind, p.url = HTTP, u.String()
	case strings.HasPrefix(s, "/"):
		if _, err := url.ParseRequestURI(s); err != nil || strings.HasPrefix(s, "//") {
			return bad("%q is not a path of a URL", s)
		}
		p.kind = Path
	default:
		return bad("%q is not a probe", s)
	}
	return p, nil
}

// String returns the probe as written.
func (p Probe) String() string { return p.raw }

// Kind returns the kind of the probe; 0 for the zero Probe.
func (p Probe) Kind() Kind { return p.kind }

// Absolute reports whether the probe contains an address (tcp://, http://, https://).
// It must not succeed before the program has been started; otherwise another program
// uses the port.
func (p Probe) Absolute() bool { return p.kind == TCP || p.kind == HTTP }

// At adds the path of a Path probe to an origin such as http://127.0.0.1:8080, whose
// path is ignored. Other probes are returned unchanged.
func (p Probe) At(origin string) (Probe, error) {
	if p.kind != Path {
		return p, nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Probe{}, &Error{Msg: fmt.Sprintf("%q has no http origin for the path %s", origin, p.raw), Hint: probeForms}
	}
	p.kind, p.url = HTTP, u.Scheme+"://"+u.Host+p.raw
	return p, nil
}

// AtServers returns the probe with the addresses of MCP servers. On one of these, any
// status below 500 is ready, because a server may refuse a request that is no message.
func (p Probe) AtServers(addresses ...string) Probe {
	p.ofServer = p.kind == HTTP && slices.ContainsFunc(addresses, func(a string) bool { return sameAddress(a, p.url) })
	return p
}

// OfServer reports whether the address of the probe is that of an MCP server.
func (p Probe) OfServer() bool { return p.ofServer }

// sameAddress reports whether two addresses have the same scheme, host, port and path.
func sameAddress(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	if err != nil || x.Scheme != y.Scheme {
		return false
	}
	if !strings.EqualFold(x.Hostname(), y.Hostname()) || portOf(x) != portOf(y) {
		return false
	}
	return cmp.Or(x.EscapedPath(), "/") == cmp.Or(y.EscapedPath(), "/")
}

func portOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// With returns the probe with the TLS configuration (nil: the system's) and the
// headers of its requests. It has no effect on a probe without HTTP.
func (p Probe) With(trust *tls.Config, header http.Header) Probe {
	p.tls, p.header = trust, header
	return p
}

// NotReadyError reports that a probe was not ready in time.
type NotReadyError struct {
	Probe  string
	Waited time.Duration
	Last   error // error of the last check; nil for a log
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

// DiedError reports that the program ended before it was ready.
type DiedError struct {
	Name  string
	Probe string
	Exit  proc.Exit
	Lines []string // its last lines of output, at most 20
}

func (e *DiedError) Error() string {
	msg := fmt.Sprintf("%s ended (%s) before %s was ready", e.Name, e.Exit, e.Probe)
	if len(e.Lines) > 0 {
		msg += "; its last output:\n" + strings.Join(e.Lines, "\n")
	}
	return msg
}

// NoMatchError reports that output ended without a line that a log probe matches.
type NoMatchError struct{ Probe string }

func (e *NoMatchError) Error() string {
	return fmt.Sprintf("no line of its output matches %s, and its output has ended", e.Probe)
}

var (
	errNoOrigin = errors.New("the probe has a path only and no origin")
	errNoLog    = errors.New("the probe reads a log and there is none")
)

// Check checks once; nil means ready. A log probe checks the current content of logs.
func (p Probe) Check(ctx context.Context, logs ...*tail.Tail) error {
	switch p.kind {
	case TCP, HTTP:
		_, err := p.ask(ctx)
		return err
	case Log:
		w := tail.WatchLines(p.re, logs)
		defer w.Close()
		if len(logs) == 0 {
			return errNoLog
		}
		if !w.Ready() {
			return fmt.Errorf("no line matches %s", p.re)
		}
		return nil
	}
	return errNoOrigin
}

// ask checks once over the network and returns the address that responded.
func (p Probe) ask(ctx context.Context) (net.Addr, error) {
	if p.kind == TCP {
		return checkTCP(ctx, p.addr)
	}
	return p.checkHTTP(ctx)
}

// ForeignError reports that another program responds at the probe's address.
type ForeignError struct{ Probe, Owner string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is answered by %s, which does not belong to this run: another process uses the port", e.Probe, e.Owner)
}
