package cli

import (
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
	"mcptest/internal/inspect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/plan"
	"mcptest/internal/run"
	"mcptest/internal/secret"
	"mcptest/internal/shellwords"
	"mcptest/internal/term"
)

// viewer shows what one server answers: masked, and escaped for the terminal.
type viewer struct {
	s        cmdutil.Streams
	f        *targetFlags
	world    *cmdutil.World
	redactor *secret.Redactor
	palette  term.Palette
	server   *plan.Server
	conn     *inspect.Conn
	shown    int // violations that were shown
}

// prepare resolves the target and makes what a connection needs, with options
// that opts change. The caller calls end when it is done.
func (f *targetFlags) prepare(cmd *cobra.Command, s cmdutil.Streams, argv []string, opts ...func(*inspect.Options)) (ctx context.Context, l *viewer, end func(), err error) {
	l = &viewer{s: s, f: f, redactor: secret.NewRedactor()}
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
	o := inspect.Options{
		Server: l.server, Client: mcp.Implementation{Name: "mcptest", Version: cmdutil.Version()}, WaitForReady: f.waitForReady,
		Connect: connect.Options{
			Registry: l.world.Registry, UserAgent: "mcptest/" + cmdutil.Version(), Secret: l.redactor.Add, Tokens: f.tokenFile, Limits: f.limits.mcp(),
		},
		Eras: history.Eras("."), Violations: l.violations,
	}
	for _, change := range opts {
		change(&o)
	}
	l.conn = inspect.New(o)
	ctx, stop := cmdutil.WatchSignals(background(cmd.Context()), s.Err, l.world.Kill)
	return ctx, l, func() {
		l.conn.Close()
		if !inCI(s.Env) {
			_ = history.KeepEras(".", o.Eras) // it is only a hint for the next command
		}
		l.world.Close()
		stop()
		closeLog()
	}, nil
}

// with opens a session, calls fn, shows the violations, and ends everything
// that was started.
func (f *targetFlags) with(cmd *cobra.Command, s cmdutil.Streams, argv []string, fn func(context.Context, *viewer) error, opts ...func(*inspect.Options)) error {
	ctx, l, end, err := f.prepare(cmd, s, argv, opts...)
	if err != nil {
		return err
	}
	return guarded(l.world, l.s.Err, func() error {
		defer end()
		if err := l.conn.Open(ctx); err != nil {
			return l.failed(ctx, "", err)
		}
		if died := l.conn.Session().Restarted(); died != nil {
			fmt.Fprintln(s.Err, "warning: "+l.text(connect.StartedTwice(died, l.conn.Session().Protocol())))
		}
		err := fn(ctx, l)
		l.conn.ReportRemaining()
		return err
	})
}

// failed is the error of a server that did not do what it was asked, with the
// lines that help; after a signal it is the error of the signal.
func (l *viewer) failed(ctx context.Context, what string, err error) error {
	var sig *run.Interrupted
	if errors.As(context.Cause(ctx), &sig) {
		return &exitError{code: sig.Code, msg: sig.Error()}
	}
	msg, hint := err.Error(), ""
	if l.conn.Session() == nil && !errors.As(err, new(*connect.NotReadyError)) {
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

// detail are the further lines of an error, masked.
func (l *viewer) detail(err error) (lines []string) {
	for _, line := range inspect.Detail(err) {
		lines = append(lines, l.redactor.String(line))
	}
	return lines
}

// loginHint says how to authorize, when the server refused a request without
// credentials.
func (l *viewer) loginHint(err error) string {
	var he *wire.HTTPError
	if !errors.As(err, &he) || he.Info.Status != http.StatusUnauthorized || l.server.Auth != nil ||
		slices.ContainsFunc(l.server.Headers, func(h plan.Header) bool { return h.Name == "Authorization" }) {
		return ""
	}
	return "mcptest login " + shellwords.Quote(auth.ServerKey(l.server.URL)) + " logs in; --bearer-token-env NAME sends a token you have"
}

// maxShown bounds the violations that are shown.
const maxShown = 20

// violations are shown on the error stream: the command continues after them.
func (l *viewer) violations(list []protocol.Violation) {
	for _, v := range list {
		if l.shown++; l.shown > maxShown {
			if l.shown == maxShown+1 {
				fmt.Fprintln(l.s.Err, "violation: more violations are not shown")
			}
			continue
		}
		fmt.Fprintln(l.s.Err, "violation: "+l.text(inspect.ViolationText(v)))
	}
}

// text masks and escapes one line.
func (l *viewer) text(s string) string { return term.Escape(l.redactor.String(s)) }

// block masks and escapes a text of several lines and indents it.
func (l *viewer) block(indent, s string) string {
	s = term.EscapeLines(l.redactor.String(strings.TrimRight(s, "\n")))
	return indent + strings.ReplaceAll(s, "\n", "\n"+indent) + "\n"
}

// printJSON writes a value, secrets masked and what a terminal would hide or
// obey written as \u escapes, which changes nothing for a reader of JSON.
func (l *viewer) printJSON(w io.Writer, v jsonv.Value) error {
	_, err := io.WriteString(w, l.jsonText("", v)+"\n")
	return err
}

func (l *viewer) jsonText(prefix string, v jsonv.Value) string {
	plain := v.Indent(prefix, "  ")
	masked := l.redactor.Bytes(plain)
	if jsonv.Valid(masked) != nil {
		masked = l.maskLeaves(v).Indent(prefix, "  ")
	}
	return asciiSafe(string(masked))
}

// maskLeaves masks the scalars of a value one by one: a mask in place of a
// number would not be JSON.
func (l *viewer) maskLeaves(v jsonv.Value) jsonv.Value {
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
			b.WriteByte(s[i]) // each byte that is not UTF-8 is one
		default:
			b.Write(display.AppendJSONEscape(nil, r))
		}
	}
	return b.String()
}
