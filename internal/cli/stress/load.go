package stress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/inspect"
	"mcptest/internal/run/load"
)

// shownFlags are the flags that choose the form of a report of load.
type shownFlags struct {
	budgets        []string
	format, output string
	limits         []load.Budget
}

func (f *shownFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.budgets, "budget", nil, "`limits` on all calls together, separated by commas: p50, p90, p95 or p99=TIME, errors=PERCENT%, wrong=PERCENT% (of the examined responses)")
	fl.StringVarP(&f.format, "format", "f", "text", "output `format`: text, json, md or html")
	fl.StringVarP(&f.output, "output", "o", "-", "write the report to this `file`")
}

func (f *shownFlags) check(cmd *cobra.Command) (err error) {
	if err := option.OneOf("--format", []string{f.format}, load.Formats()); err != nil {
		return err
	}
	if f.limits, err = load.ParseBudgets(f.budgets); err != nil {
		return option.Invalid("--budget: %v", err)
	}
	if len(f.limits) == 0 && cmd.Flags().Changed("budget") { // of an empty variable: nothing would be judged
		return option.Invalid("--budget: expected limits such as p99=250ms, got nothing")
	}
	return option.Writable(f.output)
}

// finish judges a report, writes it and returns the error with its exit code.
func (f *shownFlags) finish(s cmdutil.Streams, rep *load.Report, p term.Palette) error {
	rep.Judge(f.limits)
	if f.output != "-" {
		p = term.Palette{}
	}
	data, err := rep.Show(f.format, p)
	if err != nil {
		return err
	}
	if err := option.WriteFile(f.output, s.Out, data); err != nil {
		return err
	}
	if why := rep.Broken(); why != "" {
		return option.Fail(option.ExitFailed, "%s", why)
	}
	if rep.Verdict == load.Fail || rep.Verdict == load.Inconclusive {
		return &option.ExitError{Code: option.ExitGate}
	}
	return nil
}

// loadFlags are the flags of load.
type loadFlags struct {
	target
	shown             shownFlags
	filters           []string
	rate, shard, when string
	duration, warmUp  time.Duration
	sessions          int
	given             bool // whether sessions is the user's choice
	inFlight          int

	o load.Options
}

// NewLoadCmd returns the command `mcptest load`.
func NewLoadCmd(s cmdutil.Streams) *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load (--tool TOOL | -c SUITE -k FILTER) (--url URL | --url URL -- command args… | --server NAME | -- command args…) --rate N/s",
		Short: "Measure how long a server's calls take at a fixed rate",
		Long: `Send calls at a fixed rate, and report how many there were and how long they took: percentiles with 95 % intervals, and errors by kind.
A call is due at its time whether earlier ones have ended or not, and its latency is counted from then, so that a pause of the server is
seen in every call that was due in it.

--tool sends one call. Without it, the tests of a suite that -k selects are sent in turn, without hooks and fixtures; of each, the first
response and every 100th after it are checked. Only tools with readOnlyHint: true are called; --allow-writes TOOL allows another one,
unless it declares destructiveHint: true. A budget passes if the whole interval is within it, and is inconclusive if the interval does not
decide, or if the generator was too slow.

Exit codes: 0 measured, every budget passed; 1 the server did not start or ended, no call succeeded, or a checked response did not pass;
2 invalid command line, before the first call; 6 a budget failed or is inconclusive; 130 interrupted, after the report.`,
		Example: `  mcptest load --tool search --args '{"query": "x"}' --rate 50/s --duration 1m --budget p99=250ms,errors=0.1% --url http://127.0.0.1:3001/mcp
  mcptest load --tool echo --rate 100/s --url 'http://127.0.0.1:{port}/mcp' -- node server.js --port '{port}'
  mcptest load -c suite.yaml -k search --rate 20/s -f html -o load.html
  mcptest load --tool search --rate 1000/s --shard 1/4 --start-at 2026-07-28T12:00:00Z -f json -o 1.json --url http://127.0.0.1:3001/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.Run(0, f.run)(cmd, s, args) },
	}
	f.add(cmd)
	f.shown.add(cmd)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.filters, "filter", "k", nil, "send the tests whose name contains this `text`, or matches re:REGEXP; !text and !re:REGEXP leave them out")
	fl.StringVar(&f.rate, "rate", "", "calls per second, such as `50/s` or 0.5/s")
	fl.DurationVar(&f.duration, "duration", 30*time.Second, "how `long` to measure")
	fl.DurationVar(&f.warmUp, "warm-up", 2*time.Second, "how `long` to send calls before, without counting them")
	fl.IntVar(&f.sessions, "sessions", 10, "`number` of sessions, which send calls in turn; 1 unless set if the server has standard input and output, because each is a process")
	fl.IntVar(&f.inFlight, "in-flight", 1000, "maximum `number` of calls in flight; a call that finds no place within 1 s of its time is dropped")
	fl.StringVar(&f.shard, "shard", "", "send every n-th call: `i/n`")
	fl.StringVar(&f.when, "start-at", "", "`time` at which the first call is due, such as 2026-07-28T12:00:00Z; $MCPTEST_START_AT if not set")
	cmd.AddCommand(newLoadMergeCmd(s))
	return cmd
}

// check rejects mistakes before anything is started, and fills the options.
func (f *loadFlags) check(cmd *cobra.Command, s cmdutil.Streams, argv []string) error {
	if f.JSON {
		f.shown.format = "json"
	}
	if err := f.shown.check(cmd); err != nil {
		return err
	}
	const most, longest = 1_000_000, 24 * time.Hour
	rate, err := strconv.ParseFloat(strings.TrimSuffix(f.rate, "/s"), 64)
	switch {
	case err != nil || !(rate > 0 && rate <= most):
		return option.Invalid("--rate: expected calls per second, such as 50/s, above 0 and at most %d/s, got %q", most, f.rate)
	case f.duration <= 0 || f.duration > longest || f.warmUp < 0 || f.warmUp > longest:
		return option.Invalid("--duration must be above 0, --warm-up at least 0, and both at most %v", longest)
	case f.sessions < 1 || f.inFlight < 1:
		return option.Invalid("--sessions and --in-flight must be at least 1")
	case f.tool != "" && len(f.filters) > 0:
		return option.Invalid("what is to be sent? --tool is one call, -k selects tests of a suite")
	case f.tool == "" && len(f.Configs) == 0 && f.Server == "" && len(f.filters) == 0:
		return option.Invalid("what is to be sent? --tool TOOL is one call, -c SUITE -k FILTER are tests of a suite")
	case rate*f.duration.Seconds() < 1:
		return option.Invalid("no call is due in %v at %s: raise --rate or --duration", f.duration, f.rate)
	}
	f.given = cmd.Flags().Changed("sessions")
	f.o.Settings = load.Settings{
		Rate:       rate,
		DurationMS: f.duration.Milliseconds(),
		WarmUpMS:   f.warmUp.Milliseconds(),
		TimeoutMS:  f.Timeout.Milliseconds(),
		Sessions:   f.sessions,
		InFlight:   f.inFlight,
	}
	return f.split(s)
}

// split reads the shard and the common start.
func (f *loadFlags) split(s cmdutil.Streams) error {
	pick, err := option.ReadShard(f.shard, s.Env, "the whole load is sent")
	if err != nil {
		return err
	}
	if pick.Warning != "" {
		fmt.Fprintln(s.Err, "mcptest: warning: "+pick.Warning)
	}
	if pick.From != "" {
		fmt.Fprintf(s.Err, "mcptest: shard %d of %d, from %s\n", pick.Index, pick.Total, pick.From)
	}
	f.o.Shard = load.Shard{Index: pick.Index, Total: pick.Total}
	at := cmp.Or(f.when, cmdutil.LookupEnv(s.Env, "MCPTEST_START_AT"))
	if at == "" {
		return nil
	}
	if f.o.Start, err = time.Parse(time.RFC3339, at); err != nil {
		return option.Invalid("--start-at: expected a time such as 2026-07-28T12:00:00Z, got %q", at)
	}
	if time.Until(f.o.Start) > 24*time.Hour {
		return option.Invalid("--start-at: %s is more than a day away", at)
	}
	return f.checkLate()
}

// checkLate returns an error if the common start has passed.
func (f *loadFlags) checkLate() error {
	late := time.Since(f.o.Start)
	if !f.o.Start.IsZero() && late > 0 {
		return option.Invalid("--start-at: %s was %v ago; all shards need time to start before it", f.o.Start.Format(time.RFC3339), late.Round(time.Millisecond))
	}
	return nil
}

func (f *loadFlags) run(cmd *cobra.Command, s cmdutil.Streams, _, argv []string) error {
	if err := f.check(cmd, s, argv); err != nil {
		return err
	}
	cases, err := f.buildCases(s, argv)
	if err != nil {
		return err
	}
	f.o.Server = f.URL // before {port} is replaced
	var o inspect.Options
	ctx, r, end, err := f.begin(cmd, s, argv, func(given *inspect.Options) {
		given.Violations = func([]protocol.Violation) {}
		o = *given
	})
	if err != nil {
		return err
	}
	r.Redactor.Add(f.Secrets...)
	return option.Guarded(r.World, s.Err, func() error {
		defer end()
		if r.Server.URL == "" && !f.given {
			f.sessions, f.o.Settings.Sessions = 1, 1
		}
		r.Server.RetryHTTP = new(0) // an overloaded server is to be seen, not spared
		if err := f.prepare(ctx, r, cases); err != nil {
			return err
		}
		leave, err := f.open(ctx, r, o)
		defer leave()
		if err != nil {
			return err
		}
		if err := f.checkLate(); err != nil {
			return err
		}
		if left := time.Until(f.o.Start.Add(-100 * time.Millisecond)); left > 0 {
			done := o.Doing("waiting for --start-at " + f.o.Start.Format(time.RFC3339))
			select {
			case <-time.After(left):
			case <-ctx.Done():
			}
			done()
		}
		text := load.Foresee(f.shown.limits, int(f.o.Rate*f.duration.Seconds()), f.o.Rate)
		if text != "" {
			fmt.Fprintln(s.Err, "mcptest: "+text)
		}
		rep := f.send(ctx, r)
		err = f.shown.finish(s, rep, r.Palette)
		if sig, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx)); ok {
			return &option.ExitError{Code: sig.Code, Message: sig.Error()}
		}
		return err
	})
}

// send runs the load, and shows its progress on a terminal.
func (f *loadFlags) send(ctx context.Context, r *running) *load.Report {
	f.o.Server = r.Redactor.String(cmp.Or(f.o.Server, option.Where(r.Server)))
	f.o.Doing = func(elapsed time.Duration, n, failed int) {
		if r.Status.IsDue() {
			rate := float64(n) / max(0.2, elapsed.Seconds())
			calls, failures := display.Count(n, "call"), display.Count(failed, "error")
			r.Status.Set(fmt.Sprintf("%.0f of %.0f s · %s · %.1f/s · %s", elapsed.Seconds(), f.duration.Seconds(), calls, rate, failures))
		}
	}
	// A call is sent late if its goroutine has to wait for one of few schedulers: at 10,000
	// calls a second on two processors, 1.9 ms late (p99) becomes 0.25 ms (three pairs).
	f.o.Processors = runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * f.o.Processors))
	rep := load.Run(ctx, f.o)
	r.Status.Clear()
	if r.program != nil && !rep.Interrupted { // calls over HTTP only find that nothing listens
		select {
		case <-r.program.Done():
			rep.Ended = cmp.Or(rep.Ended, "the server exited")
		default:
		}
	}
	rep.Version = cmdutil.Version()
	for _, t := range append(rep.Tools, &rep.Total) {
		t.Why = r.Redactor.String(t.Why)
		for i := range t.Errors {
			t.Errors[i].Example = r.Redactor.String(t.Errors[i].Example)
		}
	}
	return rep
}

// open opens the sessions that are still missing; leave ends them.
func (f *loadFlags) open(ctx context.Context, r *running, o inspect.Options) (leave func(), err error) {
	f.o.Sessions = []load.Session{r.Conn.Session()}
	var more []*inspect.Conn
	leave = func() {
		for _, c := range more {
			c.Close()
		}
	}
	for len(f.o.Sessions) < f.sessions {
		c := inspect.New(o)
		if err := c.Open(ctx); err != nil {
			r.Single = fmt.Sprintf("--sessions %d sends all calls in those that it accepts", len(f.o.Sessions))
			return leave, r.Failed(ctx, fmt.Sprintf("session %d of %d", len(f.o.Sessions)+1, f.sessions), err)
		}
		more = append(more, c)
		f.o.Sessions = append(f.o.Sessions, c.Session())
	}
	return leave, nil
}

// newLoadMergeCmd returns the command `mcptest load merge`.
func newLoadMergeCmd(s cmdutil.Streams) *cobra.Command {
	var f shownFlags
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Add the reports of all shards of a load",
		Long: `Add the reports that load --shard i/n -f json wrote, as if one process had sent the calls, and judge the budgets.
A shard that is missing, given twice or interrupted, one with other settings, and starts that are more than 1 s apart are errors.

Exit codes: 0 merged, and every budget passed; 1 no call succeeded, or an examined response did not pass; 2 the files are no shards of
one load; 6 a budget failed or is inconclusive.`,
		Example: `  mcptest load merge shard-*.json --budget p99=250ms,errors=0.1%`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			profile, err := term.Detect(s.Out, s.Env, "auto")
			if err != nil {
				return option.Invalid("%v", err)
			}
			var parts []*load.Report
			for _, name := range args {
				if err := option.RefuseOther("", name, filekind.Load); err != nil {
					return err
				}
				rep, err := readShard(name)
				if err != nil {
					return option.Invalid("%s: %s", name, cmdutil.Reason(err))
				}
				parts = append(parts, rep)
			}
			rep, err := load.Merge(args, parts)
			if err != nil {
				return option.Invalid("%v", err)
			}
			return f.finish(s, rep, term.NewPalette(profile))
		},
	}
	f.add(cmd)
	return cmd
}

// readShard reads a report.
func readShard(name string) (*load.Report, error) {
	const most = 64 << 20 // a report is smaller; /dev/zero has no end
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(data) > most {
		err = errors.New("the file is larger than 64 MiB, so it is not a report of mcptest load -f json")
	}
	if err != nil {
		return nil, err
	}
	return load.Read(data)
}
