package gen_test

import (
	"slices"
	"strings"
	"testing"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/gen"
	"mcptest/internal/spec/plan"
)

// TestEveryKeyIsExplained: each key has a description and an example that its
// own schema accepts, and its default is one that it accepts.
func TestEveryKeyIsExplained(t *testing.T) {
	schema := schemaDoc(t)
	keys := gen.Keys(schema)
	if len(keys) < 150 {
		t.Fatalf("found only %d keys", len(keys))
	}
	for some := range slices.Chunk(keys, 10) {
		accepting := acceptKeys(t, schema, some)
		for _, k := range some {
			explained(t, accepting, k)
		}
	}
}

// acceptKeys is a schema with a property for each key, by pointer. There are too
// many keys for one schema, and to compile one for each takes seconds.
func acceptKeys(t *testing.T, schema jsonv.Value, keys []gen.Key) *jsonschema.Schema {
	t.Helper()
	var properties []jsonv.Member
	for _, k := range keys {
		properties = append(properties, jsonv.Member{Key: "#" + k.Pointer, Value: jsonv.Object(jsonv.Member{Key: "$ref", Value: jsonv.String("#" + k.Pointer)})})
	}
	for key, value := range schema.Lookup("properties").Members() {
		properties = append(properties, jsonv.Member{Key: key, Value: value})
	}
	s, err := jsonschema.Compile(jsonv.Object(
		jsonv.Member{Key: "properties", Value: jsonv.Object(properties...)},
		jsonv.Member{Key: "$defs", Value: schema.Lookup("$defs")},
	), jsonschema.Options{Nodes: publishedNodes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func explained(t *testing.T, s *jsonschema.Schema, k gen.Key) {
	t.Helper()
	if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") || k.Type == "" {
		t.Errorf("%s (%s): doc %q, type %q", k.Where, k.Section, k.Doc, k.Type)
	}
	if k.Example.IsAbsent() {
		t.Errorf("%s has no example", k.Where)
		return
	}
	values := []jsonv.Value{k.Example}
	if k.Default != "" {
		values = append(values, parse(t, k.Where, []byte(k.Default)))
	}
	for _, v := range values {
		doc := jsonv.Object(jsonv.Member{Key: "#" + k.Pointer, Value: v})
		if bad, err := s.Validate(t.Context(), doc); err != nil || len(bad) > 0 {
			t.Errorf("%s does not accept %s: %v %v", k.Where, v, bad, err)
		}
	}
}

// TestDefaults compares the defaults that pages tell with what a suite that
// says nothing gets.
func TestDefaults(t *testing.T) {
	want := map[string]string{
		"tools[].timeout":                plan.DefaultTimeout.String(),
		"run_options.timeout":            plan.DefaultTimeout.String(),
		"servers.<name>.connect_timeout": "60s",
		"hooks.timeout":                  "60s",
		"setup[].timeout":                "60s",
		"servers.<name>.sessions":        "1",
		"servers.<name>.validate_output": "true",
		"run_options.restart_policy":     string(plan.PerRun),
		"tools[].expect[].weight":        "1",
		"tools[].repeat.pass_rate":       "1",
	}
	if plan.DefaultConnectTimeout.Seconds() != 60 || plan.DefaultStepTimeout.Seconds() != 60 {
		t.Error("a default has changed: correct the tags in package suite")
	}
	for _, k := range gen.Keys(schemaDoc(t)) {
		if w, ok := want[k.Where]; ok {
			if k.Default != w {
				t.Errorf("%s: the pages say %s, the program does %s", k.Where, k.Default, w)
			}
			delete(want, k.Where)
		}
	}
	for where := range want {
		t.Errorf("no key %s", where)
	}
}

func topics(t *testing.T) []gen.Topic {
	return gen.Topics(schemaDoc(t), cli.Program().ExitCodes)
}

// TestEverythingCanBeAskedFor: matchers and their aliases, roots, kinds, codes
// and the places of keys are found, and say something.
func TestEverythingCanBeAskedFor(t *testing.T) {
	all := topics(t)
	words := []string{
		"0", "2", "130", "pretty", "http.status", "run_options.timeout", "servers.timeout", "setup.wait_for",
		"result.items[*].id", `$["result"].x`, "starts_with", "assert-set", "output-schema",
	}
	for _, row := range match.Matchers() {
		words = append(append(words, row.Name), row.Aliases...)
	}
	for _, r := range target.Roots() {
		words = append(words, r.Name)
	}
	for _, k := range gen.Violations() {
		words = append(words, k.Name)
	}
	for _, word := range words {
		found := gen.Find(all, word)
		if len(found) == 0 {
			t.Errorf("nothing is found for %s", word)
		}
		if text := gen.Text(found); strings.Count(text, "\n") < 2 {
			t.Errorf("%s: %q", word, text)
		}
	}
	for word, near := range map[string]string{"timout": "timeout", "containz": "contains", "stray-outputs": "stray-output", "xyzzy": ""} {
		if found := gen.Find(all, word); len(found) > 0 {
			t.Errorf("%s is found: %v", word, found)
		}
		if got := gen.Nearest(all, word); got != near {
			t.Errorf("nearest to %s: %q, want %q", word, got, near)
		}
	}
	for _, topic := range all {
		if topic.Kind == "matcher" && (topic.Passes == "" || topic.Fails == "" || topic.Message == "") {
			t.Errorf("%s does not show how it fails: %+v", topic.Name, topic)
		}
		if topic.Kind == "target root" && topic.Example == "" {
			t.Errorf("the root %s has no example", topic.Name)
		}
	}
	if places := gen.Find(all, "run_options.timeout"); len(places) != 1 {
		t.Errorf("run_options.timeout is %d keys", len(places))
	}
}

// TestPagesAreComplete: the page about suites has a row for every key.
func TestPagesAreComplete(t *testing.T) {
	pages := map[string]string{}
	for _, f := range gen.Files(schemaDoc(t), gen.Facts{Programs: programs()}) {
		pages[f.Path] = string(f.Data)
	}
	suite := pages["docs/reference/suite.md"]
	for _, k := range gen.Keys(schemaDoc(t)) {
		if !strings.Contains(suite, "| `"+k.Name+"` |") && k.Name != "assert-set" {
			t.Errorf("docs/reference/suite.md has no row for %s", k.Where)
		}
	}
	if strings.Contains(suite, "|---|---|---|---|\n\n") {
		t.Error("docs/reference/suite.md has an empty table")
	}
	for _, p := range programs() {
		for _, c := range p.Commands {
			for _, f := range c.Flags {
				if !strings.Contains(pages["docs/reference/cli.md"], "--"+f.Name) || f.Doc == "" {
					t.Errorf("docs/reference/cli.md: %s %s --%s: %q", p.Name, c.Name, f.Name, f.Doc)
				}
			}
		}
		if !slices.ContainsFunc(p.ExitCodes, func(c cmdutil.ExitCode) bool { return c.Code == 0 }) {
			t.Errorf("%s has no exit code 0", p.Name)
		}
	}
}

// TestTargetsOfThePages: what the pages show as a target is one.
func TestTargetsOfThePages(t *testing.T) {
	for _, topic := range topics(t) {
		if topic.Kind != "target root" {
			continue
		}
		v := parse(t, topic.Name, []byte(topic.Example)).At(0)
		target, err := target.Parse(v.Lookup("target").Text())
		if err != nil || target.Root() != topic.Name {
			t.Errorf("%s: %v", topic.Example, err)
		}
	}
}
