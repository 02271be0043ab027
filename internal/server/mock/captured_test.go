package mock_test

import (
	"os"
	"strings"
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mock"
)

func TestCapturedList(t *testing.T) {
	t.Parallel()
	const tools = `[
	  {"name": "plain", "description": "d", "inputSchema": {"type": "object", "required": ["q"]}, "execution": {"taskSupport": "forbidden"}},
	  {"name": "typed", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["a", "b", "c", "d", "e", "f", "g"], "properties": {
	    "a": {"type": "string"}, "b": {"type": ["integer", "null"], "minimum": 3}, "c": {"enum": ["x", "y"]}, "d": {"type": "array", "minItems": 2, "items": {"type": "boolean"}},
	    "e": {"$ref": "#/$defs/e"}, "f": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "g": {"type": "string", "format": "date-time"}, "h": {"type": "string"}},
	    "$defs": {"e": {"type": "object", "required": ["e"], "properties": {"e": {"default": 5}}}}}},
	  {"name": "odd", "inputSchema": {"type": "nonsense"}}]`
	for _, doc := range []string{
		`{"tools": ` + tools + `}`,
		`{"tools": ` + tools + `, "nextCursor": "x"}`,
		`{"jsonrpc": "2.0", "id": 3, "result": {"tools": ` + tools + `}}`,
	} {
		m, ds := manifest.Load(&source.File{Name: "m", Data: []byte(doc)})
		if m == nil {
			t.Fatal(ds)
		}
		if len(ds) != 1 || !strings.Contains(ds[0].Msg, `arguments of "odd" are not checked`) {
			t.Errorf("diagnostics: %v", ds)
		}
		w := connect(t, m, mock.Options{}, "{}")
		list, _ := w.call("tools/list", "")
		if !strings.Contains(list, `{"name":"plain","description":"d","inputSchema":{"type":"object","required":["q"]},"execution":{"taskSupport":"forbidden"}}`) {
			t.Errorf("listed: %s", list)
		}
		same(t, "plain", w.tool("plain", `{"q":1}`), text("canned response of plain"))
		same(t, "checked", w.tool("plain", `{}`), failed(`Invalid arguments for tool plain: missing property "q"`))
		if got := w.tool("typed", `{}`); !strings.HasSuffix(got, `"structuredContent":{"a":"text","b":3,"c":"x","d":[false,false],"e":{"e":5},"f":"text","g":"2026-01-01T12:00:00Z"}}}`) {
			t.Errorf("typed: %s", got)
		}
	}
}

// A schema that refers to itself must not cause an endless loop.
func TestCapturedRecursion(t *testing.T) {
	t.Parallel()
	load(t, `{"tools": [{"name": "a", "inputSchema": {}, "outputSchema": {"$ref": "#", "type": "object"}},
	  {"name": "b", "outputSchema": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#"}}}}]}`)
}

func FuzzLoad(f *testing.F) {
	for _, name := range manifest.Presets() {
		file, err := manifest.PresetFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file.Data)
	}
	f.Add([]byte(shelf))
	if golden, err := os.ReadFile("../../../examples/composition-mock.yaml"); err == nil {
		f.Add(golden)
	}
	f.Add([]byte(one("\n- when: {exists: 'args[args.x]'}\n  text: ${args['a'][0][-1].b + 1 - 2:-x}\n- {raw: {base64: AA==, repeat: 2}}")))
	// Each seed reaches code that no other seed does.
	for _, seed := range []string{
		"#mposition examples. It answers just well enough for\n# eachtof them to show its point.\nmock_server:\n  name: composition\n  tools:\n    - name: search\n      description: Finds packages; forgets to osay for which language\n      input_schema: {~ype: object, properties: {q: {type: string answers j}}, required: [q]}\n      response: \"3 packages found: serde, tokio, rayon\"",
		" protoڭncol onc:",
		"mock_server:\n  .ame: x\n  state: {n: 1, list: [a==, re, ~], deep: {k: {v: 7}}}\n  tools:\n    - name: t\n      response: \n        - whcn: {exists: 'args[args.x]'}\n          text: ${args['a'][0][-1].b +- 2:-x}\n        -",
		"-.",
		"rver:\n  name: x\n  state: {n: 1, list: [a==, re, ~], deep: {k: {v: 7}}}\n  tools:\n    - name: t\n      response: \n        - whcn: {exists: 'args[args.x]aaaa",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, ds := manifest.Load(&source.File{Name: "m", Data: data})
		if (m == nil) != ds.HasErrors() {
			t.Fatalf("manifest %v with diagnostics %v", m, ds)
		}
		for _, d := range ds {
			if d.Msg == "" || d.Code == "internal" {
				t.Fatalf("odd diagnostic %+v", d)
			}
		}
		if m != nil {
			mock.New(m, mock.Options{})
		}
	})
}
