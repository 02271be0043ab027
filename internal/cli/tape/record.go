package tape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/clientconfig"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/tee"
)

// recordFlags are the flags of `mcptest record`.
type recordFlags struct {
	output, http, url, transport, into string
	volatile                           []string
	undo, quiet, allowInCI             bool
}

// NewRecordCmd returns the command `mcptest record`.
func NewRecordCmd(s cmdutil.Streams) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record [-o FILE] (-- command args… | --http ADDR --url URL | --into CLIENT NAME)",
		Short: "Record what passes between a client and a server",
		Long: `Forward all messages between a real client and a server unchanged, and record them in a cassette.

With a command after --, the client starts mcptest in place of the server: standard input, output and error,
signals and the exit code are passed on. A server that ignores the end of its input is ended when it has responded to all
requests and written nothing for 2 s, or when it has written nothing for 5 min. With --http, mcptest is a reverse proxy for the server at --url.
--into changes the configuration of a client so that it starts the server called NAME through mcptest. A backup is
kept next to the file; --undo restores it. Servers with an address are recorded with --http.

Secrets are masked before anything is written, in both directions. If FILE is a folder (--into always uses one),
each start of the server gets a separate file. If recording fails, the exchange continues. While it is recorded, the
cassette is called FILE.partial; an existing FILE is replaced at the end, if the server sent something.

Exit codes: that of the server (128 + the number of a signal); 2 invalid command line, configuration or output, or
an incomplete recording; 5 refused because CI is set.`,
		Example: `  mcptest record -o bug.cassette.ndjson -- node dist/server.js
  mcptest record --http 8090 --url https://mcp.example.com/mcp
  mcptest record --into claude-desktop github
  mcptest record --into claude-desktop github --undo`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, s) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "cassette `file` to write, or a folder (default recording"+cassette.Suffix+", or a number is added)")
	fl.StringVar(&f.http, "http", "", "listen on `ADDR` (a port, or host:port; loopback unless a host is given)")
	fl.StringVar(&f.url, "url", "", "server at this `address` (http or https), with --http")
	fl.StringVar(&f.transport, "transport", cassette.StreamableHTTP, "HTTP transport of the server: streamable-http or sse")
	fl.StringVar(&f.into, "into", "", "start the server NAME of this `CLIENT` through mcptest: "+strings.Join(clientconfig.Clients(), ", "))
	fl.BoolVar(&f.undo, "undo", false, "with --into: start the server directly again")
	addVolatileFlag(cmd, &f.volatile)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing at the end")
	fl.BoolVar(&f.allowInCI, "allow-update-in-ci", false, "record even if CI is set")
	return cmd
}

func (f *recordFlags) run(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	var t option.TargetFlags
	limit := 0
	if f.into != "" {
		limit = 1
	}
	own, argv, err := t.Split(cmd, args, limit)
	if err != nil {
		return err
	}
	switch {
	case f.into != "" && (len(argv) > 0 || f.http != "" || f.url != ""):
		return option.Invalid("--into takes the server from the configuration of the client: leave out --http, --url and the command")
	case f.into != "" && len(own) == 0:
		return option.Invalid("--into requires the NAME of a server in the configuration of the client")
	case f.into != "" && f.undo:
		return f.configure(s, own[0])
	case f.undo:
		return option.Invalid("--undo requires --into CLIENT NAME")
	case f.into != "":
	case (f.http == "") != (f.url == ""):
		return option.Invalid("--http ADDR and --url URL require each other")
	case (len(argv) > 0) == (f.url != ""):
		return option.Invalid("expected exactly one server: -- command args…, or --http ADDR --url URL")
	case f.transport != cassette.StreamableHTTP && f.transport != cassette.HTTPSSE:
		return option.Invalid("--transport: expected streamable-http or sse, got %q", f.transport)
	}
	if err := cassette.CheckVolatile(f.volatile); err != nil {
		return option.Invalid("%v", err)
	}
	if err := option.AllowUpdate(s.Env, f.allowInCI, "nothing is recorded", "mcptest record"); err != nil {
		return err
	}
	if f.into != "" {
		return f.configure(s, own[0])
	}
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	if f.url != "" {
		return f.recordProxy(cmd, s, redactor)
	}
	return f.recordStdio(s, argv, redactor)
}

// recording is a cassette that is being written.
type recording struct {
	path   string
	w      *cassette.Writer
	tap    *tee.Tap
	frames int
	binary int
}

// findUnusedName returns the default name, with a number if it is taken.
func findUnusedName() string {
	for n := 1; ; n++ {
		name := "recording" + cassette.Suffix
		if n > 1 {
			name = fmt.Sprintf("recording-%d%s", n, cassette.Suffix)
		}
		if !exists(name) && !exists(name+cassette.PartialSuffix) {
			return name
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// begin creates the cassette.
func (f *recordFlags) begin(h cassette.Header, redactor *secret.Redactor) (*recording, error) {
	r := &recording{path: f.output}
	if r.path == "" {
		r.path = findUnusedName()
	}
	info, err := os.Stat(r.path)
	isFolder := err == nil && info.IsDir()
	if isFolder || os.IsPathSeparator(r.path[len(r.path)-1]) {
		if err := os.MkdirAll(r.path, 0o700); err != nil {
			return nil, option.Invalid("--output: %v", err)
		}
		name := fmt.Sprintf("%s-%d%s", time.Now().Format("20060102-150405"), os.Getpid(), cassette.Suffix)
		r.path = filepath.ToSlash(filepath.Join(r.path, name))
	}
	h.Program, h.Volatile = "mcptest "+cmdutil.Version(), f.volatile
	w, err := cassette.Create(r.path, h, redactor)
	for f.output == "" && errors.Is(err, cassette.ErrBusy) { // it took the name in the meantime
		r.path = findUnusedName()
		w, err = cassette.Create(r.path, h, redactor)
	}
	if err != nil {
		return nil, option.Invalid("--output: %v", err)
	}
	r.w = w
	r.tap = tee.NewTap(r.record)
	return r, nil
}

// record writes one frame.
func (r *recording) record(x cassette.Frame) error {
	if x.Dir != "" && x.Data != nil {
		r.frames++
		if s := string(x.Data); strings.Contains(s, `"blob":`) || strings.Contains(s, `"type":"image"`) || strings.Contains(s, `"type":"audio"`) {
			r.binary++
		}
	}
	return r.w.Write(x)
}

// end closes the cassette and prints a summary. It reports whether the recording is
// complete.
func (r *recording) end(stderr io.Writer, quiet bool) bool {
	lost, err := r.tap.Close()
	closing := r.w.Close()
	if err == nil {
		err = closing
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(stderr, "mcptest: "+term.Escape(fmt.Sprintf(format, args...)))
	}
	unsaved := r.w.ExplainUnsaved()
	switch {
	case err != nil:
		say("warning: the recording in %s is not complete: %v", r.path, err)
	case lost > 0:
		say("warning: the recording in %s is not complete: %s came faster than they could be written", r.path, display.Count(lost, "piece"))
	case unsaved != "":
		say("%s", unsaved)
	case !quiet:
		say("recorded %s in %s", display.Count(r.frames, "message"), r.path)
	}
	if r.binary > 0 {
		say("warning: %s may contain binary data, in which secrets are not recognized: look at it before you share %s", display.Count(r.binary, "message"), r.path)
	}
	return err == nil && lost == 0
}

// recordStdio is the proxy in front of a process.
func (f *recordFlags) recordStdio(s cmdutil.Streams, argv []string, redactor *secret.Redactor) error {
	redactor.Add(secret.Arguments(argv)...)
	server, err := f.makeProgram(s, argv)
	if err != nil {
		return err
	}
	log, closeLog, err := option.OpenLog(s.Err, "error", redactor)
	if err != nil {
		return err
	}
	defer closeLog()
	r, err := f.begin(cassette.Header{Transport: cassette.Stdio, Server: cassette.Server{Command: argv}}, redactor)
	if err != nil {
		return err
	}
	r.w.Session()
	world := cmdutil.NewWorld(s, log)
	server.Registry = world.Registry
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, cmdutil.Signals()...)
	pipe := make(chan os.Signal, 1) // never read: a write to a closed pipe must return an error
	signal.Notify(pipe, syscall.SIGPIPE)
	st, err := tee.Stdio{
		Server:  server,
		In:      s.Client(),
		Out:     s.Out,
		Err:     s.Err,
		Signals: signals,
		Tap:     r.tap,
	}.Run(context.Background())
	if st.How == proc.ByTerm || st.How == proc.ByKill {
		fmt.Fprintf(s.Err, "mcptest: the server did not exit after the end of its input: it was ended with %s\n", st.How)
	}
	complete := r.end(s.Err, f.quiet || err != nil)
	world.Close()
	if err != nil {
		return option.Fail(option.ExitFailed, "%v", err)
	}
	if code := exitCode(st.Exit); code != 0 {
		return &option.ExitError{Code: code}
	}
	return explainIncomplete(complete)
}

// makeProgram returns what is started: the command, or the bundle that it names.
func (f *recordFlags) makeProgram(s cmdutil.Streams, argv []string) (proc.Spec, error) {
	p, err := option.BundleProgram(s, argv)
	if err != nil {
		return proc.Spec{}, err
	}
	if p != nil {
		env := slices.Concat(s.Env, p.Env)
		return proc.Spec{Name: argv[0], Argv: p.Argv, Env: env, Dir: p.Dir, Prepare: option.Prepare(p)}, nil
	}
	if argv[0] == "mcptest" && s.Self != "" {
		argv = append([]string{s.Self}, argv[1:]...) // as in a suite
	}
	return proc.Spec{Argv: argv, Env: s.Env}, nil
}

// explainIncomplete returns the error for a recording that is not complete; its warning was
// printed.
func explainIncomplete(complete bool) error {
	if complete {
		return nil
	}
	return &option.ExitError{Code: option.ExitInvalid}
}

// exitCode returns the exit code of a server like a shell.
func exitCode(e proc.Exit) int {
	if e.Signal == "" {
		return max(e.Code, 0)
	}
	for n := 1; n < 64; n++ {
		if syscall.Signal(n).String() == e.Signal {
			return 128 + n
		}
	}
	return 128
}

// recordProxy runs the reverse proxy in front of an address.
func (f *recordFlags) recordProxy(cmd *cobra.Command, s cmdutil.Streams, redactor *secret.Redactor) error {
	target, err := option.HTTPURL("--url", f.url, redactor)
	if err != nil {
		return err
	}
	if password, ok := target.User.Password(); ok {
		redactor.Add(password)
	}
	shown := url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path}
	r, err := f.begin(cassette.Header{Transport: f.transport, Server: cassette.Server{URL: shown.String()}}, redactor)
	if err != nil {
		return err
	}
	ctx, stop := cmdutil.WatchSignals(cmd.Context(), s.Err, s.Exit)
	defer stop()
	failed := func(err error) {
		fmt.Fprintln(s.Err, "mcptest: warning: "+term.Escape(redactor.String(err.Error())))
	}
	err = tee.NewProxy(target, f.transport == cassette.HTTPSSE, r.tap, failed).Listen(ctx, f.http, func(u string) {
		fmt.Fprintf(s.Err, "mcptest: recording %s: connect the client to %s; Ctrl-C ends\n", shown.String(), u)
	})
	complete := r.end(s.Err, f.quiet)
	if err != nil {
		return option.Invalid("--http: %v", err)
	}
	return explainIncomplete(complete)
}
