package option

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"mcptest/internal/process/proc"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/history"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// Viewer prints the responses of one server: masked, and escaped for the terminal.
type Viewer struct {
	Streams  cmdutil.Streams
	Flags    *TargetFlags
	World    *cmdutil.World
	Redactor *secret.Redactor
	Palette  term.Palette
	Server   *plan.Server
	Conn     *inspect.Conn
	// Status is the line that says what the command waits for; nil in CI. Phase begins it,
	// and keeps it between requests, so that nothing may be printed.
	Status *term.Status
	Phase  string
	// Single is the hint of this command for a server that refuses a second session.
	Single string
	began  time.Time
	shown  int // number of printed violations
	o      inspect.Options
}

// Prepare resolves the target and prepares a connection, with options that opts
// modify. The caller must call end.
func (f *TargetFlags) Prepare(
	cmd *cobra.Command, s cmdutil.Streams, argv []string, opts ...func(*inspect.Options),
) (ctx context.Context, l *Viewer, end func(), err error) {
	l = &Viewer{Streams: s, Flags: f, Redactor: secret.NewRedactor(), began: time.Now()}
	if !cmdutil.IsInCI(s.Env) {
		l.Status = term.NewStatus(s.Err, s.Env)
	}
	if l.Palette, err = f.Palette(s); err != nil {
		return nil, nil, nil, err
	}
	if l.Server, err = f.Resolve(s, argv, l.Redactor); err != nil {
		return nil, nil, nil, err
	}
	shared, err := f.Share(cmd, s, l.Redactor)
	if err != nil {
		return nil, nil, nil, err
	}
	l.World = shared.World
	o := shared.Options(l.Server)
	o.Violations, o.Doing = l.printViolations, l.beginDoing
	for _, change := range opts {
		change(&o)
	}
	l.Conn, l.o = inspect.New(o), o
	return shared.Context, l, func() {
		l.Conn.Close()
		shared.Close()
	}, nil
}

// Shared is what the sessions of a command have in common.
type Shared struct {
	Context context.Context // canceled by a signal
	World   *cmdutil.World
	Close   func() // ends all processes
	options inspect.Options
}

// Options returns how to connect to a server.
func (c *Shared) Options(sv *plan.Server) inspect.Options {
	o := c.options
	o.Server, o.Client = sv, connect.ClientOf(sv, makeOwnName())
	return o
}

// Share prepares connections. The caller must close what it returns.
func (f *TargetFlags) Share(
	cmd *cobra.Command, s cmdutil.Streams, redactor *secret.Redactor,
) (*Shared, error) {
	f.tokenFile, f.lost = TokenPath(f.tokenFile, s)
	log, closeLog, err := OpenLog(s.Err, "error", redactor)
	if err != nil {
		return nil, err
	}
	world := cmdutil.NewWorld(s, log)
	o := inspect.Options{
		WaitForReady: f.waitForReady,
		Connect: connect.Options{
			Registry:  world.Registry,
			UserAgent: "mcptest/" + cmdutil.Version(),
			Secret:    redactor.Add,
			Tokens:    f.tokenFile,
			Limits:    f.limits.Wire(),
			Logins:    connect.NewLogins(),
			Sessions:  f.sessions,
		},
		Eras: history.LoadEras("."),
	}
	ctx, stop := cmdutil.WatchSignals(cmd.Context(), s.Err, world.Kill)
	return &Shared{ctx, world, func() {
		if !cmdutil.IsInCI(s.Env) {
			_ = history.KeepEras(".", o.Eras) // only a hint for the next command
		}
		world.Close()
		stop()
		closeLog()
	}, o}, nil
}

// makeOwnName is what mcptest calls itself.
func makeOwnName() mcp.Implementation {
	return mcp.Implementation{Name: "mcptest", Version: cmdutil.Version()}
}

// Of returns a viewer of another server of the same suite.
func (l *Viewer) Of(name string) (*Viewer, error) {
	other, flags := *l, *l.Flags
	flags.Server = name
	sv, err := flags.OfSuite(l.Streams, l.Redactor)
	other.Flags, other.Server, other.o.Server = &flags, sv, sv
	if err != nil {
		return nil, err
	}
	other.o.Client = connect.ClientOf(sv, makeOwnName())
	other.o.Violations, other.o.Doing = other.printViolations, other.beginDoing
	other.Conn = inspect.New(other.o)
	return &other, nil
}

// With opens a session, calls fn, prints the violations, and ends all started
// processes.
func (f *TargetFlags) With(
	cmd *cobra.Command, s cmdutil.Streams, argv []string,
	fn func(context.Context, *Viewer) error, opts ...func(*inspect.Options),
) error {
	ctx, l, end, err := f.Prepare(cmd, s, argv, opts...)
	if err != nil {
		return err
	}
	return Guarded(l.World, l.Streams.Err, func() error {
		defer end()
		if err := l.Conn.Open(ctx); err != nil {
			return l.Failed(ctx, "", err)
		}
		if died := l.Conn.Session().Restarted(); died != nil {
			fmt.Fprintln(s.Err, "warning: "+l.Text(connect.ExplainSecondStart(died, l.Conn.Session().Protocol())))
		}
		err := fn(ctx, l)
		l.Conn.ReportRemaining()
		return err
	})
}

// beginDoing shows on a terminal what the command waits for, with the seconds since it began.
func (l *Viewer) beginDoing(what string) (done func()) {
	if !l.Status.Live() {
		return func() {}
	}
	tick := time.NewTicker(time.Second)
	stop := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		for ended := false; !ended; {
			l.Status.Set(fmt.Sprintf("%s%s · %.0f s", l.Phase, l.Text(what), time.Since(l.began).Seconds()))
			select {
			case <-tick.C:
			case <-stop:
				ended = true
			}
		}
	})
	return func() {
		tick.Stop()
		close(stop)
		shown.Wait()
		if l.Phase == "" {
			l.Status.Clear()
		}
	}
}

// Failed returns the error of a failed request to a server, with helpful details;
// after a signal it returns that of the signal.
func (l *Viewer) Failed(ctx context.Context, what string, err error) error {
	l.Status.Clear()
	if sig, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx)); ok {
		return &ExitError{Code: sig.Code, Message: sig.Error()}
	}
	msg, hint := err.Error(), ""
	if l.Conn.Session() == nil && !errors.As(err, new(*connect.NotReadyError)) {
		msg, hint = connect.Diagnose(l.Server, err)
	}
	msg = l.Redactor.String(msg)
	if first, rest, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(rest, first+": ") {
		msg = rest // the phase and the request have the same name
	}
	if what != "" && !strings.HasPrefix(msg, what) {
		msg = what + ": " + msg
	}
	fmt.Fprintln(l.Streams.Err, "mcptest: "+term.Escape(msg))
	for _, line := range l.listDetails(err) {
		fmt.Fprintln(l.Streams.Err, "  "+term.Escape(line))
	}
	if sess := l.Conn.Session(); sess != nil {
		if also := strings.TrimPrefix(sess.Also(err), "; "); also != "" {
			fmt.Fprintln(l.Streams.Err, "  "+l.Text(also))
		}
	}
	if login := l.loginHint(err); login != "" {
		hint = login
	}
	if errors.As(err, new(*connect.SecondError)) {
		hint = cmp.Or(l.Single, "if it can have one client only, restart it before this command, which opens several sessions; better, "+connect.OwnTransport)
	}
	if hint != "" {
		fmt.Fprintln(l.Streams.Err, "  hint: "+term.Escape(hint))
	}
	if _, ok := errors.AsType[*connect.NotReadyError](err); ok {
		return &ExitError{Code: ExitReady}
	}
	return &ExitError{Code: ExitFailed}
}

// listDetails returns further lines of an error, masked.
func (l *Viewer) listDetails(err error) (lines []string) {
	for _, line := range inspect.Detail(err) {
		lines = append(lines, l.Redactor.String(line))
	}
	return lines
}

// loginHint returns a hint on how to authorize if the server rejected a request
// without credentials.
func (l *Viewer) loginHint(err error) string {
	if !connect.RefusedAnonymous(l.Server, err) {
		return ""
	}
	return l.LoginHint()
}

// maxShown limits the printed violations.
const maxShown = 20

// printViolations prints violations to the error stream; the command continues.
func (l *Viewer) printViolations(list []protocol.Violation) {
	l.Status.Clear()
	for _, v := range list {
		l.shown++
		if l.shown > maxShown {
			if l.shown == maxShown+1 {
				fmt.Fprintln(l.Streams.Err, "violation: more violations are not shown")
			}
			continue
		}
		fmt.Fprintln(l.Streams.Err, "violation: "+l.Text(inspect.FormatViolation(v)))
	}
}

// Connect returns how the transport of the server is opened.
func (l *Viewer) Connect() connect.Options { return l.o.Connect }

// Again opens another session as the viewer did, and ends it.
func (l *Viewer) Again(ctx context.Context) error {
	o := l.o
	o.Doing, o.Violations, o.Watch = nil, nil, nil
	c := inspect.New(o)
	defer c.Close()
	return c.Open(ctx)
}

// LoginHint says how to pass credentials to the server.
func (l *Viewer) LoginHint() string {
	login := "mcptest login " + shellwords.QuoteForShell(auth.MakeServerKey(l.Server.URL)) + " logs in"
	return l.Redactor.String(login) + "; --bearer-token-env NAME sends a token you have"
}

// Text masks and escapes one line.
func (l *Viewer) Text(s string) string { return term.Escape(l.Redactor.String(s)) }

// Block masks and escapes a text of several lines and indents it.
func (l *Viewer) Block(indent, s string) string {
	s = term.EscapeLines(l.Redactor.String(strings.TrimRight(s, "\n")))
	return indent + strings.ReplaceAll(s, "\n", "\n"+indent) + "\n"
}

// PrintJSON prints a value with secrets masked. It writes control and invisible
// characters as \u escapes, which are equivalent in JSON.
func (l *Viewer) PrintJSON(w io.Writer, v jsonv.Value) error {
	_, err := io.WriteString(w, l.JSONText("", v)+"\n")
	return err
}

// JSONText returns v as indented JSON, masked; lines after the first start with
// prefix.
func (l *Viewer) JSONText(prefix string, v jsonv.Value) string {
	plain := v.Indent(prefix, "  ")
	masked := l.Redactor.Bytes(plain)
	if jsonv.Valid(masked) != nil {
		masked = l.maskLeaves(v).Indent(prefix, "  ")
	}
	return display.JSON(string(masked))
}

// maskLeaves masks the scalars of a value one by one, because replacing a number with
// a mask would make the JSON invalid.
func (l *Viewer) maskLeaves(v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(l.Redactor.String(v.Text()))
	case jsonv.KindNumber:
		if s := l.Redactor.String(v.Literal()); s != v.Literal() {
			return jsonv.String(s)
		}
	}
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		return l.Redactor.String(k), l.maskLeaves(e)
	})
}
