package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/spec/plan"
)

// writeDryRun prints what a run would execute, in order (setup, servers, tests, calls),
// and the number of calls. It starts nothing.
func writeDryRun(w io.Writer, p *plan.Plan) error {
	return writeMasked(w, p, func(b *bufio.Writer) {
		d := dryRunner{b: b, servers: map[string]bool{}}
		file := -1
		for i := range p.Len() {
			if n := p.FileOf(i); n != file {
				d.close(p, file)
				file = n
				d.open(p, i, n)
			}
			d.test(p.Case(i))
		}
		d.close(p, file)
		d.printTotal(p.Len())
	})
}

// dryRunner counts the items it prints.
type dryRunner struct {
	b                        *bufio.Writer
	servers                  map[string]bool // by key
	fresh                    int             // servers restarted for each test
	calls, most, hooks, runs int
	skipped                  int
	execs                    bool
}

func (d *dryRunner) printLine(indent int, format string, args ...any) {
	fmt.Fprintf(d.b, "%*s%s\n", indent, "", term.Escape(fmt.Sprintf(format, args...)))
}

func (d *dryRunner) open(p *plan.Plan, first, n int) {
	f := p.Files[n]
	d.printLine(0, "suite %s (%s)", f.Name, f.Path)
	d.printScope(2, 1, 1, f.BeforeAll, f.Setup, nil)
	seen := map[*plan.Server]bool{}
	for i := first; i < p.Len() && p.FileOf(i) == n; i++ {
		s := p.ServerOf(i)
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		target := strings.Join(s.Written(), " ")
		if s.URL != "" {
			target = s.URL
		}
		d.printLine(2, "server %s: %s", s.Name, target)
	}
}

func (d *dryRunner) close(p *plan.Plan, n int) {
	if n >= 0 {
		f := p.Files[n]
		d.printScope(2, 1, 1, nil, f.Teardown, f.AfterAll)
	}
}

// printScope prints hooks and steps in the order in which they would run; times is the
// number of runs, most the number with retries.
func (d *dryRunner) printScope(indent, times, most int, before []*plan.Hook, steps []*plan.Step, after []*plan.Hook) {
	for _, h := range before {
		d.printLine(indent, "%s %s", h.Phase, h.Command)
	}
	for _, s := range steps {
		text := s.Phase + " " + s.Name
		if s.Background {
			text += " (in the background)"
		}
		if s.WaitFor != "" {
			text += ", until " + s.WaitFor
		}
		d.printLine(indent, "%s", text)
		if s.Call != nil {
			d.calls += times
			d.most += most
		} else {
			d.runs += times
		}
	}
	for _, h := range after {
		d.printLine(indent, "%s %s", h.Phase, h.Command)
	}
	d.hooks += times * (len(before) + len(after))
}

func (d *dryRunner) test(c *plan.Case) {
	text := "test " + c.Name
	if c.Server != nil {
		text += " on " + c.Server.Name
	}
	if len(c.Tags) > 0 {
		text += " [" + strings.Join(c.Tags, ", ") + "]"
	}
	if c.Skip != "" {
		d.printLine(2, "%s: skipped: %s", text, c.Skip)
		d.skipped++
		return
	}
	text += ", timeout " + c.Timeout.String()
	times, tries := 1, 1+c.Retries
	if c.Repeat != nil {
		times, tries = c.Repeat.Times, 1
		text += fmt.Sprintf(", %d times (a share of %v must pass)", times, c.Repeat.Rate())
	} else if c.Trials != nil {
		times, tries = c.Trials.Design().Max, 1
		text += fmt.Sprintf(", up to %d trials (good from %v, bad up to %v)", times, c.Trials.Want, c.Trials.Floor)
	} else if c.Retries > 0 {
		text += fmt.Sprintf(", up to %d tries", tries)
	}
	d.printLine(2, "%s", text)
	if c.Server != nil && c.File.Options.RestartPolicy == plan.PerTest {
		d.fresh += times
	}
	d.printScope(4, times, times*tries, c.File.BeforeEach, c.File.SetupPerTest, nil)
	for _, op := range c.Ops {
		d.printLine(4, "%s", describeOp(op, len(c.Ops) > 1, c.Server))
		d.execs = d.execs || op.Tree != nil && op.Tree.Uses().Execs()
		if op.Server != nil {
			d.servers[op.Server.Key] = true
		}
	}
	d.execs = d.execs || c.Tree.Uses().Execs()
	d.printScope(4, times, times*tries, nil, c.File.TeardownPerTest, c.File.AfterEach)
	d.calls += len(c.Ops) * times
	d.most += len(c.Ops) * times * tries
}

func describeOp(op *plan.Op, flow bool, server *plan.Server) string {
	text := op.Method + " " + string(op.Params)
	switch {
	case op.Action != nil:
		text = op.Action.Plan()
	case op.Raw != nil:
		text = "raw bytes " + string(op.Raw)
	case op.Fill != nil:
		text = strings.TrimSpace(op.Method+" "+op.Subject) + " (with values of earlier steps)"
	case op.MaybeMethod:
		text += " (or the method " + op.Subject + ", if no tool has that name)"
	case op.Notification:
		text = "notification " + text
	}
	if flow && op.Server != nil && op.Server != server {
		text += " on " + op.Server.Name
	}
	if op.CancelAfter > 0 {
		text += ", cancelled after " + op.CancelAfter.String()
	}
	if op.Wait != nil {
		text += ", then wait for " + op.Wait.Notification
	}
	if op.Until != nil {
		text += ", until the assertions hold"
	}
	return strings.TrimSpace(text)
}

// printTotal prints the totals.
func (d *dryRunner) printTotal(tests int) {
	parts := []string{display.Count(tests-d.skipped, "test")}
	calls := display.Count(d.calls, "call")
	if d.most > d.calls {
		calls += fmt.Sprintf(" (up to %d with retries)", d.most)
	}
	parts = append(parts, calls)
	started := display.Count(len(d.servers), "server")
	if d.fresh > 0 {
		started += " (started afresh for each test)"
	}
	parts = append(parts, started)
	if d.hooks > 0 {
		parts = append(parts, display.Count(d.hooks, "hook"))
	}
	if d.runs > 0 {
		parts = append(parts, display.Count(d.runs, "fixture program"))
	}
	if d.execs {
		parts = append(parts, "programs of exec matchers")
	}
	d.printLine(0, "Nothing was started. A run would take: %s.", strings.Join(slices.Clip(parts), ", "))
}

// writeMasked masks the secrets of a plan's suites in the output of fn.
func writeMasked(w io.Writer, p *plan.Plan, fn func(b *bufio.Writer)) error {
	redactor := secret.NewRedactor()
	for _, f := range p.Files {
		redactor.Add(f.Suite.Secrets...)
	}
	out := redactor.Writer(w)
	b := bufio.NewWriter(out)
	fn(b)
	err := b.Flush()
	closed := out.Close()
	if err == nil {
		err = closed
	}
	return err
}

// listTests prints the names of the selected tests, one per line.
func listTests(w io.Writer, p *plan.Plan) error {
	return writeMasked(w, p, func(b *bufio.Writer) {
		for i := range p.Len() {
			_, _ = b.WriteString(term.Escape(p.Name(i)))
			_ = b.WriteByte('\n')
		}
	})
}
