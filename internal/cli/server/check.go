package server

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/base/filekind"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/compat"
	"mcptest/internal/process/bundle"
	"mcptest/internal/report/gate"
)

// checkFlags are the flags of check.
type checkFlags struct {
	target   option.TargetFlags
	profiles []string
	groups   []string
	rules    []string
	baseline string
	lock     string
	failOn   string
	format   string
	name     string
	explain  string
	list     bool
	all      compat.Rules // before --for and --only

	unreached error // error of a server that did not respond, although others did

	stray        string           // what the server wrote before its first message
	openings     []compat.Opening // that were replayed
	openingNotes []string

	packet  *packetFlags    // nil: no packet is asked for
	apps    []compat.Apps   // that were judged, of each server
	results *compat.Results // that a file holds
}

// NewCheckCmd returns the command `mcptest check`.
func NewCheckCmd(s cmdutil.Streams) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [FILE|-]" + option.TargetUse,
		Short: "Predict which clients and directories accept a server's tools",
		Long: `Check offline whether MCP clients and app directories accept the definitions of a server's tools.
FILE is a tools/list response (- reads standard input), a lock file, a folder of lock files, a record of a run, or a bundle (.mcpb), whose
manifest and archive are examined; or, with --only results, a cassette. Otherwise the server is started,
or connected to, and its tools are listed. --config checks all servers of the suite, or those that match --server,
which may be a pattern. For each client in --for with a known client name, the tools are listed under that name,
because some servers list other tools for it. No tool is called, and no other host is contacted.

A server is also opened as known clients open it: their first frames are replayed, each time with a new process or
session, at most two at a time, and the report says which client gets in. A file has no openings; --only clients,stores
and the like leave them out. They count for the exit code with --only openings, or where --for names the client.

MCP Apps are judged, too: the lists are read as a client gets them that declares io.modelcontextprotocol/ui and as another
one does, in both eras, and the ui:// resources are read. Of a file, the tools are judged.

The results of tools that a record holds are judged, too: what known clients write to a file, shorten or drop of them.
A record that holds no list, and a cassette, need --only results.

With -f packet and one directory in --for, the page has what the form of the directory asks for: tools with their hints, views with
their policy, test cases from the tests of --config, and empty places for what only you know. For ChatGPT, the route that proves who
owns the domain is requested from the server.

The first line is one verdict per client: ✓ accepts every tool, ! degraded, ✗ loses a tool or the whole server.
Advice never fails the check. Directories fail it only if they are selected with --for or --only.

Exit codes: 0 nothing at the level of --fail-on, 1 the server did not respond, 2 invalid command line or file,
6 a finding at the level of --fail-on, or nothing was examined.`,
		Example: `  mcptest check -- npx -y @modelcontextprotocol/server-everything
  mcptest check --for claude,gemini --fail-on warning tools.json
  mcptest check --config suite.yaml -f sarif > check.sarif
  mcptest check --only openings -- node server.js
  mcptest check --only apps -- node server.js
  mcptest check --only results run.json
  mcptest check --for chatgpt-apps -f packet --config suite.yaml --url https://mcp.example.com/mcp
  mcptest check --explain claude-top-level-combinator`,
	}
	f.target.Add(cmd)
	option.AddClient(cmd, &f.target.Client)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.profiles, "for", nil, "check for these `clients` and directories, separated by commas, or all")
	fl.StringSliceVar(&f.groups, "only", nil, "check only these `groups` of rules: clients, stores, lint, security, bundles, openings, apps, results")
	fl.StringArrayVar(&f.rules, "rules", nil, "add the profiles and rules of this YAML `file`; may be repeated")
	fl.StringVar(&f.baseline, "baseline", "", "YAML `file` of accepted findings, each with a reason")
	fl.StringVar(&f.lock, "lock", "", "lock `file` or folder that the tools must not differ from")
	fl.StringVar(&f.failOn, "fail-on", string(compat.LevelError), "lowest `level` that fails the check: error, warning or advice")
	fl.StringVarP(&f.format, "format", "f", "text", "output `format`: text, json, md, html, sarif, github, svg (a badge) or packet (for the form of a directory)")
	fl.StringVar(&f.name, "name", "", "the `name` under which users install the server, for limits on prefixed names")
	fl.StringVar(&f.explain, "explain", "", "explain a `rule`")
	fl.BoolVar(&f.list, "list", false, "list the rules")
	return option.AddOutput(cmd, s, f.target.Run(1, f.run))
}

func (f *checkFlags) run(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
	rules, err := f.chooseRules(s)
	if err != nil {
		return err
	}
	switch {
	case f.list:
		return f.listRules(s.Out, rules)
	case f.explain != "":
		return explainRule(s.Out, rules, f.explain)
	}
	base, err := readBaseline(s, f.target.Color, f.baseline, f.all.Unknown)
	if err != nil {
		return err
	}
	if f.format == formatPacket {
		if f.packet, err = newPacket(s, &f.target, f.profiles, f.groups); err != nil {
			return err
		}
	}
	if bundle.IsFile(own) {
		if rules, err = f.limitToBundles(rules, own[0]); err != nil {
			return err
		}
	}
	lists, err := f.readLists(cmd, s, own, argv, rules)
	if err != nil {
		return err
	}
	if f.lock != "" {
		if err := f.readLock(s, lists); err != nil {
			return err
		}
	}
	return f.report(cmd.Context(), s, lists, rules, base)
}

// limitToBundles returns the rules that examine a bundle which is not started.
func (f *checkFlags) limitToBundles(rules compat.Rules, file string) (compat.Rules, error) {
	if f.packet != nil {
		return rules, option.Invalid("--format packet: a bundle that is not started lists no tools; start it: -- %s", file)
	}
	if len(f.groups) > 0 && !slices.Contains(f.groups, compat.GroupBundles) {
		return rules, option.Invalid("--only: a bundle that is not started has the group %s only; start it: -- %s", compat.GroupBundles, file)
	}
	if f.lock != "" {
		return rules, option.Invalid("--lock: a bundle that is not started lists no tools; start it: -- %s", file)
	}
	return rules.Only(nil, []string{compat.GroupBundles}), nil
}

// chooseRules reads the rules and selects those of --for and --only.
func (f *checkFlags) chooseRules(s cmdutil.Streams) (compat.Rules, error) {
	rules, err := compat.Builtin()
	if err != nil {
		return rules, err
	}
	for _, name := range f.rules {
		if err := option.RefuseOther("--rules", name, filekind.Rules); err != nil {
			return rules, err
		}
		file, ds := source.Read(name, name)
		if !ds.HasErrors() {
			var more source.Diagnostics
			rules, more = rules.Load(file)
			ds = append(ds, more...)
		}
		if ds.HasErrors() {
			option.PrintDiagnostics(s, f.target.Color, ds)
			return rules, &option.ExitError{Code: option.ExitInvalid}
		}
	}
	f.all = rules
	known := append([]string{"all"}, rules.Known()...)
	if f.target.JSON {
		f.format = "json"
	}
	for _, c := range []struct {
		flag         string
		given, known []string
	}{
		{"--for", f.profiles, known},
		{"--only", f.groups, append(compat.Groups(), compat.GroupOpenings, compat.GroupApps, compat.GroupResults)},
		{"--fail-on", []string{f.failOn}, []string{"error", "warning", "advice"}},
		{"--format", []string{f.format}, append(gate.Formats(), "svg", formatPacket)},
	} {
		if err := option.OneOf(c.flag, c.given, c.known); err != nil {
			return rules, err
		}
	}
	if f.explain != "" {
		return rules, nil
	}
	if rules, err = rules.Choose(f.profiles, f.groups, f.lock != ""); err != nil {
		return rules, option.Invalid("%v", err)
	}
	return rules, nil
}

// readBaseline reads the file of --baseline; without one, nothing is accepted.
func readBaseline(s cmdutil.Streams, color, path string, unknown func(rule string) string, revisions ...string) (*gate.Baseline, error) {
	if path == "" {
		return &gate.Baseline{}, nil
	}
	if err := option.RefuseOther("--baseline", path, filekind.Accepted); err != nil {
		return nil, err
	}
	file, ds := source.Read(path, path)
	var b *gate.Baseline
	if !ds.HasErrors() {
		var more source.Diagnostics
		b, more = gate.LoadBaseline(file, unknown, revisions...)
		ds = append(ds, more...)
	}
	if ds.HasErrors() {
		option.PrintDiagnostics(s, color, ds)
		return nil, &option.ExitError{Code: option.ExitInvalid}
	}
	return b, nil
}

// report checks lists and prints the result.
func (f *checkFlags) report(ctx context.Context, s cmdutil.Streams, lists []compat.List, rules compat.Rules, base *gate.Baseline) error {
	rep, err := compat.Check(ctx, lists, rules, time.Now())
	if err != nil {
		return err
	}
	if f.openings != nil || f.openingNotes != nil {
		rep.AddOpenings(f.openings, f.openingNotes, rules, time.Now())
	}
	if f.apps != nil {
		rep.AddApps(f.apps, rules)
	}
	if f.results != nil {
		rep.AddResults(*f.results, rules)
	}
	rep = rep.Accept(base, rules)
	var palette term.Palette
	if f.format == "text" {
		if palette, err = f.target.Palette(s); err != nil {
			return err
		}
	}
	switch f.format {
	case "svg":
		err = compat.WriteBadge(s.Out, rep)
	case formatPacket:
		err = f.packet.write(s.Out, lists[0], rep, rules)
	default:
		err = compat.Document(rep, rules, palette, cmdutil.Version()).Write(s.Out, f.format)
	}
	if err != nil {
		return err
	}
	if f.unreached == nil && (rep.Unexamined || rep.Failed(compat.Level(f.failOn))) {
		return &option.ExitError{Code: option.ExitGate}
	}
	return f.unreached
}

// listRules prints a line per rule, or all rules as JSON.
func (f *checkFlags) listRules(w io.Writer, rules compat.Rules) error {
	if f.format == "json" {
		return compat.WriteRules(w, rules)
	}
	for _, r := range rules.All() {
		if _, err := fmt.Fprintf(w, "%-34s %-17s %-8s %-13s %s\n", r.ID, r.Profile, r.Level, r.Effect, r.Seen); err != nil {
			return err
		}
	}
	return nil
}

func explainRule(w io.Writer, rules compat.Rules, id string) error {
	r, ok := rules.Rule(id)
	if !ok {
		return option.Invalid("%s", rules.NoRule(id))
	}
	return compat.WriteRule(w, r, rules)
}
