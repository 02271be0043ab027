package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// compile loads and compiles the suite of a folder.
func compile(dir string) (*plan.Plan, source.Diagnostics) {
	s, diags := suite.Load(filepath.Join(dir, "suite.yaml"), suite.Options{BaseDir: dir})
	if s == nil {
		return &plan.Plan{}, diags
	}
	p, more := plan.Compile([]*suite.Suite{s}, plan.Settings{ViolationKinds: violationKinds})
	return p, append(diags, more...)
}

// checkPlan checks the properties of every valid plan: cases can be built, their names are
// unique and are those of the selection, and they are in file order.
func checkPlan(p *plan.Plan) error {
	if p.Len() != p.Total() {
		return fmt.Errorf("%d of %d cases selected without a filter", p.Len(), p.Total())
	}
	seen := map[string]bool{}
	for i := range p.Len() {
		c := p.Case(i)
		switch name := p.Name(i); {
		case c.Name != name:
			return fmt.Errorf("case %d is called %q and %q", i, c.Name, name)
		case seen[name]:
			return fmt.Errorf("two cases are called %q", name)
		case name == "":
			return fmt.Errorf("case %d has no name", i)
		case c.Index != i:
			return fmt.Errorf("case %d has the index %d", i, c.Index)
		case len(c.Ops) == 0:
			return fmt.Errorf("case %q has nothing to do", name)
		case c.Timeout <= 0:
			return fmt.Errorf("case %q has the timeout %v", name, c.Timeout)
		case c.Tree == nil:
			return fmt.Errorf("case %q expects nothing at all", name)
		}
		if s := p.ServerOf(i); s != c.Server {
			return fmt.Errorf("case %q: server %v, and %v when it is built", c.Name, s, c.Server)
		}
		for _, op := range c.Ops {
			if op.Server == nil {
				return fmt.Errorf("case %q has a call without a server", c.Name)
			}
		}
		seen[c.Name] = true
	}
	return nil
}

func TestRichSuite(t *testing.T) {
	p, diags := compile("testdata/rich")
	for _, d := range diags {
		t.Errorf("%s:%d: %s", fileOf(d), d.Pos.Line, describe(d))
	}
	if err := checkPlan(p); err != nil {
		t.Error(err)
	}
	var names []string
	for i := range p.Len() {
		names = append(names, p.Name(i))
	}
	want := []string{
		"everything @api", "everything @web", "skipped", "rows [one]", "rows [two]", "row 1", "row 2", "flow",
		"resource", "prompt", "method", "notification", "raw", "imported",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
}

// change is one mutation of a tree of nodes.
type change struct {
	at   string // the path of what is changed
	kind string
}

// freeForm are keys below which any key is allowed.
var freeForm = []string{"args", "params", "variables", "env", "headers", "capture", "cases", "schema", "servers", "content"}

// mutate changes one place of a tree, chosen by t.
func mutate(t *rapid.T, root *source.Node) (*source.Node, change) {
	type place struct {
		n    *source.Node
		path string
	}
	var places []place
	var walk func(n *source.Node, path string)
	walk = func(n *source.Node, path string) {
		places = append(places, place{n, path})
		for i, item := range n.Items {
			walk(item, source.PathIndex(path, i))
		}
		for _, f := range n.Fields {
			walk(f.Value, source.PathKey(path, f.Key.Text))
		}
	}
	walk(root, "")
	at := rapid.SampledFrom(places).Draw(t, "place")
	kind := rapid.SampledFrom([]string{"replace", "drop", "rename", "double", "swap"}).Draw(t, "kind")
	values := []*source.Node{
		{Text: "null"},
		{Kind: source.KindBool, Text: "true"},
		{Kind: source.KindInt, Text: "0"},
		{Kind: source.KindInt, Text: "-1"},
		{Kind: source.KindInt, Text: "99999999999999999999"},
		{Kind: source.KindFloat, Text: "1e400"},
		{Kind: source.KindString, Text: "", Quoted: true},
		{Kind: source.KindString, Text: "text"},
		{Kind: source.KindString, Text: "${text}"},
		{Kind: source.KindString, Text: "${NOT_SET}"},
		{Kind: source.KindString, Text: "${case.a}"},
		{Kind: source.KindString, Text: "${steps.id}"},
		{Kind: source.KindString, Text: "${"},
		{Kind: source.KindList},
		{Kind: source.KindMap},
		{Kind: source.KindList, Items: []*source.Node{{Text: "null"}, {Kind: source.KindList}}},
	}
	value := rapid.SampledFrom(values).Draw(t, "value")
	var rebuild func(n *source.Node) *source.Node
	rebuild = func(n *source.Node) *source.Node {
		out := *n
		out.Items, out.Fields = slices.Clone(n.Items), slices.Clone(n.Fields)
		if n == at.n {
			switch {
			case kind == "replace" || len(out.Items)+len(out.Fields) == 0:
				return value
			case kind == "drop" && len(out.Fields) > 0:
				out.Fields = out.Fields[1:]
			case kind == "drop":
				out.Items = out.Items[1:]
			case kind == "rename" && len(out.Fields) > 0:
				key := *out.Fields[0].Key
				key.Text += "_zz"
				out.Fields[0].Key = &key
			case kind == "swap" && len(out.Fields) > 1:
				a, b := &out.Fields[0], &out.Fields[1]
				a.Value, b.Value = b.Value, a.Value
			case len(out.Items) > 0:
				out.Items = append(out.Items, out.Items[0])
			default:
				return value
			}
			return &out
		}
		for i := range out.Items {
			out.Items[i] = rebuild(out.Items[i])
		}
		for i := range out.Fields {
			out.Fields[i].Value = rebuild(out.Fields[i].Value)
		}
		return &out
	}
	return rebuild(root), change{at.path, kind}
}

// A suite with any mutation is either rejected or can be run, without a panic. An unknown
// key is always reported.
func TestMutatedSuites(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"more.yaml", "rows.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata/rich", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, _ := source.Read("testdata/rich/suite.yaml", "suite.yaml")
	root, diags := source.Parse(file)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := root
		var changes []change
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			var c change
			n, c = mutate(t, n)
			changes = append(changes, c)
		}
		text := n.JSON().Append(nil)
		if err := os.WriteFile(filepath.Join(base, "suite.yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		p, diags := compile(base)
		if !diags.HasErrors() && !bytes.Contains(text, []byte(`"only":true`)) { // that selects
			if err := checkPlan(p); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range diags {
			if d.Pos.IsZero() || d.Msg == "" {
				t.Fatalf("a diagnostic without a place or words: %+v", d)
			}
			if d.Code == "internal" {
				t.Fatal(d)
			}
		}
		if len(changes) == 1 && changes[0].kind == "rename" && mustTell(changes[0].at) && strings.Contains(string(n.JSON().Append(nil)), "_zz") {
			if !slices.ContainsFunc(diags, func(d source.Diagnostic) bool { return strings.Contains(d.Msg, "_zz") }) {
				t.Fatalf("the unknown key at %q is not reported: %v", changes[0].at, diags)
			}
		}
	})
}

// mustTell reports whether a path has a fixed set of keys.
func mustTell(path string) bool {
	for _, key := range freeForm {
		if path == key || strings.HasSuffix(path, "."+key) || strings.Contains(path, key+".") && key != "servers" || strings.Contains(path, key+"[") {
			return false
		}
	}
	return true
}

// Keys of a test and of defaultTest are equivalent: writing the defaults into each test
// changes nothing.
func TestDefaultsWrittenOut(t *testing.T) {
	dir := t.TempDir()
	build := func(t *rapid.T, text string) *plan.Case {
		if err := os.WriteFile(filepath.Join(dir, "suite.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, diags := compile(dir)
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, text)
		}
		return p.Case(0)
	}
	type options map[string]string
	draw := func(t *rapid.T, who string) options {
		o := options{}
		choices := map[string][]string{
			"threshold": {"0", "0.5", "1"}, "timeout": {"1s", "2m"}, "retries": {"0", "3"},
			"server": {"a", "b", "[a, b]"}, "tags": {"[x]", "[x, y]", "[z]"},
		}
		for _, key := range slices.Sorted(maps.Keys(choices)) {
			values := choices[key]
			if rapid.Bool().Draw(t, who+" "+key) {
				o[key] = rapid.SampledFrom(values).Draw(t, who+" "+key+" value")
			}
		}
		return o
	}
	write := func(o options) string {
		var b strings.Builder
		for _, k := range []string{"threshold", "timeout", "retries", "server", "tags"} {
			if v, ok := o[k]; ok {
				fmt.Fprintf(&b, ", %s: %s", k, v)
			}
		}
		return b.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		base, own := draw(t, "default"), draw(t, "own")
		text := "servers: {a: {command: [x]}, b: {command: [y]}}\ndefault_server: a\ndefaultTest: {expect: []%s}\ntools: [{name: n, tool: t, expect: []%s}]\n"
		first := build(t, fmt.Sprintf(text, write(base), write(own)))
		all := options{}
		for k, v := range base {
			all[k] = v
		}
		for k, v := range own {
			all[k] = v
		}
		all["tags"] = "[" + strings.Join(first.Tags, ", ") + "]"
		for _, again := range []string{fmt.Sprintf(text, write(base), write(all)), fmt.Sprintf(text, "", write(all))} {
			second := build(t, again)
			got := []any{second.Name, second.Timeout, second.Retries, strings.Join(second.Tags, " "), second.Tree.Threshold, second.Server.Name}
			want := []any{first.Name, first.Timeout, first.Retries, strings.Join(first.Tags, " "), first.Tree.Threshold, first.Server.Name}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s\n%s", d, again)
			}
		}
		if first.Timeout == 0 || own["timeout"] == "1s" && first.Timeout != time.Second {
			t.Fatalf("timeout %v", first.Timeout)
		}
	})
}
