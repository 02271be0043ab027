package compat

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcptest/internal/source"
)

// Choice is the argument of the matcher check in suites.
type Choice struct {
	Pos source.Pos
	// The clients and directories; all when left out, without the directories' errors.
	For []string `yaml:"for"`
	// The groups of rules; all when left out.
	Only []string `yaml:"only" enum:"clients|stores|lint|security"`
	// YAML files with profiles and rules.
	Rules []string `yaml:"rules"`
	// A YAML file with accepted findings.
	Baseline string `yaml:"baseline"`
	// The lowest level that fails; error when left out. Findings below it are warnings.
	FailOn Level `yaml:"fail_on" enum:"error|warning|advice"`
	// The name under which users install the server, for limits on prefixed names.
	InstalledAs string `yaml:"installed_as"`

	rules Rules
	base  *Baseline
}

// DecodeChoice reads a choice and the files that it names; nil if a mistake was
// reported.
func DecodeChoice(n *source.Node, path string, d *source.Decoder) *Choice {
	before := d.Count()
	c := &Choice{FailOn: LevelError, base: &Baseline{}}
	d.Decode(n, path, c)
	if d.Count() > before {
		return nil
	}
	rules, err := Builtin()
	if err != nil {
		d.Errorf(n, path, "%v", err)
		return nil
	}
	for i, name := range c.Rules {
		item := n.Get("rules").Items[i]
		if f := readBeside(item, source.PathIndex(path+".rules", i), name, d); f != nil {
			var ds source.Diagnostics
			rules, ds = rules.Load(f)
			addAll(d, ds)
		}
	}
	if c.Baseline != "" {
		if f := readBeside(n.Get("baseline"), path+".baseline", c.Baseline, d); f != nil {
			var ds source.Diagnostics
			c.base, ds = LoadBaseline(f, rules)
			addAll(d, ds)
		}
	}
	for i, name := range c.For {
		if p, ok := rules.profile(name); name != "all" && (!ok || !p.chosenByFor()) {
			item := n.Get("for").Items[i]
			d.Errorf(item, source.PathIndex(path+".for", i), "there is no client or directory %q", name).Hint = source.DidYouMean(name, rules.Clients())
		}
	}
	if d.Count() > before {
		return nil
	}
	if c.rules, err = rules.Choose(c.For, c.Only, false); err != nil {
		d.Errorf(n, path, "%v", err)
		return nil
	}
	return c
}

// readBeside reads a file relative to the one that names it.
func readBeside(n *source.Node, path, name string, d *source.Decoder) *source.File {
	if n.Origin == source.FromServer {
		d.Errorf(n, path, "the server under test must not choose the file")
		return nil
	}
	if !filepath.IsAbs(name) && n.Pos.File != nil {
		name = filepath.Join(filepath.Dir(n.Pos.File.Path), name)
	}
	f, ds := source.Read(name, name)
	if ds.HasErrors() {
		d.Errorf(n, path, "%s", ds[0].Msg)
		return nil
	}
	return f
}

func addAll(d *source.Decoder, ds source.Diagnostics) {
	for _, one := range ds {
		d.Add(one)
	}
}

// Run checks a list. failing are the findings that fail, in words, and others
// those below the level.
func (c *Choice) Run(ctx context.Context, l List, today time.Time) (failing, others []string, err error) {
	if c.InstalledAs != "" {
		l.Server = c.InstalledAs
	}
	rep, err := Check(ctx, []List{l}, c.rules, today)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range c.base.Apply(rep, c.rules).Findings {
		line := fmt.Sprintf("%s: %s: %s (%s, %s)", f.Profile, strings.TrimSpace(f.Tool+" "+f.Pointer), f.Message, f.Effect, f.Rule)
		if (Report{Findings: []Finding{f}}).Failed(c.FailOn) {
			failing = append(failing, line)
		} else {
			others = append(others, line)
		}
	}
	if names := c.ownNames(); len(names) > 0 {
		others = append(others, fmt.Sprintf("the tools were listed for mcptest, not for %s; mcptest check --for connects under the client's name",
			strings.Join(names, " or ")))
	}
	return failing, others, nil
}

// ownNames are the names of the chosen clients that some servers list other
// tools to. A suite connects under its own name.
func (c *Choice) ownNames() (names []string) {
	for _, p := range c.rules.Profiles {
		if p.Client != "" && slices.Contains(c.For, p.Name) {
			names = append(names, p.Client)
		}
	}
	return names
}
