package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/draft"
	"mcptest/internal/history"
	"mcptest/internal/inspect"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/plan"
	"mcptest/internal/report"
	"mcptest/internal/source"
	"mcptest/internal/term"
)

// initFlags are the flags of `mcptest init`.
type initFlags struct {
	command                  string
	url                      string
	headers                  []string
	bearerEnv                string
	caFile                   string
	insecure                 bool
	transport, protocol      string
	env                      []string
	call                     []string
	output, name             string
	force                    bool
	timeout, connectTimeout  time.Duration
	color                    string
	secretVars               []string // name=value of what was given as a value and is not written
	secretNames, secretWords []string // the same, apart
	secretNotes              []string // the names, and what each stands for
}

func newInitCmd(s cmdutil.Streams) *cobra.Command {
	f := initFlags{}
	cmd := &cobra.Command{
		Use:   "init (--command LINE | --url URL | -- command args…)",
		Short: "Write a first suite for a running server",
		Long: `Write a first suite for a server: list its tools, resources and prompts, try
those that are safe to try, and write assertions that expect the observed
responses. These are marked "review", because an observed response is not
necessarily correct. Values that change between calls, look like a time or an id,
or name a directory of this machine are matched loosely; secrets are not written.
The suite is run before the command exits, so it passes as written.

Only tools that are annotated read-only are called; --call NAME calls another
one, --call '*' all of them. Tools that are not called are written as skipped
tests. The server is started or connected to several times, with the environment
that a suite gives it; --env passes more variables.

Exit codes: 0 the suite was written, 1 the server did not respond, 2 invalid
command line, or the file already exists.`,
		Example: `  mcptest init -- npx -y @modelcontextprotocol/server-everything
  mcptest init -o tests/github.mcptest.yaml --env GITHUB_TOKEN -- github-mcp-server stdio
  mcptest init --url https://mcp.example.com/mcp --bearer-token-env TOKEN`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, s) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.command, "command", "", "the server's command as one `line`, split as in a suite (the same as after --)")
	fl.StringVar(&f.url, "url", "", "server at this `address` (http or https)")
	fl.StringArrayVarP(&f.headers, "header", "H", nil, "send this HTTP header, as in `'Name: value'`; the suite takes the value from the environment")
	fl.StringVar(&f.bearerEnv, "bearer-token-env", "", "send the bearer token in this environment `variable`")
	fl.StringVar(&f.caFile, "ca-file", "", "also trust the certificate authorities in this PEM `file`")
	fl.BoolVar(&f.insecure, "insecure", false, "don't verify the server's certificate")
	fl.StringVar(&f.transport, "transport", wire.HTTPAuto, "HTTP transport: auto, streamable-http or sse")
	fl.StringVar(&f.protocol, "protocol", mcp.Auto, "protocol `revision` to speak, or auto")
	fl.StringArrayVar(&f.env, "env", nil, "pass this environment `variable` to the server, here and in the suite; may be repeated")
	fl.StringArrayVar(&f.call, "call", nil, "call the tool `name` even if it is not annotated read-only, or '*' for every tool; may be repeated")
	fl.StringVarP(&f.output, "output", "o", defaultSuites[0], "suite `file` to write")
	fl.StringVar(&f.name, "name", "", "`name` of the suite and the server (default: the name that the server reports)")
	fl.BoolVar(&f.force, "force", false, "overwrite an existing file")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Second, "time limit for each request")
	fl.DurationVar(&f.connectTimeout, "connect-timeout", plan.DefaultConnectTimeout, "time limit for start and handshake")
	fl.StringVar(&f.color, "color", "auto", "colors: auto, always or never")
	return cmd
}

func (f *initFlags) run(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	su, err := f.suite(cmd, args, s)
	if err != nil {
		return err
	}
	if err := f.free(); err != nil {
		return err
	}
	s.Env = append(slices.Clone(s.Env), f.secretVars...)
	// The server is reached as the suite will reach it, so a suite is written
	// that has nothing but the server.
	temp, err := os.CreateTemp(filepath.Dir(f.output), ".mcptest-init-*.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitInvalid, "directory %s does not exist; %s was not written", filepath.Dir(f.output), f.output)
	}
	if err != nil {
		return fail(exitInvalid, "write a temporary file for %s: %v", f.output, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(su.YAML())
	if err = errors.Join(err, temp.Close()); err != nil {
		return fail(exitInternal, "write %s: %v", temp.Name(), err)
	}
	var target targetFlags
	target.add(&cobra.Command{}) // the defaults of every flag
	target.configs, target.server, target.color = []string{temp.Name()}, su.Server.Name, f.color
	target.timeout, target.connectTimeout = f.timeout, f.connectTimeout
	ctx, l, end, err := target.prepare(cmd, s, nil, func(o *inspect.Options) { o.Violations = func([]protocol.Violation) {} })
	if err != nil {
		return err
	}
	l.redactor.Add(f.secretWords...)
	l.server.Timeout = f.timeout
	l.server.Pos = source.Pos{File: &source.File{}} // hints name flags, not keys of the file that is removed
	if f.name == "" {
		f.name = "server" // until the server says what it is called
	}
	i := &initializer{viewer: l, f: f, suite: su, temp: temp.Name()}
	return guarded(l.world, l.s.Err, func() error {
		defer end()
		return i.write(ctx)
	})
}

// free reports that the output may be written.
func (f *initFlags) free() error {
	info, err := os.Lstat(f.output)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fail(exitInvalid, "%v", err)
	case info.IsDir():
		return fail(exitInvalid, "--output: %s is a directory, not a file", f.output)
	case !f.force:
		return fail(exitInvalid, "%s already exists; --force overwrites it, --output writes another file", f.output)
	}
	return nil
}

// initializer writes one suite.
type initializer struct {
	*viewer
	f     *initFlags
	suite *draft.Suite
	temp  string
}

// write observes the server twice, writes, observes it again beside the file
// that is there now, and runs the suite until it passes.
func (i *initializer) write(ctx context.Context) error {
	for range 2 {
		if err := i.observe(ctx); err != nil {
			return err
		}
	}
	_ = os.Remove(i.temp)
	if err := i.f.free(); err != nil { // it may have appeared meanwhile
		return err
	}
	if err := i.save(); err != nil {
		return err
	}
	// A run will make this folder: a server that lists folders is to see it now.
	if _, err := history.Folder(filepath.Dir(i.f.output)); err != nil {
		return fail(exitInternal, "%v", err)
	}
	if err := i.observe(ctx); err != nil {
		return err
	}
	if err := i.save(); err != nil {
		return err
	}
	passed, err := i.settle(ctx)
	if err != nil {
		return err
	}
	i.tell(passed)
	return nil
}

func (i *initializer) save() error {
	sink, err := report.OpenSink(i.f.output, nil)
	if err != nil {
		return fail(exitInternal, "%v", err)
	}
	if _, err := sink.Write(i.suite.YAML()); err != nil {
		sink.Abort()
		return fail(exitInternal, "%v", err)
	}
	if err := sink.Commit(); err != nil {
		return fail(exitInternal, "%v", err)
	}
	return nil
}

// tell says what was written and what to do with it.
func (i *initializer) tell(passed int) {
	out := func(format string, args ...any) {
		fmt.Fprintln(i.s.Out, term.Escape(i.redactor.String(fmt.Sprintf(format, args...))))
	}
	var closed, other []string
	for _, t := range i.suite.Tests {
		switch {
		case t.Skip == notReadOnly:
			closed = append(closed, t.Subject)
		case t.Skip != "":
			other = append(other, t.Subject)
		}
	}
	out("wrote %s: %s of %s", i.f.output, display.Count(len(i.suite.Tests), "test"), i.suite.From)
	out("  %s now. Check the lines marked \"review\": they record what the server answers today.", passes(passed))
	if len(closed) > 0 {
		out("  %s, because the tools are not annotated read-only: %s (--call NAME calls one, --call '*' all)", skipped(len(closed)), strings.Join(closed, ", "))
	}
	if len(other) > 0 {
		out("  %s for another reason, noted in the file: %s", skipped(len(other)), strings.Join(other, ", "))
	}
	if len(i.suite.Server.Tolerate) > 0 {
		out("  The server violates the protocol (%s); the suite tolerates it for now.", strings.Join(i.suite.Server.Tolerate, ", "))
	}
	if len(i.f.secretNames) > 0 {
		out("  Secrets from the command line were not written. Set %s before a run.", strings.Join(i.f.secretNotes, ", "))
	}
	for _, o := range i.suite.Omitted {
		fmt.Fprintln(i.s.Err, term.Escape("left out: "+o))
	}
	next := "mcptest run"
	if !slices.Contains(defaultSuites, filepath.Clean(i.f.output)) {
		next += " " + i.f.output
	}
	out("Run it with: %s", next)
}

func passes(n int) string {
	if n == 1 {
		return "1 passes"
	}
	return fmt.Sprintf("%d pass", n)
}

func skipped(n int) string {
	if n == 1 {
		return "1 is skipped"
	}
	return fmt.Sprintf("%d are skipped", n)
}
