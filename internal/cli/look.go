package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"mcptest/internal/auth"
	"mcptest/internal/cmdutil"
	"mcptest/internal/connect"
	"mcptest/internal/display"
	"mcptest/internal/history"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/run"
	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// look is a session with one server, held by hand: what it says is masked and
// escaped before it is shown.
type look struct {
	s        cmdutil.Streams
	f        *targetFlags
	world    *cmdutil.World
	redactor *secret.Redactor
	palette  term.Palette
	server   *plan.Server
	sess     *mcp.Session
	shown    int            // violations that were shown
	breach   bool           // one of them is not tolerated
	greeted  bool           // those of the handshake were shown
	dialled  wire.Transport // made already, for the session to come
	collect  bool           // violations go to seen and are not shown
	seen     []protocol.Violation
	client   string       // the name to connect with; "": mcptest
	caps     jsonv.Value  // what is declared; absent: nothing
	answer   mcp.Answerer // nil: requests of the server are refused
}

// prepare resolves the target and makes what a session needs. The caller calls
// end when it is done.
func (f *targetFlags) prepare(cmd *cobra.Command, s cmdutil.Streams, argv []string) (ctx context.Context, l *look, end func(), err error) {
	l = &look{s: s, f: f, redactor: secret.NewRedactor()}
	if l.palette, err = f.palette(s); err != nil {
		return nil, nil, nil, err
	}
	if l.server, err = f.resolve(s, argv, l.redactor); err != nil {
		return nil, nil, nil, err
	}
	log, closeLog, err := openLog(s.Err, "error", l.redactor)
	if err != nil {
		return nil, nil, nil, err
	}
	l.world = cmdutil.NewWorld(s, log)
	ctx, stop := cmdutil.WatchSignals(background(cmd.Context()), s.Err, l.world.Kill)
	return ctx, l, func() {
		l.close()
		l.world.Close()
		stop()
		closeLog()
	}, nil
}

// with opens a session as opts say, calls fn, shows the violations, and ends everything
// that was started.
func (f *targetFlags) with(cmd *cobra.Command, s cmdutil.Streams, argv []string, fn func(context.Context, *look) error, opts ...func(*look)) error {
	ctx, l, end, err := f.prepare(cmd, s, argv)
	if err != nil {
		return err
	}
	for _, o := range opts {
		o(l)
	}
	return guarded(l.world, l.s.Err, func() error {
		defer end()
		if err := l.open(ctx); err != nil {
			return l.failed(ctx, "", err)
		}
		if died := l.sess.Restarted(); died != nil {
			fmt.Fprintln(s.Err, "warning: "+l.text(connect.StartedTwice(died, l.sess.Protocol())))
		}
		err := fn(ctx, l)
		l.remaining()
		return err
	})
}

// remaining shows the violations that belong to no call.
func (l *look) remaining() {
	if !l.greeted {
		l.greeted = true
		l.violations(l.sess.Handshake().Violations)
	}
	l.violations(l.sess.TakeViolations())
}

// open starts the server, or connects to it, and greets it; one that is not up
// yet is waited for as --wait-for-ready says.
func (l *look) open(ctx context.Context) error {
	if l.f.waitForReady > 0 && l.server.URL != "" {
		return connect.Retry(ctx, l.f.waitForReady, l.greet)
	}
	return l.greet(ctx)
}

func (l *look) greet(ctx context.Context) error {
	sv := l.server
	dial := func(ctx context.Context) (wire.Transport, error) { return connect.Dial(ctx, sv, l.dialOptions()) }
	t, err := l.dialled, error(nil)
	if l.dialled = nil; t == nil {
		t, err = dial(ctx)
	}
	if err != nil {
		return err
	}
	known := history.Eras(".")
	_, hint := known.Of(sv)
	l.sess, err = mcp.Open(ctx, t, mcp.Options{
		Protocol: sv.Protocol, Hint: hint, Redial: dial, Client: mcp.Implementation{Name: cmp.Or(l.client, "mcptest"), Version: cmdutil.Version()}, ConnectTimeout: sv.ConnectTimeout,
		Limits: l.f.limits.mcp(), Capabilities: l.caps, Answer: l.answer,
		Tolerate: func(kind string) bool { return sv.Tolerate[kind] },
	})
	if err == nil {
		known.Found(sv, l.sess, sv.Protocol == mcp.Auto)
		if !inCI(l.s.Env) {
			_ = history.KeepEras(".", known) // it is only a hint for the next command
		}
	}
	return err
}

func (l *look) dialOptions() connect.Options {
	return connect.Options{Registry: l.world.Registry, UserAgent: "mcptest/" + cmdutil.Version(), Secret: l.redactor.Add, Tokens: l.f.tokenFile, Limits: l.f.limits.mcp()}
}

func (l *look) close() {
	if l.dialled != nil {
		ctx, cancel := cleanupContext()
		defer cancel()
		l.dialled.Close(ctx)
	}
	if l.sess != nil {
		ctx, cancel := cleanupContext()
		defer cancel()
		l.sess.Close(ctx)
		l.sess = nil
	}
}

// do makes one request.
func (l *look) do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	ctx, cancel := mcp.WithLimit(ctx, "timeout", l.server.Timeout)
	defer cancel()
	c := mcp.Call{Method: method, ProgressToken: method == "tools/call"}
	if !params.IsAbsent() {
		c.Params = params.Append(nil)
	}
	x := l.sess.Do(ctx, c)
	l.violations(x.Violations)
	return x
}

// result makes one request and wants its result.
func (l *look) result(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
	x := l.do(ctx, method, params)
	if err := exchangeError(x); err != nil {
		return jsonv.Value{}, err
	}
	v, deep, err := x.Parse(jsonv.Options{})
	l.violations(deep)
	if err != nil {
		return jsonv.Value{}, fmt.Errorf("read the result: %w", err)
	}
	return v.Lookup("result"), nil
}

// exchangeError is why there is no result, nil when there is one.
func exchangeError(x *mcp.Exchange) error {
	if x.Cause != nil {
		return x.Cause
	}
	if e := x.RPCError(); e != nil {
		return e
	}
	return nil
}

// failed is the error of a server that did not do what it was asked, with the
// lines that help; a signal is one of its own kind.
func (l *look) failed(ctx context.Context, what string, err error) error {
	var sig *run.Interrupted
	if errors.As(context.Cause(ctx), &sig) {
		return &exitError{code: sig.Code, msg: sig.Error()}
	}
	msg, hint := err.Error(), ""
	if l.sess == nil && !errors.As(err, new(*connect.NotReadyError)) {
		msg, hint = connect.Diagnose(l.server, err)
	}
	msg = l.redactor.String(msg)
	if first, rest, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(rest, first+": ") {
		msg = rest // the phase and the request have one name
	}
	if what != "" && !strings.HasPrefix(msg, what) {
		msg = what + ": " + msg
	}
	fmt.Fprintln(l.s.Err, "mcptest: "+term.Escape(msg))
	for _, line := range l.detail(err) {
		fmt.Fprintln(l.s.Err, "  "+term.Escape(line))
	}
	if login := l.loginHint(err); login != "" {
		hint = login
	}
	if hint != "" {
		fmt.Fprintln(l.s.Err, "  hint: "+term.Escape(hint))
	}
	var late *connect.NotReadyError
	if errors.As(err, &late) {
		return &exitError{code: exitReady}
	}
	return &exitError{code: exitFailed}
}

// detail are the further lines that an error has to say, masked.
func (l *look) detail(err error) []string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if d, ok := e.(interface{ Detail() string }); ok && d.Detail() != "" {
			return strings.Split(strings.TrimRight(l.redactor.String(d.Detail()), "\n"), "\n")
		}
	}
	return nil
}

// loginHint says how to be let in, when the server refused a request without
// credentials.
func (l *look) loginHint(err error) string {
	var he *wire.HTTPError
	if !errors.As(err, &he) || he.Info.Status != http.StatusUnauthorized || l.server.Auth != nil ||
		slices.ContainsFunc(l.server.Headers, func(h plan.Header) bool { return h.Name == "Authorization" }) {
		return ""
	}
	return "mcptest login " + proc.Quote(auth.ServerKey(l.server.URL)) + " logs in; --bearer-token-env NAME sends a token you have"
}

// maxShown bounds the violations that are shown.
const maxShown = 20

// violations are shown on the error stream: looking by hand goes on after them.
func (l *look) violations(list []protocol.Violation) {
	if l.collect {
		l.seen = append(l.seen, list...)
		return
	}
	for _, v := range list {
		l.breach = l.breach || !v.Tolerated
		if l.shown++; l.shown > maxShown {
			if l.shown == maxShown+1 {
				fmt.Fprintln(l.s.Err, "violation: more violations are not shown")
			}
			continue
		}
		fmt.Fprintln(l.s.Err, "violation: "+l.text(violationText(v)))
	}
}

func violationText(v protocol.Violation) string {
	s := v.Kind + ": " + v.Msg
	if v.Excerpt != "" {
		s += ": " + v.Excerpt
	}
	if v.Tolerated {
		s += " (tolerated)"
	}
	return s
}

// text masks and escapes one line.
func (l *look) text(s string) string { return term.Escape(l.redactor.String(s)) }

// block masks and escapes a text of several lines and indents it.
func (l *look) block(indent, s string) string {
	s = term.EscapeLines(l.redactor.String(strings.TrimRight(s, "\n")))
	return indent + strings.ReplaceAll(s, "\n", "\n"+indent) + "\n"
}

// printJSON writes a value, secrets masked and what a terminal would hide or
// obey written as \u escapes, which changes nothing for a reader of JSON.
func (l *look) printJSON(w io.Writer, v jsonv.Value) error {
	_, err := io.WriteString(w, l.jsonText("", v)+"\n")
	return err
}

func (l *look) jsonText(prefix string, v jsonv.Value) string {
	plain := v.Indent(prefix, "  ")
	masked := l.redactor.Bytes(plain)
	if jsonv.Valid(masked) != nil {
		masked = l.maskLeaves(v).Indent(prefix, "  ")
	}
	return asciiSafe(string(masked))
}

// maskLeaves masks the scalars of a value one by one: a mask in place of a
// number would not be JSON.
func (l *look) maskLeaves(v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(l.redactor.String(v.Text()))
	case jsonv.KindNumber:
		if s := l.redactor.String(v.Literal()); s != v.Literal() {
			return jsonv.String(s)
		}
	case jsonv.KindArray:
		var out []jsonv.Value
		for _, e := range v.Elems() {
			out = append(out, l.maskLeaves(e))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out []jsonv.Member
		for k, e := range v.Members() {
			out = append(out, jsonv.Member{Key: l.redactor.String(k), Value: l.maskLeaves(e)})
		}
		return jsonv.Object(out...)
	}
	return v
}

// asciiSafe writes invisible characters of a JSON text as \u escapes. Outside
// of strings JSON has none but line feeds.
func asciiSafe(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r != utf8.RuneError && !display.Hidden(r):
			b.WriteRune(r)
		case r == utf8.RuneError:
			b.WriteString(s[i : i+runeLen(s[i:])])
		default:
			b.Write(display.AppendJSONEscape(nil, r))
		}
	}
	return b.String()
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
