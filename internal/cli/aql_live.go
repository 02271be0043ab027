package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/aql"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/proc"
	"mcptest/internal/run"
	"mcptest/internal/source"
	"mcptest/internal/term"
)

func aqlLiveCommands(format, output aqlFlag) []aqlCommand {
	flags := append(aqlTargetFlags(),
		aqlFlag{"mode", "", "one of " + strings.Join(aql.Modes(), ", "), "what may be called (default safe: only what reads)", oneOf(aql.Modes()...), false},
		aqlFlag{"level", "l", "1 or 2", "conformance level to test (default 1)", oneOf("1", "2"), false},
		output, format,
		aqlFlag{"bundle", "", "a file", "write the evidence, for test and for later", anyValue, false},
		aqlFlag{"values", "", "a JSON file", "values for parameters: {operation: {parameter: value}}, * for every operation", anyValue, false},
		aqlFlag{"values-template", "", "a file, or -", "with --mode plan: write a file for --values with what no value was found for", anyValue, false},
		many(aqlFlag{"allow-op", "", "a name with * and ?", "call operations that the mode would leave out (may be repeated)", anyValue, false}),
		many(aqlFlag{"deny-op", "", "a name with * and ?", "never call these operations (may be repeated)", anyValue, false}),
		many(aqlFlag{"append-only", "", "operation:field", "a field that this update must not change (may be repeated)", updateField, false}),
		aqlFlag{"max-calls", "", "a number", "calls at most, clean-up aside (default 2000)", number(1, 1_000_000), false},
		aqlFlag{"rate", "", "a number", "calls a second at most", positive, false},
		aqlFlag{"budget", "", "a duration such as 5m", "time for the whole run (default 10m)", duration, false},
		aqlFlag{"confirm", "", "", "in mode write and full: give the confirmations that operations ask for", nil, false},
		aqlFlag{"stress", "", "", "also send requests over the limits of size", nil, false},
		aqlFlag{"bundle-scope", "", "all or probed", "probed: leave operations that were not called out of the bundle, for the reference rules (default all)", oneOf("all", "probed"), false},
		normativeFlag(),
		aqlFlag{"prefix", "", "a name", "the prefix of the tools, where a server has several adapters", anyValue, false},
		aqlFlag{"tool", "", "a name", "the tool that takes introspect", anyValue, false},
		aqlFlag{"single-command", "", "a command line", "how to start the adapter with its single endpoint", anyValue, false},
		aqlFlag{"single-url", "", "an address", "where the adapter's single endpoint is", anyValue, false},
		aqlFlag{"journal", "", "a folder", "where the journal of what was created is kept (default in the user's cache folder)", anyValue, false},
		aqlFlag{"clean", "", "", "test nothing: remove what killed runs in write mode left behind", nil, false},
		aqlFlag{"fail-on", "", "warn", "exit with 2 when anything warned, in a MUST category too", oneOf("warn"), false},
	)
	flags = append(append(flags, recordFlags()...), modelFlags()...)
	return []aqlCommand{
		{"live", nil, "test a running adapter", "Looks at a running adapter and judges what it saw by the strict rules. In mode safe nothing is called but\n" +
			"what reads; write creates, updates and deletes things of its own, marked zz_conf_, and removes them again.\n" +
			"Exit code: 0 conformant at the level asked for, 1 a MUST category failed, 2 a SHOULD category warned,\n" +
			"3 a mistake in the command line or of this program, or no adapter there, 130 interrupted.", flags, (*aqlCall).live},
		{"call", []string{"tool", "[arguments-json]"}, "call one tool of an adapter", "Calls one tool with arguments, a JSON object, and prints the answer: it repeats a finding of live.\nNo policy holds it back.", aqlTargetFlags(), (*aqlCall).callTool},
	}
}

// normativeFlag is an option of all that judge by the strict rules.
func normativeFlag() aqlFlag {
	return aqlFlag{"normative", "", "", "strict rules: what the normative document calls a MUST fails, where documents disagree too", nil, false}
}

func updateField(s string) (string, error) {
	if op, field, ok := strings.Cut(s, ":"); !ok || op == "" || field == "" {
		return "", fmt.Errorf("want operation:field, such as update_log:entries; got %q", s)
	}
	return s, nil
}

func positive(s string) (string, error) {
	if f, err := strconv.ParseFloat(s, 64); err != nil || !(f > 0) || f > 1e6 {
		return "", fmt.Errorf("want a number above 0; got %q", s)
	}
	return s, nil
}

// withAdapter runs fn with a context that a signal ends and a keeper that
// ends what was started.
func (c *aqlCall) withAdapter(fn func(ctx context.Context, t *aqlTarget) int) int {
	t, ok := c.target()
	if !ok {
		return aql.ExitConfig
	}
	defer t.end()
	w := newWorld(c.Streams, slog.New(slog.DiscardHandler))
	ctx, stop := watchSignals(context.Background(), c.Err, w.kill)
	defer stop()
	t.keeper = w.ledger
	defer w.sweep(context.Background())
	code := fn(ctx, t)
	var sig *run.Interrupted
	if errors.As(context.Cause(ctx), &sig) {
		return sig.Code
	}
	return code
}

// liveOptions reads the options of a live run; false after a mistake.
func (c *aqlCall) liveOptions(t *aqlTarget) (aql.LiveOptions, bool) {
	o := aql.LiveOptions{
		Dial: t.dial, Mode: c.flags["mode"], Prefix: c.flags["prefix"], Tool: c.flags["tool"], Allow: c.all("allow-op"), Deny: c.all("deny-op"), AppendOnly: c.all("append-only"),
		Target: t.shown(), Repeat: t.repeat(), Program: aqlName + " " + version(), RunID: newRunID(),
	}
	o.Stress, o.Probed = c.flags["stress"] != "", c.flags["bundle-scope"] == "probed"
	o.Confirm, o.Secrets = c.flags["confirm"] != "", t.secrets
	o.MaxCalls, _ = strconv.Atoi(c.flags["max-calls"])
	o.Rate, _ = strconv.ParseFloat(c.flags["rate"], 64)
	o.CallTimeout, _ = time.ParseDuration(c.flags["call-timeout"])
	o.Budget, _ = time.ParseDuration(c.flags["budget"])
	for _, glob := range append(o.Allow, o.Deny...) {
		if _, err := filepath.Match(glob, "x"); err != nil {
			c.problem("--allow-op, --deny-op: %q is no pattern", glob)
			return o, false
		}
	}
	if !c.openValues(&o) {
		return o, false
	}
	return o, true
}

// newRunID names a run by six hexadecimal digits.
func newRunID() string {
	var b [3]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (c *aqlCall) live() int {
	if _, given := c.flags["replay"]; given {
		return c.replay()
	}
	if !c.recordFits() || !c.writable() {
		return aql.ExitConfig
	}
	return c.withAdapter(func(ctx context.Context, t *aqlTarget) int {
		o, ok := c.liveOptions(t)
		if !ok {
			return aql.ExitConfig
		}
		dir := c.flags["journal"]
		if dir == "" {
			var err error
			if dir, err = stateDir(); err != nil {
				c.problem("%s; --journal names one", err)
				return aql.ExitConfig
			}
		}
		var keys []string
		if o.Asking, keys, ok = c.asking(dir, t.keeper); !ok {
			return aql.ExitConfig
		}
		o.Secrets = append(o.Secrets, keys...)
		switch {
		case c.flags["clean"] != "":
			return c.liveClean(ctx, o, dir)
		case o.Mode == aql.ModePlan:
			return c.livePlan(ctx, o)
		}
		return c.liveRun(ctx, o, dir)
	})
}

func (c *aqlCall) liveRun(ctx context.Context, o aql.LiveOptions, dir string) int {
	tape, ok := c.startRecording()
	if !ok {
		return aql.ExitConfig
	}
	if tape != nil {
		o.Record, o.Recorded = tape, c.recordedOptions()
	}
	j := newJournal(dir, o.Target, o.RunID)
	o.Journal = j
	if o.Mode == aql.ModeWrite || o.Mode == aql.ModeFull {
		if err := j.open(); err != nil {
			c.problem("--journal: %s; without it nothing is created, so nothing was tested. --journal names another folder", err)
			return aql.ExitConfig
		}
	}
	var odd source.Diagnostics
	o.Warn = func(d source.Diagnostic) { odd.Add(d) }
	status := term.NewStatus(c.Err, c.Env)
	o.Progress = func(p aql.Progress) { status.Set(progressLine(p)) }
	e, err := aql.Collect(ctx, o)
	status.Clear()
	j.end(e == nil || e.Live.Lookup("leftovers").Len() == 0)
	code := c.wasRecorded(tape, err)
	return max(code, c.liveReport(o, e, err, odd))
}

// liveReport makes the report of what was collected. Err is why there is no
// evidence, or beside evidence what went wrong.
func (c *aqlCall) liveReport(o aql.LiveOptions, e *aql.Evidence, err error, odd source.Diagnostics) int {
	if e == nil {
		return c.noAdapter(err)
	}
	least := 0
	var broken *aql.BrokenRunError
	if errors.As(err, &broken) {
		c.problem("%s", broken)
		c.problem("%s", broken.Stack)
		least = aql.ExitConfig
	}
	bundle := aql.Mask(e.JSON(), o.Secrets)
	data := append(bundle.Indent("", "  "), '\n')
	name := c.flags["bundle"]
	if name != "" {
		if code := c.emitTo("bundle", name, data); code != 0 {
			return code
		}
	} else {
		name = "(live)"
	}
	// The report is made from the bundle's bytes, so that the bundle gives
	// the same one later.
	read, ds := aql.ReadEvidence(&source.File{Name: name, Path: name, Data: data})
	if !c.diagnostics(ds) {
		return aql.ExitConfig
	}
	opts := aql.Options{Level: 1, Rules: aql.Strict, Normative: c.flags["normative"] != ""}
	if c.flags["level"] == "2" {
		opts.Level = 2
	}
	r := aql.Evaluate(read, opts)
	c.aside(bundle.Lookup("x_live"), odd)
	if c.flags["fail-on"] == "warn" && r.ExitCode == aql.ExitPassed && r.Warns() {
		r.ExitCode = aql.ExitWarned
	}
	return max(least, c.print(r), r.ExitCode, c.judged(read))
}

// aside tells on the standard error what a report may be read without.
func (c *aqlCall) aside(live jsonv.Value, odd source.Diagnostics) {
	for _, l := range live.Lookup("leftovers").Elems() {
		c.problem("left behind: %s", aql.Leftover(l))
	}
	c.explained(odd)
	for _, n := range live.Lookup("notices").Elems() {
		if !slices.ContainsFunc(odd, func(d source.Diagnostic) bool { return d.Msg == n.Text() }) {
			c.problem("%s", n.Text())
		}
	}
	if why := live.Lookup("ended").Text(); why != "" {
		c.problem("the run is not complete: %s", why)
	}
}

func progressLine(p aql.Progress) string {
	s := p.Phase
	if p.Total > 0 {
		s += fmt.Sprintf(" · operation %d of %d", min(p.Done+1, p.Total), p.Total)
	}
	return fmt.Sprintf("%s · %d calls · %s", s, p.Calls, p.Elapsed.Round(time.Second))
}

// noAdapter says why there was nothing to test.
func (c *aqlCall) noAdapter(err error) int {
	c.problem("%s", err)
	var open *mcp.OpenError
	if errors.As(err, &open) {
		for line := range strings.Lines(open.Detail()) {
			c.problem("  %s", strings.TrimRight(line, "\n"))
		}
	}
	var start *proc.StartError
	if errors.As(err, &start) {
		c.problem("  the command is started as it stands: write the words of a shell line, or bash -c '…'")
	}
	return aql.ExitConfig
}

func (c *aqlCall) livePlan(ctx context.Context, o aql.LiveOptions) int {
	o.Mode = aql.ModeFull
	plan, template, err := aql.PlanLive(ctx, o)
	if err != nil {
		return c.noAdapter(err)
	}
	var b strings.Builder
	for _, p := range plan {
		fmt.Fprintf(&b, "%-8s risk %d  %s", p.Category, p.Risk, p.Operation)
		if len(p.Reasons) > 0 {
			fmt.Fprintf(&b, "  (%s)", strings.Join(p.Reasons, ", "))
		}
		b.WriteByte('\n')
		switch {
		case p.Skipped != "":
			fmt.Fprintf(&b, "         not called: %s\n", p.Skipped)
		default:
			fmt.Fprintf(&b, "         %s %s\n", p.Tool, p.Arguments)
		}
	}
	fmt.Fprintf(&b, "Mode safe calls what has risk 0; write also creates, updates and deletes things of its own; full calls EXECUTE too.\n")
	if name, given := c.flags["values-template"]; given {
		if code := c.emitTo("values-template", name, append(template.Indent("", "  "), '\n')); code != 0 || name == "-" {
			return code
		}
	}
	return c.emit(c.flags["output"], []byte(b.String()))
}

func (c *aqlCall) liveClean(ctx context.Context, o aql.LiveOptions, dir string) int {
	if info, err := os.Stat(dir); c.flags["journal"] != "" && (err != nil || !info.IsDir()) {
		c.problem("--journal: %s is no folder: name the one that the run was given", dir)
		return aql.ExitConfig
	}
	found, err := journals(dir, o.Target)
	if err != nil {
		c.problem("%s", err)
		return aql.ExitConfig
	}
	defer found.close()
	for _, run := range found.going {
		c.problem("run %s is still going: what it created is left alone", run)
	}
	for _, name := range found.odd {
		c.problem("%s is no journal of a live run: it is passed over", name)
	}
	left, files := found.left, found.files
	if len(left) == 0 {
		says := "Nothing to clean up: no run of this adapter that has ended has a journal in " + dir
		if found.others > 0 {
			says += fmt.Sprintf(" (journals of other adapters: %d)", found.others)
		}
		return c.emit("-", []byte(says+".\n"))
	}
	done, err := aql.CleanLive(ctx, o, left)
	if err != nil {
		return c.noAdapter(err)
	}
	var b strings.Builder
	for _, s := range done.Removed {
		fmt.Fprintf(&b, "removed: %s\n", s)
	}
	fmt.Fprintf(&b, "%d removed, %d left; journals of runs that ended: %d\n", len(done.Removed), len(done.Failed), len(left))
	if len(done.Failed) > 0 {
		for _, s := range done.Failed {
			c.problem("left behind: %s", s)
		}
		return max(aql.ExitFailed, c.emit("-", []byte(b.String())))
	}
	found.close() // a file that is open cannot be removed everywhere
	for _, f := range files {
		_ = os.Remove(f)
	}
	return c.emit("-", []byte(b.String()))
}

func (c *aqlCall) callTool() int {
	var args jsonv.Value
	if len(c.args) > 1 {
		var err error
		if args, err = jsonv.Parse([]byte(c.args[1])); err != nil {
			c.problem("the arguments are not JSON: %s", err)
			return aql.ExitConfig
		}
	}
	return c.withAdapter(func(ctx context.Context, t *aqlTarget) int {
		o := aql.LiveOptions{Dial: t.dial}
		o.CallTimeout, _ = time.ParseDuration(c.flags["call-timeout"])
		answer, took, err := aql.CallOnce(ctx, o, c.args[0], args)
		if err != nil {
			return c.noAdapter(err)
		}
		fmt.Fprintf(c.Err, "%s\n", took.Round(time.Millisecond))
		return c.emit("-", append(answer.Indent("", "  "), '\n'))
	})
}
