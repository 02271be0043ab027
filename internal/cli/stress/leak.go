package stress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/usage"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/run/leak"
)

// leakFlags are the flags of leak.
type leakFlags struct {
	target
	pid      int
	leave    string
	duration time.Duration
	sessions int
	wait     time.Duration
	least    option.Size
	keepEnv  bool
	format   string
	output   string
}

// NewLeakCmd returns the command `mcptest leak`.
func NewLeakCmd(s cmdutil.Streams) *cobra.Command {
	f := leakFlags{least: 1 << 10}
	cmd := &cobra.Command{
		Use:   "leak (--url URL --pid N | --url URL -- command args… | --server NAME | -- command args…)",
		Short: "Find what a server keeps after its sessions",
		Long: `Open, use and leave sessions, and measure the memory, descriptors, threads and processes of the server after each. The number of
sessions is doubled until the slopes of the troughs agree: it leaks, no growth is shown, or it is inconclusive. Of a server with standard
input and output, the calls in one process are counted, and the processes that remain after its end.

{port} in the address and in the command is replaced by a free port: the program is started, and ended at the end. Without a tool a ping is
sent; only tools with readOnlyHint: true are called, --allow-writes TOOL allows another one.

The program gets settings with which memory settles early, unless --keep-env is given; those that you have set win.
Memory is measured on Linux (anonymous resident memory) and macOS (resident memory, without descriptors and threads).

Exit codes: 0 no growth shown, 1 the server did not start, failed or ended, 2 invalid command line, 6 it leaks, or inconclusive,
130 interrupted, after the report.`,
		Example: `  mcptest leak --url 'http://127.0.0.1:{port}/mcp' -- node server.js --port '{port}'
  mcptest leak --url http://127.0.0.1:3001/mcp --pid 4711 --leave vanish --wait-after 90s
  mcptest leak --tool search --args '{"query": "x"}' -- ./server
  mcptest leak -f html -o leak.html --url 'http://127.0.0.1:{port}/mcp' -- ./server '{port}'`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.Run(0, f.run)(cmd, s, args) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.pid, "pid", 0, "process `id` of the server at --url")
	fl.StringVar(&f.leave, "leave", "close", "how to leave a session: close (end it), vanish (close the connection) or mixed")
	fl.DurationVar(&f.duration, "duration", time.Minute, "`time` after which the verdict is given")
	fl.IntVar(&f.sessions, "sessions", 0, "`number` of sessions, or of calls, after which the verdict is given, instead of a time")
	fl.DurationVar(&f.wait, "wait-after", 0, "after a leak, wait for this `time`, longer than sessions are kept, and repeat: only what the repetition adds counts")
	fl.Var(&f.least, "min-growth", "smallest `growth` of memory per session that counts")
	fl.BoolVar(&f.keepEnv, "keep-env", false, "start the program without settings that make memory settle early")
	fl.StringVarP(&f.format, "format", "f", "text", "output `format`: text, json, md or html")
	fl.StringVarP(&f.output, "output", "o", "-", "write the report to this `file`")
	cmd.MarkFlagsMutuallyExclusive("duration", "sessions")
	return cmd
}

// check rejects combinations of flags before anything is started.
func (f *leakFlags) check(cmd *cobra.Command, argv []string) error {
	if f.JSON {
		f.format = "json"
	}
	hasNoSessions := cmd.Flags().Changed("sessions") && f.sessions < 1
	switch {
	case !usage.Supported:
		return option.Invalid("the memory of other processes is not measured on %s", runtime.GOOS)
	case f.pid < 0 || hasNoSessions || f.duration <= 0 || f.wait < 0:
		return option.Invalid("--pid, --sessions, --duration and --wait-after must be above 0")
	case f.pid > 0 && len(argv) > 0:
		return option.Invalid("--pid is for a server that runs already; a command after -- is measured by itself")
	}
	return errors.Join(
		option.OneOf("--leave", []string{f.leave}, []string{"close", "vanish", "mixed"}),
		option.OneOf("--format", []string{f.format}, leak.Formats()),
		option.Writable(f.output),
	)
}

func (f *leakFlags) run(cmd *cobra.Command, s cmdutil.Streams, _, argv []string) error {
	if err := f.check(cmd, argv); err != nil {
		return err
	}
	if !f.keepEnv && f.pid == 0 {
		// With these, the memory of common runtimes settles early.
		f.settings = []string{"NODE_OPTIONS=--max-semi-space-size=1", "GOGC=25", "GODEBUG=madvdontneed=1", "MALLOC_ARENA_MAX=1", "MALLOC_TRIM_THRESHOLD_=0"}
	}
	var o inspect.Options
	ctx, r, end, err := f.begin(cmd, s, argv, func(given *inspect.Options) {
		given.Doing, given.Violations = nil, func([]protocol.Violation) {}
		o = *given
		o.WaitForReady = 0 // of further sessions
	})
	if err != nil {
		return err
	}
	return option.Guarded(r.World, s.Err, func() error {
		defer end()
		m := &leaking{leakFlags: f, running: r, o: o}
		if err := m.chooseSubject(); err != nil {
			return err
		}
		if err := m.prepare(ctx); err != nil {
			return err
		}
		return m.measure(ctx, s)
	})
}

// leaking is one run of leak.
type leaking struct {
	*leakFlags
	*running
	o      inspect.Options // of further sessions
	method string
	params jsonv.Value
	group  proc.Ref
	report leak.Report
}

// chooseSubject finds the processes to measure, unless they start with the first session.
func (m *leaking) chooseSubject() error {
	stdio, known := m.Server.URL == "", true
	m.report.Unit, m.report.Leave = "session", m.leave
	switch {
	case stdio && m.pid > 0:
		return option.Invalid("--pid is for a server at an address; a command is measured by itself")
	case stdio && m.leave != "close":
		return option.Invalid("--leave is for sessions over HTTP: with standard input and output the calls in one process are counted")
	case stdio:
		m.report.Unit, m.report.Leave = "call", ""
	case m.program != nil:
		m.group = m.program.Ref()
	case m.pid == 0:
		return option.Invalid("what is to be measured? Add --pid N of the server at this address, or -- command args… that starts it")
	default:
		m.group, known = proc.RefOf(m.pid)
	}
	if !known {
		return option.Invalid("--pid: there is no process %d", m.pid)
	}
	return nil
}

// prepare opens the first session, which shows the protocol version and the tools.
func (m *leaking) prepare(ctx context.Context) error {
	if err := m.Conn.Open(ctx); err != nil {
		return m.Failed(ctx, "", err)
	}
	m.method = "ping"
	if m.Conn.Session().Era() == protocol.EraStateless {
		m.method = protocol.MethodDiscover // it has no ping
	}
	if m.tool != "" {
		if _, err := m.findTool(ctx, m.Viewer); err != nil {
			return err
		}
		args, _ := jsonv.Parse([]byte(m.args)) // was checked
		m.method, m.params = "tools/call", jsonv.ObjectOf("name", m.tool, "arguments", args)
	}
	pinned := *m.Server
	pinned.Protocol = m.Conn.Session().Protocol()
	m.o.Server, m.report.Protocol = &pinned, pinned.Protocol
	if m.report.Unit == "call" {
		m.group = m.Conn.Session().Facts().Process.Ref()
	} else {
		m.Conn.Close()
	}
	return nil
}

// runUnit makes one session, or one call if the server has standard input and output.
func (m *leaking) runUnit(ctx context.Context, i int) error {
	if m.report.Unit == "call" {
		return findOutcome(m.Conn.Do(ctx, m.method, m.params), m.Conn)
	}
	o := m.o
	if m.leave == "vanish" || m.leave == "mixed" && i%2 == 1 {
		o.Connect.Wrap = func(next http.RoundTripper) http.RoundTripper { return vanishing{next} }
	}
	c := inspect.New(o)
	defer c.Close()
	if err := c.Open(ctx); err != nil {
		return err
	}
	return findOutcome(c.Do(ctx, m.method, m.params), c)
}

// findOutcome is why a call has not the result that is measured. A ping may be refused: the
// server has answered.
func findOutcome(x *mcp.Exchange, c *inspect.Conn) error {
	if x.Cause != nil || x.Method != "tools/call" {
		return x.Cause
	}
	result, err := c.ResultOf(x)
	if err == nil && result.Lookup("isError").Bool() {
		err = fmt.Errorf("the tool returned an error: %s", result.Lookup("content").Short(200))
	}
	return err
}

// vanishing sends no DELETE: the client of a session has vanished.
type vanishing struct{ next http.RoundTripper }

// RoundTrip answers DELETE by itself.
func (v vanishing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodDelete {
		return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, Request: r}, nil
	}
	return v.next.RoundTrip(r)
}

// measure repeats the unit, ends the server, and writes the report.
func (m *leaking) measure(ctx context.Context, s cmdutil.Streams) error {
	rep := leak.Run(ctx, leak.Options{
		Do:    m.runUnit,
		Read:  usage.New(m.group).Read,
		Least: float64(m.least),
		Most:  m.sessions,
		Limit: m.duration,
		Wait:  m.wait,
		Doing: func(round, n int, took time.Duration, u usage.Usage) {
			if m.Status.IsDue() {
				text := fmt.Sprintf("round %d · %s · %.0f/s · memory %s · %.0f s",
					round, display.Count(n, m.report.Unit), float64(n)/took.Seconds(), wire.FormatByteSize(int64(u.Memory)), took.Seconds())
				m.Status.Set(text)
			}
		},
	}, m.report)
	m.Status.Clear()
	rep.Server = option.Where(m.Server)
	failure := m.endError(rep.Err)
	if failure != nil {
		rep.Failure = failure.Error()
	}
	rep.Finish(cmdutil.Version(), m.stop(), m.settings, m.Redactor.String)
	var b bytes.Buffer
	err := errors.Join(rep.Write(&b, m.format, m.Palette), option.WriteFile(m.output, s.Out, b.Bytes()))
	if err != nil {
		return err
	}
	switch {
	case rep.Interrupted || failure != nil:
		return m.Failed(ctx, "", failure)
	case rep.Verdict != leak.NoneShown:
		return &option.ExitError{Code: option.ExitGate}
	}
	return nil
}

// endError is the error of a unit, with how the program ended if it has.
func (m *leaking) endError(err error) error {
	if err == nil || m.program == nil {
		return err
	}
	select {
	case <-m.program.Done():
		return &wire.ClosedError{
			Reason: "the server exited",
			Exited: true,
			Exit:   m.program.Exit(),
			Stderr: m.program.Stderr().Ends(wire.StderrLines),
		}
	case <-time.After(wire.ExitWait):
		return err
	}
}

// stop ends the server and says what remained of it.
func (m *leaking) stop() string {
	ctx, cancel := connect.Ending()
	defer cancel()
	var end proc.Stopped
	switch {
	case m.report.Unit == "call":
		end = m.Conn.End()
	case m.program != nil: // it has no input that could be closed
		end = proc.Stopped{How: proc.ByTerm, Leftovers: m.program.Stop(ctx, proc.Grace{}).Leftovers}
	default:
		return ""
	}
	end.Leftovers = append(end.Leftovers, m.World.Sweep(ctx)...)
	if connect.IgnoredEOF(end) || len(end.Leftovers) > 0 {
		return connect.DescribeUncleanEnd(end)
	}
	return ""
}
