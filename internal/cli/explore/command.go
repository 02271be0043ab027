package explore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/proc"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// NewCmd returns the command `mcptest ui`.
func NewCmd(s cmdutil.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:        "ui [SUITE…] [--cassette FILE] [--record DIR] [--url URL | -- command args…]",
		SuggestFor: []string{"view", "inspector", "open", "web", "gui"},
		Short:      "Explore servers in a page, and keep calls as tests",
		Long: `Show a page on this machine: connect to the servers of suites, call tools by hand, see every message
with its violations, answer the server's questions, and keep a call as a test of the suite.

Without arguments, the suite is ./mcptest.yaml. With --url or a command after --, no suite is needed; a kept test then
creates ./mcptest.yaml. --cassette adds recorded traffic, of which calls can be kept, too. --record writes the
traffic of the sessions to a folder, one cassette for each server, and lets the page save what has passed so far; nothing
there is replaced. The page starts, calls and writes nothing but what the command line names and a person
clicks: no server is started before Connect, and a tool that does not declare readOnlyHint: true is called after a
question.

The page is at 127.0.0.1 only, and its address has a token that is good for this start. For another machine, forward
the port with the same number on both sides: ssh -L PORT:127.0.0.1:PORT, with --port PORT --no-open.

Standard output gets one line, the address of the page. Ctrl-C ends the page and every process that it started.

Exit codes: 0 ended by the user, 2 invalid command line, or a file that can't be read, 5 in CI.`,
		Example: `  mcptest ui
  mcptest ui suite.yaml
  mcptest ui -- npx -y @modelcontextprotocol/server-everything
  mcptest ui --url http://localhost:8080/mcp --port 7000 --no-open
  mcptest ui suite.yaml --record recordings
  mcptest ui suite.yaml --cassette bug.cassette.ndjson`,
	}
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.cassettes, "cassette", nil, "also show this cassette `file`; may be repeated")
	fl.StringVar(&f.record, "record", "", "record the sessions of the page to cassettes in this `folder`, without secrets")
	fl.IntVar(&f.port, "port", 0, "listen on this `port` of 127.0.0.1 (default: a free one)")
	fl.BoolVar(&f.noOpen, "no-open", false, "don't open a browser")
	fl.DurationVar(&f.idle, "idle", 0, "end after this `time` without a page that is open (default: never)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) }
	return cmd
}

// run shows the page until a signal ends it.
func (f *flags) run(cmd *cobra.Command, s cmdutil.Streams, args []string) error {
	if cmdutil.IsInCI(s.Env) {
		return option.Fail(option.ExitPolicy, "mcptest ui is for people, and CI is set; mcptest run runs the tests")
	}
	if f.JSON {
		return option.Invalid("mcptest ui has no --json")
	}
	if f.port < 0 || f.port > 65535 || f.idle < 0 {
		return option.Invalid("--port must be from 0 to 65535, and --idle not negative")
	}
	if _, err := option.KnownClient(f.Client); err != nil {
		return err
	}
	redactor := secret.NewRedactor()
	in, err := f.loadSuites(cmd, s, args, redactor)
	if err != nil {
		return err
	}
	recorded, err := openTapes(f.cassettes, s, redactor)
	if err != nil {
		return err
	}
	defer recorded.close()
	recording, err := newRecorder(f.record, s, redactor, recorded)
	if err != nil {
		return err
	}
	in.recorded = recording.wrapDialer
	shared, err := f.Share(cmd, s, redactor)
	if err != nil {
		return err
	}
	in.shared = shared
	return option.Guarded(shared.World, s.Err, func() error {
		defer shared.Close()
		return f.show(shared.Context, s, in, recorded, recording)
	})
}

// show listens, says where, and waits for the end.
func (f *flags) show(
	ctx context.Context, s cmdutil.Streams, in *inputs, recorded *tapes, recording *recorder,
) error {
	listeners, port, err := listen(f.port)
	if err != nil {
		return option.Invalid("--port %d: %v", f.port, err)
	}
	defer recording.close() // after the sessions
	hub := live.New(ctx, in)
	defer hub.Close()
	past := &history{redactor: in.redactor, runs: newShelf()}
	tests := newTester(in, hub, past.runs)
	defer tests.close()
	token := newToken()
	pages := api.New(api.Options{
		Hub: hub, Keeper: newKeeper(in, recorded), Tapes: recorded, Tester: tests, Historian: past,
		Recorder: recording, Redactor: in.redactor, Usage: in.newUsage(hub), Port: port, Token: token,
	})
	server := serve(listeners, pages)
	defer server.Close()
	address := fmt.Sprintf("http://127.0.0.1:%d/#token=%s", port, token)
	if in.creates {
		fmt.Fprintln(s.Err, "mcptest: a test that is kept creates "+in.paths[0])
	}
	if _, err := fmt.Fprintln(s.Out, "mcptest ui: "+address); err != nil {
		return option.Fail(option.ExitInternal, "write the address: %v", err)
	}
	if !f.noOpen && term.IsTerminal(s.Out) {
		option.OpenBrowser(s, address)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go in.watch(watching, hub.Reload)
	return explainEnd(ctx, f.serveUntilIdle(ctx, pages))
}

// serveUntilIdle waits until a signal comes, or no page has been open for the time of --idle.
func (f *flags) serveUntilIdle(ctx context.Context, pages *api.API) error {
	if f.idle == 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	tick := time.NewTicker(min(f.idle, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if since := pages.Alone(); !since.IsZero() && time.Since(since) >= f.idle {
				return nil
			}
		}
	}
}

// explainEnd returns the error of the command: a signal is how a person ends it.
func explainEnd(ctx context.Context, why error) error {
	if why == nil || errors.As(context.Cause(ctx), new(*proc.Interrupted)) {
		return nil
	}
	return option.Fail(option.ExitInternal, "%v", why)
}

// newToken returns 256 random bits as text.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
