package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/scaffold"
	"mcptest/internal/cli/upstreams"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/pretty"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/history"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// initFlags are the flags of `mcptest init`.
type initFlags struct {
	option.HTTPFlags
	command, from           string
	env, call, upstreams    []string
	output, name            string
	force                   bool
	timeout, connectTimeout time.Duration
	client                  string
	color                   string
}

func newInitCmd(s cmdutil.Streams) *cobra.Command {
	f := initFlags{}
	cmd := &cobra.Command{
		Use: "init (--command LINE | --url URL | --from FILE [NAME] | -- command args…)", SuggestFor: []string{"new", "create", "generate", "scaffold"},
		Short: "Write a first suite for a running server",
		Long: `Write a first suite for a server: list its tools, resources and prompts, try
those that are safe to try, and write assertions that expect the observed
responses. These are marked "review", because an observed response is not
necessarily correct. Values that change between calls, look like a time or an id,
or describe this machine are matched loosely; secrets are not written.
The suite is run before the command exits, so it passes as written.

Only tools that are annotated read-only are called; --call NAME calls another
one, --call '*' all of them. Tools that are not called are written as skipped
tests. A read-only tool is also called without its required arguments, which it
must refuse. The server is started or connected to several times, with the environment
that a suite gives it; --env passes more variables.

--from reads the server from the configuration of a client: .mcp.json,
claude_desktop_config.json, .vscode/mcp.json and others of the same form. Values
that may be secrets become environment variables of the suite.

--upstream replaces an API behind the server: the suite gets routes with the
responses of a recording, and assertions on the requests of the server. A tool
that needs a response that was not recorded is written as a skipped test.

Exit codes: 0 the suite was written, 1 the server did not respond, 2 invalid
command line, or the file already exists.`,
		Example: `  mcptest init -- npx -y @modelcontextprotocol/server-everything
  mcptest init -o tests/github.mcptest.yaml --env GITHUB_TOKEN -- github-mcp-server stdio
  mcptest init --from .mcp.json github
  mcptest init --url https://mcp.example.com/mcp --bearer-token-env TOKEN`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, s) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.command, "command", "", "the server's command as one `line`, split as in a suite (the same as after --)")
	fl.StringVar(&f.from, "from", "", "the server NAME in the configuration `file` of a client; NAME may be left out if there is only one")
	f.HTTPFlags.Add(cmd)
	option.AddClient(cmd, &f.client)
	fl.Lookup("client").Usage = "declare the name, version and capabilities of this known `client`, here and in the suite"
	fl.Lookup("header").Usage += "; the suite takes the value from the environment"
	fl.StringArrayVar(&f.env, "env", nil, "pass this environment `variable` to the server, here and in the suite; may be repeated")
	fl.StringArrayVar(&f.call, "call", nil, "call the tool `name` even if it is not annotated read-only, or '*' for every tool; may be repeated")
	fl.StringArrayVar(&f.upstreams, "upstream", nil, "replace an API by the routes of a recording: `VARIABLE=FILE`, the variable that takes the API's address; may be repeated")
	fl.StringVarP(&f.output, "output", "o", option.DefaultSuites[0], "suite `file` to write")
	fl.StringVar(&f.name, "name", "", "`name` of the suite and the server (default: the name that the server reports)")
	fl.BoolVar(&f.force, "force", false, "overwrite an existing file")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Second, "time limit for each request")
	fl.DurationVar(&f.connectTimeout, "connect-timeout", plan.DefaultConnectTimeout, "time limit for start and handshake")
	fl.StringVar(&f.color, "color", "auto", "colors: auto, always or never")
	return cmd
}

func (f *initFlags) run(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	sv, err := f.readServer(cmd, args, s)
	if err != nil {
		return err
	}
	d, err := scaffold.Begin(sv, func(name string) string { return cmdutil.LookupEnv(s.Env, name) })
	if err != nil {
		return option.Fail(option.ExitInternal, "%v", err)
	}
	if err := option.Free(f.output, f.force); err != nil {
		return err
	}
	s.Env = slices.Clone(s.Env)
	for _, v := range d.Secrets {
		s.Env = append(s.Env, v.Name+"="+v.Value)
		d.Hidden = append(d.Hidden, v.Value)
	}
	// Connect to the server like the suite will: write a temporary suite that only
	// contains the server.
	temp, err := os.CreateTemp(filepath.Dir(f.output), ".mcptest-init-*.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return option.Invalid("directory %s does not exist; %s was not written", filepath.Dir(f.output), f.output)
	}
	if err != nil {
		return option.Invalid("write a temporary file for %s: %v", f.output, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(d.Suite.YAML())
	if err = errors.Join(err, temp.Close()); err != nil {
		return option.Fail(option.ExitInternal, "write %s: %v", temp.Name(), err)
	}
	var target option.TargetFlags
	target.Add(&cobra.Command{}) // sets the defaults of all flags
	target.Configs, target.Server, target.Color = []string{temp.Name()}, d.Suite.Server.Name, f.color
	target.Timeout, target.ConnectTimeout = f.timeout, f.connectTimeout
	ctx, l, end, err := target.Prepare(cmd, s, nil, func(o *inspect.Options) {
		o.Violations = func([]protocol.Violation) {}
	})
	if err != nil {
		return err
	}
	closeDoubles, err := upstreams.StartDouble(l.Server)
	if err != nil {
		end()
		return err
	}
	l.Redactor.Add(d.Hidden...)
	l.Server.Timeout = f.timeout
	l.Server.Pos = source.Pos{File: &source.File{}} // hints then name flags instead of keys of the temporary file
	i := &initializer{Viewer: l, f: f, draft: d, temp: temp.Name()}
	return option.Guarded(l.World, l.Streams.Err, func() error {
		defer closeDoubles()
		defer end()
		return i.write(ctx)
	})
}

// initializer writes one suite.
type initializer struct {
	*option.Viewer
	f     *initFlags
	draft *scaffold.Draft
	temp  string
}

// write observes the server twice, writes the suite, observes the server again now
// that the file exists, and runs the suite until it passes.
func (i *initializer) write(ctx context.Context) error {
	for n := range 2 {
		if err := i.observe(ctx, n+1); err != nil {
			return err
		}
	}
	_ = os.Remove(i.temp)
	if err := option.Free(i.f.output, i.f.force); err != nil { // the file may have been created since the first check
		return err
	}
	if err := i.save(); err != nil {
		return err
	}
	// A run will create this folder: a server that lists folders must see it now.
	if _, err := history.FindFolder(filepath.Dir(i.f.output)); err != nil {
		return option.Fail(option.ExitInternal, "%v", err)
	}
	if err := i.observe(ctx, 3); err != nil {
		return err
	}
	if err := i.save(); err != nil {
		return err
	}
	passed, err := i.runUntilPassed(ctx)
	if err != nil {
		return err
	}
	i.summarize(passed)
	return nil
}

func (i *initializer) save() error {
	return option.WriteFile(i.f.output, nil, i.draft.Suite.YAML())
}

// summarize prints what was written and the next steps.
func (i *initializer) summarize(passed int) {
	out := func(format string, args ...any) {
		fmt.Fprintln(i.Streams.Out, term.Escape(i.Redactor.String(fmt.Sprintf(format, args...))))
	}
	var closed, refused, other, unfit []string
	called := 0
	for _, t := range i.draft.Suite.Tests {
		if t.Block == "tools" && t.Skip == "" && t.Without == nil {
			called++
		}
		switch {
		case t.Block == "tools" && t.Skip == "" && t.Without == nil && t.Refused():
			unfit = append(unfit, t.Subject)
		case t.Skip == scaffold.NotReadOnly:
			closed = append(closed, t.Subject)
		case t.Defect:
			refused = append(refused, t.Subject)
		case t.Skip != "":
			other = append(other, t.Subject)
		}
	}
	out("wrote %s: %s of %s", i.f.output, display.Count(len(i.draft.Suite.Tests), "test"), i.draft.Suite.From)
	out("  %s passed. Check the lines marked \"review\": they record what the server returns today.", display.Count(max(0, passed-len(unfit)), "test"))
	if len(unfit) > 0 {
		who := "they"
		if len(unfit) < called {
			who = display.Count(len(unfit), "tool")
		}
		out("  %d of %s answered: %s refused the generated arguments: %s. These tests only record the refusal: write arguments that the tools accept.",
			called-len(unfit), display.Count(called, "tool"), who, strings.Join(unfit, ", "))
	}
	if len(closed) > 0 {
		out("  %s skipped, because the tools are not annotated read-only: %s (--call NAME calls one, --call '*' all)", display.Count(len(closed), "test"), strings.Join(closed, ", "))
	}
	if len(refused) > 0 {
		out("  %s skipped, because the server refuses what it lists, a likely defect: %s", display.Count(len(refused), "test"), strings.Join(refused, ", "))
	}
	if len(other) > 0 {
		out("  %s skipped, for the reasons given in the file: %s", display.Count(len(other), "test"), strings.Join(other, ", "))
	}
	if len(i.draft.Suite.Server.Tolerate) > 0 {
		out("  The server violates the protocol (%s); the suite tolerates it for now.", strings.Join(i.draft.Suite.Server.Tolerate, ", "))
	}
	secrets := lists.Map(i.draft.Secrets, func(v scaffold.Secret) string { return v.Name + " (the value of " + v.What + ")" })
	if len(secrets) > 0 {
		out("  Secrets from %s were not written. Set %s before a run.", cmp.Or(i.f.from, "the command line"), strings.Join(secrets, ", "))
	}
	for _, o := range i.draft.Suite.Omitted {
		fmt.Fprintln(i.Streams.Err, term.Escape("left out: "+o))
	}
	next := "mcptest run"
	if !slices.Contains(option.DefaultSuites, filepath.Clean(i.f.output)) {
		next += " " + i.f.output
	}
	out("Run it with: %s", next)
}

// observe observes the server for the nth time.
func (i *initializer) observe(ctx context.Context, n int) error {
	i.Phase = fmt.Sprintf("session %d of 3: ", n)
	err := i.draft.Observe(ctx, scaffold.Options{Conn: i.Conn, Mask: i.Redactor.String, Call: i.f.call})
	refused, ok := errors.AsType[*scaffold.RequestError](err)
	switch {
	case ok:
		return i.Failed(ctx, refused.Method, refused.Err)
	case err != nil:
		return option.Invalid("%v", err)
	}
	return nil
}

// maxTrials limits the number of runs until the suite passes.
const maxTrials = 6

// runUntilPassed runs the suite and adapts it until it passes. It returns the number
// of passed tests.
func (i *initializer) runUntilPassed(ctx context.Context) (passed int, err error) {
	for range maxTrials {
		rec, code, err := i.runTrial(ctx)
		if err != nil {
			return 0, err
		}
		passed = rec.Run().Summary.Passed
		changed := i.draft.Adapt(rec.Run())
		_ = rec.Close()
		switch {
		case ctx.Err() != nil:
			return 0, i.Failed(ctx, "", ctx.Err())
		case code == option.ExitPassed:
			return passed, nil
		case !changed:
			return passed, option.Fail(option.ExitFailed, "%s was written, but does not pass: run mcptest run %s to see why", i.f.output, i.f.output)
		}
		if err := i.save(); err != nil {
			return 0, err
		}
	}
	return passed, option.Fail(option.ExitFailed, "%s was written, but does not pass: the server responds differently each time", i.f.output)
}

// runTrial runs the suite once.
func (i *initializer) runTrial(ctx context.Context) (*result.Recorder, int, error) {
	f := option.SuiteFlags{Color: i.f.color}
	i.Status.Clear()
	suites, diags, err := f.Load([]string{i.f.output}, i.Streams)
	if err != nil {
		return nil, 0, err
	}
	set := f.Settings(i.Streams)
	set.CI = false
	p, more := plan.Compile(suites, set)
	if errs, _ := f.Print(i.Streams, append(diags, more...)); errs > 0 {
		return nil, 0, option.Fail(option.ExitInternal, "%s was written with %s", i.f.output, display.Count(errs, "error"))
	}
	live := pretty.NewLive(pretty.LiveOptions{Out: io.Discard, Status: i.Status, Quiet: true})
	defer live.Close()
	rec := result.NewRecorder(result.RecorderOptions{Redactor: i.Redactor, Listeners: []result.Listener{live}})
	tool := result.Tool{Name: "mcptest", Version: cmdutil.Version()}
	code := run.Run(ctx, p, run.Options{Tool: tool}, run.Deps{
		Send:     rec.Send,
		Secret:   i.Redactor.Add,
		Registry: i.World.Registry,
	})
	return rec, code, nil
}
