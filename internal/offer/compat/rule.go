package compat

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/opening"
	"mcptest/internal/process/bundle"
)

// An Effect is what a client does with a server that breaks a rule.
type Effect string

// The effects, worst first. For a directory, "session lost" means that it
// rejects the server.
const (
	SessionLost Effect = "session lost"
	ToolLost    Effect = "tool lost"
	Degraded    Effect = "degraded"
	Advice      Effect = "advice"
)

// Effects lists the effects, worst first.
func Effects() []Effect { return []Effect{SessionLost, ToolLost, Degraded, Advice} }

// A Level decides whether a finding fails the check.
type Level string

// The levels, worst first.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelAdvice  Level = "advice"
)

// Levels lists the levels, worst first.
func Levels() []Level { return []Level{LevelError, LevelWarning, LevelAdvice} }

// The groups of profiles.
const (
	GroupClients  = "clients"
	GroupStores   = "stores"
	GroupLint     = "lint"
	GroupSecurity = "security"
	// GroupBundles is about bundles (.mcpb), and examines nothing else.
	GroupBundles = "bundles"
	// GroupOpenings stands for the openings that check replays; no profile has it.
	GroupOpenings = "openings"
	// GroupApps stands for the rules about MCP Apps; findings have it in place of a profile.
	GroupApps = "apps"
	// GroupResults stands for the rules about results of tools; findings have it in place of a profile.
	GroupResults = "results"
)

// Groups lists the groups in the order of reports.
func Groups() []string {
	return []string{GroupClients, GroupStores, GroupLint, GroupSecurity, GroupBundles}
}

// A Profile is a client, an app directory, or a built-in set of rules.
type Profile struct {
	Pos       source.Pos
	Name      string `yaml:"name,required"`
	Group     string `yaml:"group,required" enum:"clients|stores|lint|security|bundles"`
	Title     string `yaml:"title,required"`
	Qualified string `yaml:"qualified_name"` // how the client names a tool to its model; holds {server} and {tool}
	Installs  string `yaml:"server_name"`    // a pattern: names under which the client installs a server; all if empty
	Client    string `yaml:"client_name"`    // the name to connect with, if servers answer this client differently
}

// chosenByFor reports whether the profile is a client or a store, among which
// --for chooses.
func (p Profile) chosenByFor() bool { return p.Group == GroupClients || p.Group == GroupStores }

// A Rule is one fact about a profile. Must or Detect defines a violation, or each of both.
type Rule struct {
	Pos      source.Pos  `json:"-"`
	ID       string      `yaml:"id,required" json:"id"`
	Profile  string      `yaml:"profile,required" json:"profile"`
	Effect   Effect      `yaml:"effect,required" enum:"session lost|tool lost|degraded|advice" json:"effect"`
	Level    Level       `yaml:"level,required" enum:"error|warning|advice" json:"level"`
	Basis    string      `yaml:"basis,required" enum:"documented|observed" json:"basis"`
	Source   string      `yaml:"source,required" json:"source"`      // where the fact is documented
	Seen     string      `yaml:"seen,required" json:"seen"`          // the day on which it was last confirmed: 2026-08-05
	Versions string      `yaml:"versions" json:"versions,omitempty"` // of the client
	Expires  string      `yaml:"expires" json:"expires,omitempty"`   // required if observed
	On       string      `yaml:"on" json:"-"`                        // the values that must match; see selectors
	Must     jsonv.Value `yaml:"must" json:"-"`                      // a JSON Schema
	Words    []string    `yaml:"words" json:"-"`                     // texts without any of these are not examined, to save time
	Detect   string      `yaml:"detect" json:"-"`                    // see detectors
	Message  string      `yaml:"message,required" json:"message"`
	Fix      string      `yaml:"fix,required" json:"fix"`
	Fails    jsonv.Value `yaml:"fails,required" json:"-"` // breaks the rule: a tool, a list of tools, or an object; see example
	Passes   jsonv.Value `yaml:"passes,required" json:"-"`

	schema   func() (*jsonschema.Schema, error) // of Must, compiled at the first call
	declared Level                              // before Only lowered it, if the rule is of a directory that was not chosen
}

// Rules are the profiles and their rules.
type Rules struct {
	Profiles []Profile `yaml:"profiles"`
	Rules    []Rule    `yaml:"rules"`
	// Openings are how clients open a connection; a server is needed to replay them.
	Openings []opening.Script `yaml:"openings"`
	// Apps are about MCP Apps; package apps applies them.
	Apps []apps.Rule `yaml:"-"`
	// Results are about results of tools; package toolresult applies them.
	Results []toolresult.Rule `yaml:"-"`

	counted bool // the openings were chosen with --only or --for
}

//go:embed rules.yaml
var builtin []byte

// Builtin returns the built-in rules. They are compiled once: every check of a suite
// uses them.
var Builtin = sync.OnceValues(func() (Rules, error) {
	r, ds := Rules{}.load(&source.File{Name: "rules.yaml", Data: builtin}, provenRules)
	if ds.HasErrors() {
		return Rules{}, fmt.Errorf("built-in rules: %s", ds[0].Msg)
	}
	var err error
	r.Openings, err = opening.Builtin()
	r.Apps = apps.Rules()
	r.Results = toolresult.Rules
	return r, err
})

// Load adds the profiles and rules of a file, unless it contains a mistake. Each
// rule is applied to its examples.
func (r Rules) Load(f *source.File) (Rules, source.Diagnostics) { return r.load(f, newRules) }

// A provenance says how much is known about the rules of a file.
type provenance int

const (
	newRules    provenance = iota // their schemas and examples are checked
	provenRules                   // tests have checked them; a schema is compiled when a rule first needs it
)

func (r Rules) load(f *source.File, from provenance) (Rules, source.Diagnostics) {
	node, ds := source.Parse(f)
	if ds.HasErrors() {
		return r, ds
	}
	var more Rules
	var d source.Decoder
	d.Decode(node, "", &more)
	if d.Count() == 0 {
		r.checkFields(more, node, &d)
		opening.Check(more.Openings, node, &d)
	}
	if d.Count() > 0 { // a rule without a known effect cannot be applied to its examples
		more = Rules{}
	}
	r.Profiles = append(slices.Clip(r.Profiles), more.Profiles...)
	r.Openings = append(slices.Clip(r.Openings), more.Openings...)
	for i := range more.Rules {
		rule := more.Rules[i]
		err := rule.compile(r, from)
		if err == nil && from == newRules {
			err = rule.verify(r)
		}
		if err != nil {
			d.Add(source.Errorf(rule.Pos, source.PathIndex("rules", i), "rule %q: %v", rule.ID, err))
			continue
		}
		r.Rules = append(slices.Clip(r.Rules), rule)
	}
	ds = append(ds, d.Diagnostics()...)
	ds.Sort()
	return r, ds
}

// compile checks a rule and prepares its schema.
func (r *Rule) compile(all Rules, from provenance) error {
	if _, ok := all.profile(r.Profile); !ok {
		return fmt.Errorf("unknown profile %q", r.Profile)
	}
	for key, day := range map[string]string{"seen": r.Seen, "expires": r.Expires} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return fmt.Errorf("%s: expected a day such as 2026-08-05, got %q", key, day)
		}
	}
	switch {
	case r.Basis == "observed" && r.Expires == "":
		return fmt.Errorf("an observed rule must have a date in expires")
	case r.Detect != "" && detectors[r.Detect] == nil:
		return fmt.Errorf("detect must be one of %s", strings.Join(slices.Sorted(maps.Keys(detectors)), ", "))
	case r.Detect != "" && r.On == "" && r.Must.IsAbsent():
		return nil
	case r.Must.IsAbsent():
		return fmt.Errorf("a rule must have must or detect")
	}
	if _, ok := selectors[r.On]; !ok {
		return fmt.Errorf("on must be one of %s", strings.Join(slices.Sorted(maps.Keys(selectors)), ", "))
	}
	must := r.Must
	r.schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
		return jsonschema.Compile(must, jsonschema.Options{Strict: true, NoClock: true})
	})
	if from == provenRules {
		return nil
	}
	if _, err := r.schema(); err != nil {
		return fmt.Errorf("must: %w", err)
	}
	return nil
}

// verify applies a rule to its examples.
func (r Rule) verify(all Rules) error {
	if tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly); r.Seen > tomorrow {
		return fmt.Errorf("seen: %s is in the future", r.Seen)
	}
	for i, v := range []jsonv.Value{r.Fails, r.Passes} {
		rep, err := Check(context.Background(), example(v), Rules{
			Profiles: all.Profiles,
			Rules:    []Rule{r},
		}, time.Time{})
		broken := len(rep.Findings) > 0
		switch {
		case err != nil:
			return err
		case i == 0 && !broken:
			return fmt.Errorf("the example in fails does not break the rule")
		case i == 1 && broken:
			return fmt.Errorf("the example in passes breaks the rule: %s", rep.Findings[0].Message)
		}
	}
	return nil
}

// example returns the lists of an example: a tool, a list of tools, or an object with
// tools and results, locked (the tools of the lock file) or others (the tools of a
// second server).
func example(v jsonv.Value) []List {
	if v.Kind() == jsonv.KindString { // JSON that YAML cannot express
		v, _ = jsonv.Parse([]byte(v.Text()))
	}
	l := List{Server: "server", Installed: "server"}
	if parts := v.Lookup("bundle"); !parts.IsAbsent() {
		l.Bundle = exampleBundle(parts, v)
		l.Tools, l.Others = v.Lookup("tools").List(), exampleOthers(v)
		return []List{l}
	}
	if v.Kind() == jsonv.KindArray || v.Lookup("tools").Kind() != jsonv.KindArray {
		l.Tools = elems(v)
		return []List{l}
	}
	l.Tools, l.Pages, l.Handshake = elems(v.Lookup("tools")), []jsonv.Value{v}, v.Lookup("handshake")
	l.Announces = v.Lookup("announces").Texts()
	for _, r := range v.Lookup("results").Elems() {
		l.Results = append(l.Results, Result{Tool: r.Lookup("tool").Text(), Value: r.Lookup("result")})
	}
	if locked := v.Lookup("locked"); !locked.IsAbsent() {
		l.Masked, l.Locked = l.Tools, elems(locked)
	}
	return []List{l, {Server: "other", Tools: elems(v.Lookup("others"))}}
}

// exampleManifest is the manifest of examples, which change some of its keys.
const exampleManifest = `{"manifest_version": "0.3", "name": "n", "version": "1.0.0", "description": "d", "author": {"name": "a"},
 "server": {"type": "node", "entry_point": "server.js", "mcp_config": {"command": "node", "args": ["${__dirname}/server.js"]}}}`

// exampleBundle returns the bundle of an example: bundle has keys that differ in the manifest
// (null: without it), files and stray are what else there is.
func exampleBundle(keys, example jsonv.Value) *Bundle {
	manifest, _ := jsonv.Parse([]byte(exampleManifest))
	for key, v := range keys.Members() {
		if v.Kind() == jsonv.KindNull {
			manifest = manifest.Without(key)
		} else {
			manifest = manifest.With(key, v)
		}
	}
	files := append([]string{"server.js"}, example.Lookup("files").Texts()...)
	b, _ := bundle.FromParts(manifest.Append(nil), files)
	if b == nil {
		return nil
	}
	return &Bundle{Bundle: b, Stray: example.Lookup("stray").Text()}
}

// exampleOthers returns the prompts of an example.
func exampleOthers(example jsonv.Value) (out []Definition) {
	for _, name := range example.Lookup("prompts").Texts() {
		out = append(out, Definition{Subject: "prompt " + name})
	}
	return out
}

// elems returns the elements of a list, or the value itself.
func elems(v jsonv.Value) []jsonv.Value {
	if v.Kind() != jsonv.KindArray {
		return []jsonv.Value{v}
	}
	return v.List()
}

func (r Rules) profile(name string) (Profile, bool) {
	i := slices.IndexFunc(r.Profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return r.Profiles[i], true
}

// Rule returns the rule with an id.
func (r Rules) Rule(id string) (Rule, bool) {
	all := r.All()
	i := slices.IndexFunc(all, func(rule Rule) bool { return rule.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return all[i], true
}

// Unknown returns a message if no rule has the id, or "".
func (r Rules) Unknown(id string) string {
	if _, ok := r.Rule(id); ok {
		return ""
	}
	return r.NoRule(id)
}

// NoRule returns the message for an unknown id.
func (r Rules) NoRule(id string) string {
	ids := []string{}
	for _, rule := range r.All() {
		ids = append(ids, rule.ID)
	}
	return fmt.Sprintf("unknown rule %q%s; mcptest check --list prints all", id, source.Parenthesis(source.DidYouMean(id, ids)))
}

// Clients returns the names of the clients and directories.
func (r Rules) Clients() (names []string) {
	for _, p := range r.Profiles {
		if p.chosenByFor() {
			names = append(names, p.Name)
		}
	}
	return names
}

// Choose is like Only, but reports an error if the choice excludes requested rules.
// lock reports whether there is a lock file to compare with.
func (r Rules) Choose(profiles, groups []string, lock bool) (Rules, error) {
	out := r.Only(profiles, groups)
	about := func(name string) bool {
		return slices.ContainsFunc(out.Rules, func(rule Rule) bool { return rule.Profile == name })
	}
	for _, name := range profiles {
		p, known := r.profile(name)
		switch {
		case out.opens(name):
		case known && len(groups) > 0 && !slices.Contains(groups, p.Group):
			return out, fmt.Errorf("%q is in the group %s, which is not among the chosen groups (%s)", name, p.Group, strings.Join(groups, ", "))
		case known && !about(name):
			return out, fmt.Errorf("no rule is about %q", name)
		}
	}
	switch {
	case len(out.Rules) == 0 && len(out.Openings) == 0 && len(out.Apps) == 0 && len(out.Results) == 0:
		return out, fmt.Errorf("the groups %s contain no rules", strings.Join(groups, ", "))
	case lock && !slices.ContainsFunc(out.Rules, func(rule Rule) bool { return rule.Detect == "lock_drift" }):
		return out, fmt.Errorf("the lock file is compared by the group %s, which is not among the chosen groups (%s)", GroupSecurity, strings.Join(groups, ", "))
	}
	return out, nil
}

// Only returns the rules of some profiles (or of all, with the name "all") and
// groups; an empty list means all. Directories that were not chosen fail no check,
// and their errors become warnings.
func (r Rules) Only(profiles, groups []string) Rules {
	if slices.Contains(profiles, "all") {
		profiles = r.Clients()
	}
	out := r.chosenOpenings(profiles, groups)
	out.Apps = r.chosenApps(groups)
	if len(groups) == 0 || slices.Contains(groups, GroupResults) {
		out.Results = r.Results
	}
	profiles = r.Families(profiles)
	for _, p := range r.Profiles {
		named := len(profiles) == 0 || slices.Contains(profiles, p.Name) || !p.chosenByFor()
		if named && (len(groups) == 0 || slices.Contains(groups, p.Group)) {
			out.Profiles = append(out.Profiles, p)
		}
	}
	for _, rule := range r.Rules {
		p, ok := out.profile(rule.Profile)
		if ok && p.Group == GroupStores && len(profiles) == 0 && len(groups) == 0 {
			rule.declared = rule.Level
			if rule.Level == LevelError {
				rule.Level = LevelWarning
			}
		}
		if ok {
			out.Rules = append(out.Rules, rule)
		}
	}
	return out
}

// isOpening reports whether the name of a rule is that of an opening.
func isOpening(id string) bool { return strings.HasPrefix(id, "opening-") }

// All returns the rules, with those about MCP Apps and about results, and with one for each client and transport
// of the openings.
func (r Rules) All() []Rule {
	out := slices.Concat(r.Rules, r.appRules(), r.resultRules())
	for _, s := range r.Openings {
		if slices.ContainsFunc(out, func(rule Rule) bool { return rule.ID == s.Rule() }) {
			continue
		}
		out = append(out, Rule{
			ID:       s.Rule(),
			Profile:  opening.Family(s.Client),
			Effect:   SessionLost,
			Level:    Level(cmp.Or(s.Level, string(LevelError))),
			Basis:    "observed",
			Source:   s.Source,
			Seen:     s.Seen,
			Versions: s.Versions,
			Expires:  s.Expires(),
			Message:  s.Title + " over " + s.Transport + " does not get in",
			Fix:      "depends on the answer that ends the opening",
		})
	}
	return out
}

// Known returns the names that --for takes: those of clients and directories, and of the
// clients whose openings are known.
func (r Rules) Known() []string {
	names := r.Clients()
	for _, s := range r.Openings {
		if !slices.Contains(names, s.Client) {
			names = append(names, s.Client)
		}
	}
	return names
}

// Families returns the profiles that stand for clients.
func (r Rules) Families(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if _, known := r.profile(name); !known {
			out[i] = opening.Family(name)
		}
	}
	return out
}

// chosenOpenings returns rules that only have the openings of a choice.
func (r Rules) chosenOpenings(clients, groups []string) Rules {
	out := Rules{counted: len(clients) > 0 || slices.Contains(groups, GroupOpenings)}
	if len(groups) > 0 && !slices.Contains(groups, GroupOpenings) {
		return out
	}
	for _, s := range r.Openings {
		named := slices.Contains(clients, s.Client) || slices.Contains(clients, opening.Family(s.Client))
		if len(clients) == 0 || named {
			out.Openings = append(out.Openings, s)
		}
	}
	return out
}

// opens reports whether there is an opening of a client or its family.
func (r Rules) opens(name string) bool {
	return slices.ContainsFunc(r.Openings, func(s opening.Script) bool {
		return s.Client == name || opening.Family(s.Client) == name
	})
}

// isTaken reports whether a rule of a user can't have a name.
func (r Rules) isTaken(id string) bool {
	_, known := r.Rule(id)
	return known || isOpening(id) || isResult(id)
}

// appRules are the rules about MCP Apps in the form of the others.
func (r Rules) appRules() (out []Rule) {
	for _, rule := range r.Apps {
		out = append(out, Rule{
			ID:      rule.ID,
			Profile: GroupApps,
			Effect:  Effect(rule.Effect),
			Level:   Level(rule.Level),
			Basis:   "documented",
			Source:  rule.Source,
			Seen:    apps.Seen,
			Message: strings.TrimSuffix(rule.Text, "."),
			Fix:     rule.Fix,
		})
	}
	return out
}

// isApp reports whether a rule is about MCP Apps.
func isApp(id string) bool {
	_, known := apps.RuleOf(id)
	return known
}

// chosenApps are the rules about MCP Apps that some groups choose; no group chooses all.
func (r Rules) chosenApps(groups []string) []apps.Rule {
	if len(groups) > 0 && !slices.Contains(groups, GroupApps) {
		return nil
	}
	return r.Apps
}

// resultRules are the rules about results in the form of the others.
func (r Rules) resultRules() (out []Rule) {
	for _, rule := range r.Results {
		out = append(out, Rule{
			ID:      rule.ID,
			Profile: GroupResults,
			Effect:  Degraded,
			Level:   LevelWarning,
			Basis:   "observed",
			Source:  rule.Source,
			Seen:    rule.Seen,
			Message: rule.Says,
			Fix:     rule.Fix,
		})
	}
	return out
}

// isResult reports whether a rule is about results.
func isResult(id string) bool { return strings.HasPrefix(id, "result-") }
