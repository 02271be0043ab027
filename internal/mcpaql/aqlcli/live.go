package aqlcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/wire"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/process/proc"
)

// runWithAdapter runs fn with the adapter that the command line names.
func (c *call) runWithAdapter(fn func(ctx context.Context, t *target) int) int {
	t, ok := c.readTarget()
	if !ok {
		return verdict.ExitConfig
	}
	defer os.RemoveAll(t.home) // nothing if there is none
	return runWithProcesses(c.Streams, func(ctx context.Context, registry *proc.Registry) int {
		t.registry = registry
		return fn(ctx, t)
	})
}

// runWithProcesses runs fn with a context that a signal ends, and stops the processes in
// the registry afterwards.
func runWithProcesses(s cmdutil.Streams, fn func(ctx context.Context, registry *proc.Registry) int) int {
	w := cmdutil.NewWorld(s, slog.New(slog.DiscardHandler))
	ctx, stop := cmdutil.WatchSignals(context.Background(), s.Err, w.Kill)
	defer stop()
	defer w.Sweep(context.Background())
	code := fn(ctx, w.Registry)
	if sig, ok := errors.AsType[*proc.Interrupted](context.Cause(ctx)); ok {
		return sig.Code
	}
	return code
}

// readLiveOptions reads the options of a live run; it returns false after a mistake.
func (c *call) readLiveOptions(t *target) (guard.Options, bool) {
	o := guard.Options{
		Dial:       t.dial,
		Mode:       c.flags["mode"],
		Prefix:     c.flags["prefix"],
		Tool:       c.flags["tool"],
		Allow:      c.getAll("allow-op"),
		Deny:       c.getAll("deny-op"),
		AppendOnly: c.getAll("append-only"),
		Target:     t.describe(),
		Repeat:     c.repeat(t),
		Program:    aqlName + " " + cmdutil.Version(),
		RunID:      fmt.Sprintf("%06x", rand.N(1<<24)), // six hexadecimal digits
	}
	o.Stress, o.Probed = c.flags["stress"] != "", c.flags["bundle-scope"] == "probed"
	o.Confirm, o.Secrets = c.flags["confirm"] != "", t.secrets
	o.MaxCalls, _ = strconv.Atoi(c.flags["max-calls"])
	o.Rate, _ = strconv.ParseFloat(c.flags["rate"], 64)
	o.CallTimeout, _ = time.ParseDuration(c.flags["call-timeout"])
	o.Budget, _ = time.ParseDuration(c.flags["budget"])
	for _, glob := range append(o.Allow, o.Deny...) {
		if _, err := filepath.Match(glob, "x"); err != nil {
			return o, c.refuse("--allow-op, --deny-op: %q is not a valid pattern", glob)
		}
	}
	return o, c.openValues(&o)
}

func (c *call) runLive() int {
	if _, given := c.flags["replay"]; given {
		return c.replay()
	}
	if !c.recordFits() || !c.checkFiles() {
		return verdict.ExitConfig
	}
	if c.flags["record"] != "" && c.flags["allow-update-in-ci"] == "" && cmdutil.IsInCI(c.Env) {
		c.addProblem("--record: nothing is recorded because CI is set: record the run on your machine, or pass --allow-update-in-ci")
		return verdict.ExitRefused
	}
	return c.runWithAdapter(func(ctx context.Context, t *target) int {
		o, ok := c.readLiveOptions(t)
		if !ok {
			return verdict.ExitConfig
		}
		dir := c.flags["journal"]
		if dir == "" {
			var err error
			if dir, err = findStateDir(); err != nil {
				return c.addProblem("%s; --journal names one", err)
			}
		}
		var keys []string
		if o.Asking, keys, ok = c.readAsking(dir, t.registry); !ok {
			return verdict.ExitConfig
		}
		o.Secrets = append(o.Secrets, keys...)
		switch {
		case c.flags["clean"] != "":
			return c.cleanLive(ctx, o, dir)
		case o.Mode == guard.ModePlan:
			return c.planLive(ctx, o)
		}
		return c.collectLive(ctx, o, t, dir)
	})
}

func (c *call) collectLive(ctx context.Context, o guard.Options, t *target, dir string) int {
	var ok bool
	if o.Record, ok = c.startRecording(t, o); !ok {
		return verdict.ExitConfig
	}
	j := &journal{name: filepath.Join(dir, o.RunID+".jsonl"), first: journalLine{Target: o.Target, Run: o.RunID}}
	o.Journal = j.add
	if o.Mode == guard.ModeWrite || o.Mode == guard.ModeFull {
		if err := j.open(); err != nil {
			c.wasRecorded(o.Record)
			return c.addProblem("--journal: %s; without it nothing is created, so nothing was tested. --journal names another folder", err)
		}
	}
	var odd source.Diagnostics
	o.Warn = func(d source.Diagnostic) { odd.Add(d) }
	status := term.NewStatus(c.Err, c.Env)
	show := status.Set
	if !status.Live() {
		show = newSlowPrinter(c.Err, time.Now)
	}
	o.Progress = func(p guard.Progress) { show(formatProgress(p)) }
	e, err := live.Collect(ctx, o)
	status.Clear()
	j.end(e == nil || e.Live.Lookup("leftovers").Len() == 0)
	if o.Record != nil && ctx.Err() != nil {
		o.Record.Interrupt()
	}
	code := c.wasRecorded(o.Record)
	return max(code, c.reportLive(o, e, err, odd))
}

// reportLive makes the report of the collected evidence. Err is the reason why there
// is not evidence, or an error that occurred in addition to it.
func (c *call) reportLive(o guard.Options, e *evidence.Evidence, err error, odd source.Diagnostics) int {
	if e == nil {
		return c.reportNoAdapter(err)
	}
	least := 0
	if broken, ok := errors.AsType[*live.BrokenRunError](err); ok {
		c.addProblem("%s", broken)
		c.addProblem("%s", broken.Stack)
		least = verdict.ExitConfig
	}
	bundle := evidence.Mask(e.JSON(), o.Secrets)
	data := append(bundle.Indent("", "  "), '\n')
	name := c.flags["bundle"]
	if name != "" {
		if code := c.emitTo("bundle", name, data); code != 0 {
			return code
		}
	} else {
		name = "(live)"
	}
	// The report is made from the bundle's bytes, so that the bundle yields the same
	// report later.
	read, ds := evidence.Read(&source.File{Name: name, Path: name, Data: data})
	if !c.addDiagnostics(ds) {
		return verdict.ExitConfig
	}
	if c.flags["bundle"] == "" {
		read.File = nil // the report names no line of a file that was not written
	}
	opts := readJudgement(c.flags)
	opts.Rules = rule.Strict
	r := aql.Evaluate(read, opts)
	c.printUnproved(r)
	c.printAside(bundle.Lookup("x_live"), odd)
	return max(least, c.print(r), r.ExitCode, c.reportJudged(read))
}

// printAside prints notes that are not part of the report to the standard error.
func (c *call) printAside(live jsonv.Value, odd source.Diagnostics) {
	for _, d := range live.Lookup("changed").Elems() {
		c.addProblem("data changed that this run did not create: %s", d.Lookup("says").Text())
	}
	for _, l := range live.Lookup("leftovers").Elems() {
		c.addProblem("left behind: %s", aql.DescribeLeftover(l))
	}
	c.printExplained(odd)
	for _, n := range live.Lookup("notices").Elems() {
		if !slices.ContainsFunc(odd, func(d source.Diagnostic) bool { return d.Msg == n.Text() }) {
			c.addProblem("%s", n.Text())
		}
	}
	if why := live.Lookup("ended").Text(); why != "" {
		c.addProblem("the run is not complete: %s", why)
	}
}

// newSlowPrinter returns a function that writes at most one line in ten seconds, and none
// in the first ten: the progress of a long run in a log.
func newSlowPrinter(w io.Writer, now func() time.Time) func(line string) {
	last := now()
	return func(line string) {
		if t := now(); t.Sub(last) >= 10*time.Second {
			last = t
			fmt.Fprintf(w, "%s: %s\n", aqlName, line)
		}
	}
}

func formatProgress(p guard.Progress) string {
	s := p.Phase
	if p.Total > 0 {
		s += fmt.Sprintf(" · operation %d of %d", min(p.Done+1, p.Total), p.Total)
	}
	return fmt.Sprintf("%s · %d calls · %s", s, p.Calls, p.Elapsed.Round(time.Second))
}

// reportNoAdapter reports why there was no adapter to test.
func (c *call) reportNoAdapter(err error) int {
	c.addProblem("%s", strings.ReplaceAll(err.Error(), "connect_timeout", "--call-timeout"))
	if open, ok := errors.AsType[*wire.OpenError](err); ok {
		for line := range strings.Lines(open.Detail()) {
			c.addProblem("  %s", strings.TrimRight(line, "\n"))
		}
	}
	if refused, ok := errors.AsType[*wire.HTTPError](err); ok && c.flags["url"] != "" {
		c.suggestPaths(refused.Info.Status)
	}
	if _, ok := errors.AsType[*proc.StartError](err); ok {
		c.addProblem("  the command is not passed to a shell: write its words, or %s", shellwords.WrapInShell())
	}
	return verdict.ExitConfig
}

// usualPaths are where servers of MCP answer.
var usualPaths = []string{"/mcp", "/sse", "/"}

// suggestPaths names the address that refused the first request, and where servers usually are,
// unless the status says that the path is right.
func (c *call) suggestPaths(status int) {
	if status == http.StatusUnauthorized || status == http.StatusForbidden || status >= http.StatusInternalServerError {
		return
	}
	address := (&target{url: c.flags["url"]}).describe()
	c.addProblem("  the address is %s", address)
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	others := slices.DeleteFunc(slices.Clone(usualPaths), func(path string) bool {
		return path == u.Path || path == "/" && u.Path == ""
	})
	c.addProblem("  a wrong path? The usual ones are %s", strings.Join(others, " and "))
}

func (c *call) planLive(ctx context.Context, o guard.Options) int {
	o.Mode = guard.ModeFull
	var odd source.Diagnostics
	o.Warn = func(d source.Diagnostic) { odd.Add(d) }
	plan, template, err := live.Plan(ctx, o)
	if err != nil {
		return c.reportNoAdapter(err)
	}
	c.printExplained(odd)
	var b strings.Builder
	for _, p := range plan {
		fmt.Fprintf(&b, "%-8s risk %d  %s", p.Category, p.Risk, p.Operation)
		if len(p.Reasons) > 0 {
			fmt.Fprintf(&b, "  (%s)", strings.Join(p.Reasons, ", "))
		}
		b.WriteByte('\n')
		if p.Skipped != "" {
			fmt.Fprintf(&b, "         not called: %s\n", p.Skipped)
		} else {
			fmt.Fprintf(&b, "         mode %s: %s %s\n", p.Mode, p.Tool, p.Arguments)
		}
	}
	fmt.Fprintf(&b, "Mode safe calls operations of risk 0; write also creates, updates and deletes its own things; full also calls EXECUTE operations.\n")
	if name, given := c.flags["values-template"]; given {
		if code := c.emitTo("values-template", name, append(template.Indent("", "  "), '\n')); code != 0 || name == "-" {
			return code
		}
	}
	return c.emit(c.flags["output"], []byte(b.String()))
}

func (c *call) cleanLive(ctx context.Context, o guard.Options, dir string) int {
	if info, err := os.Stat(dir); c.flags["journal"] != "" && (err != nil || !info.IsDir()) {
		return c.addProblem("--journal: %s is not a folder: name the one that the run used", dir)
	}
	found, err := readJournals(dir, o.Target)
	if err != nil {
		return c.addProblem("%s", err)
	}
	defer found.close()
	for _, run := range found.going {
		c.addProblem("run %s is still running: what it created is kept", run)
	}
	for _, name := range found.foreign {
		c.addProblem("%s is not a journal of a live run and is ignored", name)
	}
	left := found.left
	if len(left) == 0 {
		says := "Nothing to clean up: no run of this adapter that has ended has a journal in " + dir
		if found.others > 0 {
			says += fmt.Sprintf(" (journals of other adapters: %d)", found.others)
		}
		return c.emit("-", []byte(says+".\n"))
	}
	done, err := live.Clean(ctx, o, left)
	if err != nil {
		return c.reportNoAdapter(err)
	}
	var b strings.Builder
	for _, s := range done.Removed {
		fmt.Fprintf(&b, "removed: %s\n", s)
	}
	fmt.Fprintf(&b, "%d removed, %d left; journals of runs that ended: %d\n", len(done.Removed), len(done.Failed), len(left))
	if len(done.Failed) > 0 {
		for _, s := range done.Failed {
			c.addProblem("left behind: %s", s)
		}
		return max(verdict.ExitFailed, c.emit("-", []byte(b.String())))
	}
	found.close() // some systems cannot remove an open file
	for _, f := range found.locks {
		_ = os.Remove(f.Name())
	}
	return c.emit("-", []byte(b.String()))
}

func (c *call) callTool() int {
	var args jsonv.Value
	if len(c.args) > 1 {
		var err error
		if args, err = jsonv.Parse([]byte(c.args[1])); err != nil {
			return c.addProblem("the arguments are not JSON: %s", err)
		}
	}
	return c.runWithAdapter(func(ctx context.Context, t *target) int {
		o := guard.Options{Dial: t.dial}
		o.CallTimeout, _ = time.ParseDuration(c.flags["call-timeout"])
		answer, took, err := live.CallOnce(ctx, o, c.args[0], args)
		if err != nil {
			return c.reportNoAdapter(err)
		}
		fmt.Fprintf(c.Err, "answered after %s\n", took.Round(time.Millisecond))
		code := c.emit("-", append(answer.Indent("", "  "), '\n'))
		if code == 0 && answer.Lookup("success").IsAbsent() {
			c.addProblem("%s did not answer as an MCP-AQL tool: is it one of the adapter's tools?", c.args[0])
			return verdict.ExitFailed
		}
		return code
	})
}
