package playback

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/transport"
)

// Flags are the flags for recording or replaying a run.
type Flags struct {
	Record, Replay string // folders
	Damage         bool   // change the values of replayed responses
	volatile       []string
}

// Suffix ends the names of cassettes.
const Suffix = cassette.Suffix

// Again returns the flags that a run of one test needs to replay it again.
func (c *Flags) Again() []string {
	if c.Replay == "" {
		return nil
	}
	out := []string{"--replay", c.Replay}
	if c.Damage {
		out = append(out, "--damage")
	}
	for _, path := range c.volatile {
		out = append(out, "--volatile", path)
	}
	return out
}

// Add declares the flags.
func (c *Flags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.Record, "record", "", "record what passes between mcptest and the servers to cassettes in this `folder`, without secrets; refused in CI (exit 5)")
	fl.StringVar(&c.Replay, "replay", "", "respond from the cassettes in this `folder`: no server is started, and no hook or run: step that prepares one")
	fl.BoolVar(&c.Damage, "damage", false, "with --replay: change the contents of every response, to find the tests that pass although nothing is right")
	fl.StringArrayVar(&c.volatile, "volatile", nil, "with --record or --replay: ignore this `path` in the parameters of requests, such as arguments.now; may be repeated")
}

// Used reports whether the run is recorded or replayed.
func (c *Flags) Used() bool { return c.Record != "" || c.Replay != "" }

// Check rejects invalid combinations of flags, and those that CI forbids.
func (c *Flags) Check(env []string, allowInCI, setupOnly bool) error {
	switch {
	case c.Record != "" && c.Replay != "":
		return option.Invalid("--record and --replay cannot be used together")
	case c.Damage && c.Replay == "":
		return option.Invalid("--damage has an effect only with --replay")
	case len(c.volatile) > 0 && !c.Used():
		return option.Invalid("--volatile has an effect only with --record or --replay")
	case c.Used() && setupOnly:
		return option.Invalid("--record and --replay cannot be used with --setup-only")
	case c.Record != "":
		return option.AllowUpdate(env, allowInCI, "nothing is recorded", "mcptest run --record "+c.Record)
	}
	return nil
}

// Cassettes are the cassettes of a run; nil without the flags.
type Cassettes struct {
	*transport.Folder
	flags *Flags
	plan  *plan.Plan
	whole bool // all tests are run, so that every recorded request should be sent
	tests judged
}

// Open opens the cassettes of a plan; nil without the flags. For a replay, it removes
// steps from the plan that only prepare servers, and adds notes for the record.
func (c *Flags) Open(s cmdutil.Streams, p *plan.Plan, redact *secret.Redactor, notes []string) (*Cassettes, []string, error) {
	o := transport.Options{Program: "mcptest " + cmdutil.Version(), Redact: redact, Volatile: c.volatile}
	out := &Cassettes{flags: c, plan: p, whole: len(notes) == 0}
	var err error
	switch {
	case c.Record != "":
		if out.Folder, err = transport.Record(c.Record, p, o); err != nil {
			return nil, nil, option.Invalid("--record: %v", err)
		}
		if have := out.ListExisting(); len(have) > 0 && !out.whole {
			return nil, nil, option.Invalid("--record: not all tests are selected, and %s in %s would lose the requests of the others: "+
				"record to another folder, or remove the file first", strings.Join(have, ", "), c.Record)
		}
		return out, notes, nil
	case c.Replay == "":
		return nil, notes, nil
	}
	if out.Folder, err = transport.Replay(c.Replay, p, o); err != nil {
		return nil, nil, option.Invalid("--replay: %v", err)
	}
	for _, player := range out.ListPlayers() {
		player.Damage = c.Damage
		if w := player.Cassette().Warning; w != nil {
			fmt.Fprintf(s.Err, "mcptest: warning: %v\n", w)
		}
	}
	note := "replayed from " + c.Replay + ": no server was started"
	if steps, hooks := transport.DropPrograms(p, c.Damage); steps+hooks > 0 {
		note += fmt.Sprintf(", and %s and %s were not run", display.Count(steps, "run: step"), display.Count(hooks, "hook"))
	}
	if c.Damage {
		note += "; every response was damaged"
	}
	fmt.Fprintln(s.Err, "mcptest:", note)
	return out, append(notes, note), nil
}

// Connect connects a run to the cassettes.
func (c *Cassettes) Connect(deps *run.Deps) {
	switch {
	case c == nil:
		return
	case c.flags.Record != "":
		deps.Dial = c.Recorder(deps.Dial)
		return
	}
	deps.Dial, deps.Replayed = c.Dial, true
	done := deps.OnCaseDone
	deps.OnCaseDone = func(r *result.Case) {
		if r.Status != result.Skip || r.KnownFailure != nil {
			c.tests.add(c.plan.Case(r.Index), c.flags.Damage && r.Status == result.Pass)
		}
		done(r)
	}
	others := deps.FinalFindings
	deps.FinalFindings = func() []result.Finding {
		list := others()
		for _, o := range c.Others() {
			list = append(list, result.Finding{
				Kind: "other-server", Severity: "warning", File: o.File, Line: 1,
				Message: fmt.Sprintf("%s was recorded from another server: the configured %s is %q, the recorded one %q; record it again if this is a mistake",
					o.File, o.Server, o.Configured, o.Recorded),
			})
		}
		list = append(list, c.tests.listFindings()...)
		for _, player := range c.ListPlayers() {
			unused := player.ListUnused()
			if c.whole && !c.flags.Damage && len(unused) > 0 {
				list = append(list, newUnusedFinding(player, unused))
			}
		}
		return list
	}
}

// newUnusedFinding lists the recorded requests that were not sent.
func newUnusedFinding(p *cassette.Player, unused []*cassette.Call) result.Finding {
	lines := lists.Map(unused, func(call *cassette.Call) string {
		return fmt.Sprintf("%s (line %d)", p.Shown(call), call.Request.Line)
	})
	file := p.Cassette().File
	return result.Finding{
		Kind: "unused-recording", Severity: "warning", File: file, Line: unused[0].Request.Line,
		Message: fmt.Sprintf("%s contains %s that no test sent: %s", file, display.Count(len(unused), "recorded request"), formatFirst(lines)),
	}
}

// formatFirst joins the first elements of a list.
func formatFirst(list []string) string {
	if rest := len(list) - 5; rest > 0 {
		list = append(list[:5:5], fmt.Sprintf("%d more", rest))
	}
	return strings.Join(list, "; ")
}

// Finish closes the cassettes and prints what was recorded. An interrupted run does not
// replace cassettes.
func (c *Cassettes) Finish(w io.Writer, interrupted bool) error {
	if c == nil {
		return nil
	}
	if interrupted {
		c.Interrupt()
	}
	err := c.Close()
	n, unsaved := c.CountWritten()
	for _, why := range unsaved {
		fmt.Fprintln(w, "mcptest: warning:", term.Escape(why))
	}
	switch {
	case err != nil:
		return option.Fail(option.ExitInternal, "the cassettes in %s are not complete: %v", c.flags.Record, err)
	case c.flags.Record != "":
		fmt.Fprintf(w, "mcptest: recorded %s in %s\n", display.Count(n, "cassette"), c.flags.Record)
	}
	return nil
}
