package aql

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

//go:embed fixtures/*.json
var fixtureFiles embed.FS

// Fixture is a bundle of our own that shows one thing.
type Fixture struct {
	Name  string // file name
	Rule  string // the rule that it breaks, "" for those that pass
	Rules RuleSet
	Level int
	Exit  int
	Data  []byte // the bundle
}

// Fixtures returns the bundles that the program carries: one that passes
// each level, and for every rule one that breaks it and nothing else. The
// latter are made from fixtures/changes.json, which says what each of them
// changes in a passing bundle.
func Fixtures() ([]Fixture, error) {
	bases := map[string]jsonv.Value{}
	var out []Fixture
	for i, name := range []string{"level1", "level2"} {
		data, err := fixtureFiles.ReadFile("fixtures/" + name + ".json")
		if err != nil {
			return nil, fmt.Errorf("read fixture: %w", err)
		}
		if bases[name], err = jsonv.Parse(data); err != nil {
			return nil, fmt.Errorf("parse fixture %s: %w", name, err)
		}
		out = append(out, Fixture{Name: name + ".json", Rules: Reference, Level: i + 1, Data: data})
	}
	data, err := fixtureFiles.ReadFile("fixtures/changes.json")
	if err != nil {
		return nil, fmt.Errorf("read fixture: %w", err)
	}
	list, err := jsonv.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("parse fixture changes.json: %w", err)
	}
	for _, c := range list.Elems() {
		f, err := changedFixture(bases, c)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// changedFixture makes one bundle from an entry of changes.json: {rule,
// base, rules, exit, set: {pointer: value}, remove: [pointer]}.
func changedFixture(bases map[string]jsonv.Value, c jsonv.Value) (Fixture, error) {
	rule := c.Lookup("rule").Text()
	f := Fixture{Name: strings.ReplaceAll(rule, ".", "-") + ".json", Rule: rule, Rules: Reference, Level: 1}
	if suffix := c.Lookup("as").Text(); suffix != "" {
		f.Name = suffix + ".json"
	}
	if c.Lookup("rules").Text() == string(Strict) {
		f.Rules = Strict
	}
	bundle := bases[c.Lookup("base").Text()]
	if c.Lookup("base").Text() == "level2" {
		f.Level = 2
	}
	exit, _ := c.Lookup("exit").Int64()
	f.Exit = int(exit)
	for ptr, v := range c.Lookup("set").Members() {
		bundle = edit(bundle, strings.Split(ptr, "/")[1:], v)
	}
	for _, ptr := range c.Lookup("remove").Elems() {
		bundle = edit(bundle, strings.Split(ptr.Text(), "/")[1:], jsonv.Value{})
	}
	if bundle.Kind() != jsonv.KindObject {
		return f, fmt.Errorf("fixture %s: no such base", f.Name)
	}
	if f.Exit != 0 {
		bundle = bundle.With("expected_exit_code", jsonv.Int(exit))
	}
	if f.Rules == Strict {
		bundle = bundle.With("expected_rules", jsonv.String(string(Strict)))
	}
	f.Data = append(bundle.Indent("", "  "), '\n')
	return f, nil
}

// edit returns v with the value at the path replaced; absent removes it, and
// the index "-" appends to a list.
func edit(v jsonv.Value, path []string, to jsonv.Value) jsonv.Value {
	if len(path) == 0 {
		return to
	}
	if v.Kind() != jsonv.KindArray {
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
		m := edit(v.Lookup(key), path[1:], to)
		if m.IsAbsent() {
			return v.Without(key)
		}
		return v.With(key, m)
	}
	var elems []jsonv.Value
	for _, e := range v.Elems() {
		elems = append(elems, e)
	}
	if path[0] == "-" {
		return jsonv.Array(append(elems, edit(jsonv.Value{}, path[1:], to))...)
	}
	i, err := strconv.Atoi(path[0])
	if err != nil || i >= len(elems) {
		return v
	}
	if elems[i] = edit(elems[i], path[1:], to); elems[i].IsAbsent() {
		elems = slices.Delete(elems, i, i+1)
	}
	return jsonv.Array(elems...)
}

// Verified is the outcome of one fixture.
type Verified struct {
	Name          string
	Expected, Got int
	Problems      source.Diagnostics // why Got is ExitConfig
}

// OK says that the fixture did what it says it does.
func (v Verified) OK() bool { return v.Expected == v.Got }

// Verify judges a bundle the way it asks for (expected_level, expected_rules)
// and compares the exit code with the one it expects (expected_exit_code).
// Rules, unless "", are taken instead of those that it asks for.
func Verify(f *source.File, rules RuleSet) Verified {
	e, ds := ReadEvidence(f)
	v := Verified{Name: f.Name, Expected: e.ExpectedExitCode}
	if e.ExpectedLevel != levelOne && e.ExpectedLevel != levelTwo {
		ds.Add(source.Errorf(source.Pos{File: f}, "/expected_level", "expected 1 or 2, got %d", e.ExpectedLevel))
	}
	if ds.HasErrors() {
		v.Got, v.Problems = ExitConfig, ds
		return v
	}
	if rules == "" {
		rules = e.ExpectedRules
	}
	if rules == "" && isLive(e.Live) {
		rules = Strict
	}
	v.Got = Evaluate(e, Options{Level: e.ExpectedLevel, Rules: rules}).ExitCode
	return v
}
