package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/gate"
	"mcptest/internal/run/inspect"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
)

// probeFlags are the flags of probe.
type probeFlags struct {
	target   option.TargetFlags
	only     []string
	writes   []string
	baseline string
	failOn   string
	format   string
	explain  string
	list     bool
	seed     uint64
	maxTime  time.Duration
}

// NewProbeCmd returns the command `mcptest probe`.
func NewProbeCmd(s cmdutil.Streams) *cobra.Command {
	var f probeFlags
	cmd := &cobra.Command{
		Use:   "probe" + option.TargetUse,
		Short: "Hold a server against the rules of the protocol",
		Long: `Examine a server in each era of the protocol that it speaks, and hold what it declares, sends and does against the rules of MCP,
each with the sentence of the specification it is based on. A rule is passed, failed (seen twice, with request, response and a command
that repeats it), not applicable, or not verified; what could not be verified never counts as passed.

Only tools with readOnlyHint: true are called; --allow-writes TOOL allows another one by its exact name.
An address that is not this machine gets at most 20 requests a second.

Exit codes: 0 no failed rule at the level of --fail-on, 1 the server did not start or respond, 2 invalid command line or file,
6 a failed rule, or no verdict: no rule was examined, or a limit of time left a rule of level must unexamined.`,
		Example: `  mcptest probe -- npx -y @modelcontextprotocol/server-everything
  mcptest probe --url https://mcp.example.com/mcp --only http,auth
  mcptest probe --config suite.yaml --server api -f sarif > probe.sarif
  mcptest probe --explain message-unknown-method`,
	}
	f.target.Add(cmd)
	option.AddClient(cmd, &f.target.Client)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.only, "only", nil, "examine only these `families` or rules, separated by commas")
	fl.StringArrayVar(&f.writes, "allow-writes", nil, "`tool` without readOnlyHint that may be called; may be repeated")
	fl.StringVar(&f.baseline, "baseline", "", "YAML `file` of accepted failures, each with a reason")
	fl.StringVar(&f.failOn, "fail-on", string(ruleset.Must), "lowest `level` that fails the command: must or should")
	fl.StringVarP(&f.format, "format", "f", "text", "output `format`: text, json, md, html, sarif, github or svg (a badge)")
	fl.StringVar(&f.explain, "explain", "", "explain a `rule`")
	fl.BoolVar(&f.list, "list", false, "list the rules")
	fl.Uint64Var(&f.seed, "seed", 1, "`number` that fixes generated values and their order")
	fl.DurationVar(&f.maxTime, "max-time", time.Minute, "`time` after which the rest is not verified")
	return option.AddOutput(cmd, s, f.target.Run(0, f.run))
}

func (f *probeFlags) run(cmd *cobra.Command, s cmdutil.Streams, _, argv []string) error {
	rules, err := ruleset.Builtin()
	if err != nil {
		return err
	}
	if f.target.JSON {
		f.format = "json"
	}
	if err := f.check(rules); err != nil {
		return err
	}
	switch {
	case f.list:
		return f.listRules(s.Out, rules)
	case f.explain != "":
		rule, ok := rules.Rule(f.explain)
		if !ok {
			return option.OneOf("--explain", []string{f.explain}, rules.Names()[len(rules.Families):])
		}
		return explainProbeRule(s.Out, rule)
	}
	base, err := readBaseline(s, f.target.Color, f.baseline, rules.Unknown, rules.Revisions()...)
	if err != nil {
		return err
	}
	o := probe.Options{
		Only:   f.only,
		Writes: f.writes,
		Seed:   f.seed,
		Reply:  min(10*time.Second, f.target.Timeout),
	}
	ctx, l, end, err := f.target.Prepare(cmd, s, argv, func(i *inspect.Options) {
		o.Connect, o.Client, o.Dial = i.Connect, i.Client, i.Dial
	})
	if err != nil {
		return err
	}
	o.Server = l.Server
	o.Doing = func(what string) { l.Status.Set(what) }
	return option.Guarded(l.World, s.Err, func() error {
		defer end()
		limited, cancel := context.WithTimeoutCause(ctx, f.maxTime, fmt.Errorf("--max-time %v was over", f.maxTime))
		defer cancel()
		rep, err := probe.Run(limited, o)
		l.Status.Clear()
		if unknown, ok := errors.AsType[*probe.UnknownToolError](err); ok {
			return option.Invalid("--allow-writes: %v", unknown)
		}
		if err != nil || ctx.Err() != nil {
			return l.Failed(ctx, "", errors.Join(err, ctx.Err()))
		}
		rep.Accept(base)
		if at := o.Server.Pos; at.File != nil && f.target.Server != "" {
			rep.File, rep.Line = option.Shown(at.File.Name), at.Line
		}
		rep.Reproduce(f.formatAgain()+strings.TrimSpace(f.target.Usage(s, argv)), l.Redactor.String)
		return f.print(s, l, rep, rules)
	})
}

// check returns why the values of the flags are wrong.
func (f *probeFlags) check(rules ruleset.Rules) error {
	err := errors.Join(
		option.OneOf("--only", f.only, rules.Names()),
		option.OneOf("--fail-on", []string{f.failOn}, []string{"must", "should"}),
		option.OneOf("--format", []string{f.format}, append(gate.Formats(), "svg")),
	)
	if err == nil && f.maxTime <= 0 {
		err = option.Invalid("--max-time must be positive, got %v", f.maxTime)
	}
	return err
}

// formatAgain is the command that repeats a rule, up to the flags of the server.
func (f *probeFlags) formatAgain() string {
	line := "mcptest probe --only %s "
	if f.seed != 1 {
		line += fmt.Sprintf("--seed %d ", f.seed)
	}
	for _, tool := range f.writes {
		line += fmt.Sprintf("--allow-writes %q ", tool)
	}
	return line
}

// print prints the report, masked.
func (f *probeFlags) print(s cmdutil.Streams, l *option.Viewer, rep verdict.Report, rules ruleset.Rules) error {
	var err error
	if f.format == "svg" {
		_, err = s.Out.Write(rep.Badge())
	} else {
		err = rep.Document(rules, ruleset.Level(f.failOn), l.Palette, cmdutil.Version()).Write(s.Out, f.format)
	}
	if err == nil && (rep.Fails(ruleset.Level(f.failOn)) || rep.Undecided() != "") {
		err = &option.ExitError{Code: option.ExitGate}
	}
	return err
}

// listRules prints a line for each rule and group of revisions, or all rules as JSON.
func (f *probeFlags) listRules(w io.Writer, rules ruleset.Rules) error {
	if f.format == "json" {
		return gate.WriteJSON(w, rules.Rules)
	}
	for _, r := range rules.Rules {
		for _, c := range r.In {
			_, err := fmt.Fprintf(w, "%-28s %-12s %-8s %-36s %s\n", r.ID, r.Family, c.Level, c.Span(), r.Text)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func explainProbeRule(w io.Writer, r ruleset.Rule) error {
	_, err := fmt.Fprintf(w, "%s (%s)\n%s\n\nfix: %s\n", r.ID, r.Family, r.Text, r.Fix)
	for _, c := range r.In {
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "\n%s: %s\n", c.Span(), c.Level)
		if c.Sentence != "" && err == nil {
			_, err = fmt.Fprintf(w, "  “%s”\n", c.Sentence)
		}
		for _, revision := range c.Revisions[len(c.Revisions)-1:] {
			if address := c.URL(revision); address != "" && err == nil {
				_, err = fmt.Fprintf(w, "  %s\n", address)
			}
		}
	}
	return err
}
