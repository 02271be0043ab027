package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// World holds the seams to the outside.
type World struct {
	Tool result.Tool
	// Send takes the events; it may be called from several goroutines.
	Send func(result.Event)
	// Secret adds values that no output may show (those a hook hands over).
	Secret func(values ...string)
	// Log is told what reports leave out, the output of every hook and step
	// among it; nil: nobody. It must redact.
	Log *slog.Logger
	// Settle, unless nil, sees every case before it counts and may change its
	// verdict, as a baseline of known failures does. It is called from several
	// goroutines.
	Settle func(c *result.Case)
	// Closing, unless nil, is asked once, after the last case and before the
	// exit code is settled, for findings about the run as a whole.
	Closing func() []result.Finding
	// Dial opens the transport of a server; nil: the built-in one.
	Dial func(ctx context.Context, s *plan.Server, o DialOptions) (mcp.Transport, error)
	// Exec runs a hook or a step in the foreground; nil: proc.Run.
	Exec func(ctx context.Context, s proc.Spec) proc.Result
	// Keeper is told of every process group. With nil the run keeps them
	// itself, without a guardian and a subreaper.
	Keeper proc.Keeper
	// Command repeats the run, for reports.
	Command string
	// Shard says which part of a larger run the plan is; nil: it is all.
	Shard *result.Shard
	// Grace is how long a server or background step has to end politely;
	// zero: proc's defaults.
	Grace proc.Grace
	// Eras holds hints on the eras of servers, and takes those for the next
	// run; nil: there are none.
	Eras *Eras
	// Tokens is the file in which logins of people are kept.
	Tokens string
	// Limits of the wire; zero fields are defaults.
	Limits mcp.Limits
	// Live asks for CaseStarted events.
	Live bool
	// Sweep ends what is left at the very end and names it; nil: nothing is.
	Sweep func(ctx context.Context) []proc.Leftover

	// Dir is Run.Dir of the record.
	Dir string
	// Notes go into the record first.
	Notes []string
	// Again are the flags that a line which repeats a test needs beside the
	// test's name.
	Again []string
	// Part is what of the plan is run; the zero value: all of it.
	Part Part
	// LogDir is the folder for the logs of background steps. With Up it is
	// needed: pipes would end with the runner.
	LogDir string
	// HandOver is called in place of Sweep when Part is Up and every file
	// is up: whoever takes over ends the groups that the Keeper knows. With
	// an error the world is ended here after all.
	HandOver func(files []Kept) error
	// UpHere says that an earlier run's world is up in the current folder.
	UpHere bool
	// Kept is, for Down, what an earlier run with Up handed over, a file each.
	Kept []Kept
}

// Part says which part of a plan is run.
type Part uint8

// The parts of a run.
const (
	Whole Part = iota
	Up         // beforeAll and setup, and then leave everything running
	Down       // teardown and afterAll of what Up left
)

// DialOptions are what a transport needs beside the server's definition.
type DialOptions struct {
	Keeper proc.Keeper
	Limits mcp.Limits
	Grace  proc.Grace

	UserAgent string // HTTP
	Tokens    string // the file in which logins of people are kept
	// Secret is told what no output may show (OAuth tokens); nil: nobody.
	Secret func(values ...string)
}

// Interrupted is the cause of a run's context that a signal ended.
type Interrupted struct {
	Signal string // "SIGINT"
	Code   int    // 128 + its number
}

// Error names the signal.
func (i *Interrupted) Error() string { return "interrupted by " + i.Signal }

// Exit codes of a run, from the most to the least important after a signal.
const (
	ExitPassed  = 0
	ExitInvalid = 2 // setup failed
	ExitFailed  = 1
	ExitReady   = 3 // a server's readiness was waited for in vain
	ExitFault   = 4 // a fault of ours
	// ExitCancelled ends a run whose context was cancelled, but not by a
	// signal.
	ExitCancelled = 130
)

// runner is the state of one run.
type runner struct {
	w     World
	log   *slog.Logger
	plan  *plan.Plan
	start time.Time
	pool  *pool
	clean *cleanup
	room  room // for the trees of large answers

	failed      atomic.Bool // a case or a beforeAll failed, or a case could not be tested
	setupFailed atomic.Bool
	badFinding  atomic.Bool
	unready     atomic.Bool            // a case could not be tested because its server was not ready in time
	late        sync.Map               // the index of each such case until it is concluded
	internal    atomic.Bool            // a fault of ours
	stopped     atomic.Pointer[string] // why no further case is started
	findings    findings
}

// Run executes the plan and returns the exit code. When ctx is cancelled with
// an *Interrupted cause, no further case is started, what runs is given up,
// and clean-up is done within ten seconds.
func Run(ctx context.Context, p *plan.Plan, w World) int {
	r := &runner{w: w, log: w.Log, plan: p, start: time.Now(), clean: newCleanup(ctx)}
	defer r.clean.close()
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if w.Exec == nil {
		r.w.Exec = proc.Run
	}
	if w.Eras == nil {
		r.w.Eras = NewEras(map[string]mcp.Era{})
	}
	if w.Keeper == nil {
		own := proc.NewLedger(nil, nil)
		r.w.Keeper = own
		r.w.Sweep = func(ctx context.Context) []proc.Leftover { return own.Close(ctx, w.Grace) }
	}
	r.pool = newPool(r)
	r.begin()
	switch w.Part {
	case Up:
		r.up(ctx)
	case Down:
		r.down(ctx)
	default:
		for _, f := range r.files() {
			f.run(ctx)
		}
	}
	r.protect(func() { r.pool.closeAll(r.clean.ctx) })
	r.sweep()
	return r.finish(ctx)
}

// files are the plan's files that have a case to run; where no case is wanted,
// because only the brackets are run, all of them.
func (r *runner) files() []*fileRun {
	var out []*fileRun
	first := 0
	for i, f := range r.plan.Files {
		end := first
		for end < r.plan.Len() && r.plan.FileOf(end) == i {
			end++
		}
		if end > first || r.plan.Len() == 0 && r.w.Part != Whole {
			out = append(out, &fileRun{runner: r, file: f, index: i, first: first, end: end})
		}
		first = end
	}
	return out
}

func (r *runner) begin() {
	e := result.RunStarted{Tool: r.w.Tool, Started: r.start, Total: r.plan.Len(), Parallel: 1, Command: r.w.Command, Dir: r.w.Dir, Shard: r.w.Shard}
	if r.w.Part != Whole {
		e.Total = 0
	}
	for _, f := range r.plan.Files {
		e.Suites = append(e.Suites, result.Suite{Name: f.Name, File: f.Path})
		if !f.Serial && !f.Options.Whole {
			e.Parallel = max(e.Parallel, f.Options.Parallel)
		}
	}
	r.w.Send(e)
	for _, note := range r.w.Notes {
		r.w.Send(result.Noted{Note: note})
	}
	if e.Shard != nil {
		r.w.Send(result.Noted{Note: e.Shard.Note()})
	}
}

func (r *runner) finish(ctx context.Context) int {
	if r.w.Closing != nil {
		for _, f := range r.w.Closing() {
			r.finding(f)
		}
	}
	for _, f := range r.findings.rest() {
		r.w.Send(result.FindingSeen{Finding: f})
	}
	e := result.RunFinished{DurationMS: r.since(r.start)}
	var in *Interrupted
	switch {
	case errors.As(context.Cause(ctx), &in):
		e.ExitCode, e.Interrupted = in.Code, in.Signal
		r.w.Send(result.FindingSeen{Finding: result.Finding{
			Kind: result.Stopped, Severity: "error", Message: in.Signal + " ended the run: tests that were running were given up, the rest was not begun",
		}})
	case ctx.Err() != nil:
		e.ExitCode, e.Interrupted = ExitCancelled, "cancelled"
	case r.setupFailed.Load():
		e.ExitCode = ExitInvalid
	case r.failed.Load() || r.badFinding.Load():
		e.ExitCode = ExitFailed
	case r.unready.Load():
		e.ExitCode = ExitReady
	case r.internal.Load():
		e.ExitCode = ExitFault
	}
	r.w.Send(e)
	return e.ExitCode
}

// sweep ends what is left and reports it by name.
func (r *runner) sweep() {
	if r.w.Sweep == nil {
		return
	}
	for _, l := range r.w.Sweep(r.clean.ctx) {
		of := ""
		if l.Of != "" {
			of = " by " + l.Of
		}
		r.finding(result.Finding{
			Kind: "leftover-process", Severity: "warning",
			Message: fmt.Sprintf("a process was left running%s: pid %d %s (ended now)", of, l.Pid, l.Command),
		})
	}
}

// protect runs fn. A fault of ours in it is reported and does not keep the
// run from ending what it began; the result says that there was one.
func (r *runner) protect(fn func()) (fault string) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Sprintf("internal error: %v", p)
			r.internal.Store(true)
			r.finding(result.Finding{Kind: "internal-error", Severity: "warning", Message: fault, Excerpt: string(debug.Stack())})
		}
	}()
	fn()
	return ""
}

// since is the time from t until now in milliseconds.
func (r *runner) since(t time.Time) float64 { return ms(time.Since(t)) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// halt keeps further cases from being started, with a reason.
func (r *runner) halt(reason string) { r.stopped.CompareAndSwap(nil, &reason) }

// interruptedReason is the reason of a case that a signal kept from its end.
const interruptedReason = "interrupted"

// halted returns why no further case is started.
func (r *runner) halted(ctx context.Context) (string, bool) {
	if ctx.Err() != nil {
		return interruptedReason, true
	}
	if s := r.stopped.Load(); s != nil {
		return *s, true
	}
	return "", false
}
