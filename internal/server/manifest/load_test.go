package manifest_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/source"
	"mcptest/internal/server/manifest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// mistakes loads a manifest and returns its mistakes, one per line.
func mistakes(text string) string {
	m, ds := manifest.Load(&source.File{Name: "m", Data: []byte(text)})
	var lines []string
	for _, d := range ds {
		line := d.String()
		if d.Hint != "" {
			line += " | " + d.Hint
		}
		for _, r := range d.Related {
			line += " | " + r.Pos.String() + " " + r.Msg
		}
		lines = append(lines, line)
	}
	if (m == nil) != ds.HasErrors() {
		lines = append(lines, "a manifest came with errors, or none without")
	}
	return strings.Join(lines, "\n")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	tool := func(rest string) string { return "mock_server:\n  name: x\n  tools:\n  - name: t\n    " + rest }
	for _, c := range []struct{ name, in string }{
		{"fine", tool("response: x")},
		{"empty", ""},
		{"not a map", "[1]"},
		{"no mock_server", "name: x"},
		{"forgotten wrapper", "tools: [{name: t, response: x}]"},
		{"a suite", "servers: {a: {command: [x]}}\ntools:\n  - {name: a, tool: b}"},
		{"a suite without servers", "tools:\n  - {name: a, tool: b, expect: []}"},
		{"a suite of protocol tests", "name: x\nprotocol: [{name: a, method: ping}]"},
		{"tests", "tests: [{name: a, tool: b}]"},
		{"null", "mock_server:"},
		{"unknown keys", "mock_server: {nmae: x, tols: []}"},
		{"camelCase twice", tool("inputSchema: {}\n    input_schema: {}\n    response: x")},
		{"no response", tool("title: x")},
		{"null response", tool("response:")},
		{"second tool", "mock_server:\n  name: x\n  tools:\n  - {name: t, response: x}\n  - {name: t, response: y}"},
		{"empty name", "mock_server: {name: x, tools: [{name: '', response: x}]}"},
		{"schema", tool("input_schema: {type: object, properties: {a: {type: nubmer}}}\n    response: x")},
		{"schema with ref", tool("input_schema: {$ref: 'file:///etc/passwd'}\n    response: x")},
		{"unknown root", tool("response: '${arg.x}'")},
		{"root of another place", tool("response: '${vars.x}'")},
		{"not closed", tool("response: 'a ${args.x'")},
		{"junk", tool("response: 'a ${args.x * 2}'")},
		{"empty placeholder", tool("response: '${}'")},
		{"dot", tool("response: '${args.}'")},
		{"bracket", tool("response: '${args[}'")},
		{"bracket end", tool("response: '${args[0}'")},
		{"unknown argument", tool("input_schema: {type: object, properties: {city: {}}}\n    response: '${args.ctiy} ${args.zzz}'")},
		{"undeclared arguments", tool("input_schema: {type: object, properties: {}, additionalProperties: true}\n    response: '${args.x}'")},
		{"asks", tool("response: {steps: [{ask: [{roots: {}}, {roots: {}}]}, {ask: []}, {ask: [{as: a, sampling: x}, roots]}], text: '${ask.a} ${ask.roots} ${ask.b}'}")},
		{"tasks", tool("task: never\n    response: x") + "\n  - {name: u, task: {ttl: 0s, pol: 1s}, response: x}\n  - {name: v, response: {steps: [{task: true}]}}\n  - {name: w, task: required, response: {steps: [{task: true}]}}"},
		{"unknown ask", tool("response: {steps: [{ask: {as: who, sampling: x}}], text: '${ask.how}'}")},
		{"ask of another response", tool("response: '${ask.x}'")},
		{"two responses", tool("response: {text: x, error: y, raw: z}")},
		{"text and content", tool("response: {text: x, content: []}")},
		{"messages", tool("response: {messages: []}")},
		{"block types", tool("response: {content: [{type: imag, data: x}, {data: x}, {type: image}, {type: image, data: '!', mimeType: a/b}, [1]]}")},
		{"resource block", tool("response: {content: [{resource: {text: x, blob: y}}, {resource: x}, {type: resource_link}]}")},
		{"no when", tool("response: [{text: a}, {text: b}]")},
		{"empty list", tool("response: []")},
		{"empty sequence", tool("response: {sequence: []}")},
		{"then", tool("response: {text: x, then: cycle}")},
		{"steps next to a sequence", tool("response: {sequence: [a], delay: 1s}")},
		{"when", tool("input_schema: {properties: {city: {}}}\n    response: [{when: {args: {ctiy: 1}, sate: {}, exists: 'arg.x', missing: [1]}, text: a}, b]")},
		{"steps", tool("response: {steps: [{}, {delay: 5}, {delay: 1h}, {log: {level: loud, data: x}}, {progress: x}, {exit: 1, hang: true}, {dleay: 1s}, x, {ask: {as: x}}, {set: x}, {set: {a..b: 1}}, {write: {repeat: 0}}]}")},
		{"steps no list", tool("response: {steps: {delay: 1s}}")},
		{"fault", "mock_server: {name: x, fault: slwo, page_size: 0, protocols: ['2025-06-18', '2025-01-01'], state: [1]}"},
		{"resources", "mock_server: {name: x, resources: [{uri: 'a:', name: b}, {uri: 'a:', name: c, text: x, blob: AA==}, {uri: 'b:', name: c, blob: '*'}]}"},
		{"templates", "mock_server: {name: x, resource_templates: [{uri_template: 'a/{', name: x, text: x}, {uri_template: 'a/{?q}', name: x, text: '${vars.a}${args.b}'}]}"},
		{"template variables", "mock_server: {name: x, resource_templates: [{uri_template: 'a/{id}', name: x, text: '${vars.di}'}]}"},
		{"prompts", "mock_server: {name: x, prompts: [{name: p}, {name: q, arguments: [{name: a}], text: '${args.b}'}, {name: r, messages: [{role: system, content: x}, {}]}, {name: s, response: {content: []}}]}"},
		{"methods", "mock_server: {name: x, methods: {ping: {result: '${args.x}'}}}"},
		{"aliases name their use", "mock_server:\n  name: x\n  tools:\n  - name: t\n    response: &r '${args.'\n  - name: u\n    response: *r"},
	} {
		got.WriteString("== " + c.name + "\n" + mistakes(c.in) + "\n")
	}
	const golden = "testdata/mistakes.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	same(t, golden, got.String(), string(want))
}

// The manifests in the guide are valid.
func TestManifestsOfTheGuide(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/guides/mock.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range strings.Split(string(data), "```yaml\n")[1:] {
		if text, _, _ := strings.Cut(block, "```"); strings.HasPrefix(text, "mock_server:") {
			found++
			same(t, "mistakes", mistakes(text), "")
		}
	}
	if found != 4 {
		t.Errorf("%d manifests", found)
	}
}

// The manifest in the README of the examples is valid.
func TestManifestOfTheReadme(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the README has no manifest")
	}
	same(t, "mistakes", mistakes(text), "")
}

func TestCapturedMistakes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"tools": {}}`:                          `m:1:11: error: tools: expected a list of tools, got a map`,
		`{"tools": [{"title": "x"}, "y"]}`:       "m:1:12: error: tools[0]: a tool of tools/list is a map with a name\nm:1:28: error: tools[1]: a tool of tools/list is a map with a name",
		`{"tools": [{"name":"a"},{"name":"a"}]}`: `m:1:25: error: tools[1]: a second tool "a" | m:1:12 the first one`,
	} {
		same(t, in, mistakes(in), want)
	}
}

func TestParseFault(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"none": "", "hang": "", "wedged": "", "slow:0": "", "slow:200": "", "recover-after:3": "",
		"hnag":             `unknown fault "hnag" (did you mean "hang"?)`,
		"":                 `unknown fault "": expected none, hang, wedged, slow:<ms> or recover-after:<n>`,
		"slow":             `fault "slow": expected slow with a whole number after the colon, such as slow:200`,
		"slow:x":           `fault "slow:x": expected slow with a whole number after the colon, such as slow:200`,
		"slow:-1":          `fault "slow:-1": expected slow with a whole number after the colon, such as slow:200`,
		"slow:99999999":    `fault "slow:99999999": must be at most 600000 ms`,
		"recover-after:1s": `fault "recover-after:1s": expected recover-after with a whole number after the colon, such as recover-after:200`,
		"hang:3":           `fault "hang:3": hang takes no number`,
	} {
		got := ""
		if _, err := manifest.ParseFault(in); err != nil {
			got = err.Error()
		}
		same(t, in, got, want)
	}
}

// The end of the context ends a server whose input never ends.
