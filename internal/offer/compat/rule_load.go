package compat

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/source"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/opening"
)

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
	if _, ok := all.findProfile(r.Profile); !ok {
		return fmt.Errorf("unknown profile %q", r.Profile)
	}
	for key, day := range map[string]string{"seen": r.Seen, "expires": r.Expires} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return fmt.Errorf("%s: expected a day such as 2026-08-05, got %q", key, day)
		}
	}
	if r.Basis == observed && r.Expires == "" {
		return fmt.Errorf("an observed rule must have a date in expires")
	}
	return r.Condition.compile(from)
}

// compile checks a condition and prepares its schema.
func (c *Condition) compile(from provenance) error {
	switch {
	case c.Detect != "" && detectors[c.Detect] == nil:
		return fmt.Errorf("detect must be one of %s", strings.Join(slices.Sorted(maps.Keys(detectors)), ", "))
	case c.Detect != "" && c.On == "" && c.Must.IsAbsent():
		return nil
	case c.Must.IsAbsent():
		return fmt.Errorf("a rule must have must or detect")
	}
	if _, ok := selectors[c.On]; !ok {
		return fmt.Errorf("on must be one of %s", strings.Join(slices.Sorted(maps.Keys(selectors)), ", "))
	}
	must := c.Must
	c.schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
		return jsonschema.Compile(must, jsonschema.Options{Strict: true, NoClock: true})
	})
	if from == provenRules {
		return nil
	}
	if _, err := c.schema(); err != nil {
		return fmt.Errorf("must: %w", err)
	}
	return nil
}

// verify applies a rule to its examples.
func (r Rule) verify(all Rules) error {
	if tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly); r.Seen > tomorrow {
		return fmt.Errorf("seen: %s is in the future", r.Seen)
	}
	only := Rules{Profiles: all.Profiles, Rules: []Rule{r}}
	failing, err := Check(context.Background(), readExample(r.Fails), only, time.Time{})
	if err != nil {
		return err
	}
	if len(failing.Findings) == 0 {
		return fmt.Errorf("the example in fails does not break the rule")
	}
	passing, err := Check(context.Background(), readExample(r.Passes), only, time.Time{})
	if err != nil {
		return err
	}
	if len(passing.Findings) > 0 {
		return fmt.Errorf("the example in passes breaks the rule: %s", passing.Findings[0].Message)
	}
	return nil
}
