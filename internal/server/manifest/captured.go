package manifest

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/protocol"
)

// readCapturedTools returns the tools of a captured response to tools/list: the result
// itself, or the whole JSON-RPC response. It returns nil when the document is neither.
func readCapturedTools(n *source.Node) *source.Node {
	if n.Kind != source.KindMap || n.Get("mock_server") != nil {
		return nil
	}
	if r := n.Get("result"); r != nil && n.Get("jsonrpc") != nil {
		return r.Get("tools")
	}
	tools := n.Get("tools")
	if tools == nil {
		return nil
	}
	for _, t := range tools.Items {
		// A manifest without its first line is not a captured list.
		if t.Get("response") != nil || t.Get("input_schema") != nil {
			return nil
		}
	}
	return tools
}

// newCaptured returns a server with the listed tools. They are listed unchanged. Each
// responds with a fixed text that names the tool and, if it declares an output schema,
// with a small value that satisfies it.
func newCaptured(tools *source.Node, d *source.Decoder) *Manifest {
	m := &Manifest{Name: "captured", Version: "1.0.0", Protocols: protocol.Versions()}
	if tools.Kind != source.KindList {
		d.ReportWrongType(tools, "tools", "a list of tools")
		return nil
	}
	seen := names{d: d, at: map[string]source.Pos{}}
	for i, n := range tools.Items {
		path := source.PathIndex("tools", i)
		name := n.Get("name")
		if n.Kind != source.KindMap || name == nil || name.Kind != source.KindString || name.Text == "" {
			d.Errorf(n, path, "a tool of tools/list is a map with a name")
			continue
		}
		seen.add(n, path, "tool", "name", name.Text)
		m.Tools = append(m.Tools, compileCapturedTool(n, name.Text, path, d))
	}
	return m
}

func compileCapturedTool(n *source.Node, name, path string, d *source.Decoder) *Tool {
	t := &Tool{Name: name, Listed: n.JSON()}
	if schema := n.Get("inputSchema"); schema != nil {
		s, err := jsonschema.Compile(schema.JSON(), jsonschema.Options{})
		if err != nil {
			d.Warnf(schema, path+".inputSchema", "arguments of %q are not checked: %v", name, err)
		}
		t.schema = s
	}
	text := jsonv.String(fmt.Sprintf("canned response of %s", name))
	t.Response = &Response{text: newLiteral(text)}
	if out := n.Get("outputSchema"); out != nil {
		t.Response = &Response{structured: newLiteral(jsonschema.Sample(out.JSON()))}
	}
	return t
}

// refuseSuite reports a suite that was given in place of a manifest. Both are YAML
// with a list of tools; those of a suite are tests.
func refuseSuite(n *source.Node, d *source.Decoder) bool {
	at := findSuiteSign(n)
	if at == nil {
		return false
	}
	diag := d.Errorf(at, "", "this is a suite of tests, not a manifest of a server; did you mean mcptest run?")
	diag.Code = "suite-as-manifest"
	diag.Hint = "mcptest run FILE runs a suite; a manifest is one map mock_server: {name, tools, resources, prompts}"
	return true
}

// findSuiteSign returns a node that only a suite has (one of its keys, or a test), or
// nil.
func findSuiteSign(n *source.Node) *source.Node {
	if n.Kind != source.KindMap || n.Get("mock_server") != nil || n.Get("jsonrpc") != nil {
		return nil
	}
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "servers", "default_server", "imports", "defaultTest", "default_test", "protocol", "tests", "run_options", "setup", "setup_per_test", "teardown":
			return f.Key
		case "tools", "resources", "prompts":
			for _, item := range f.Value.Items {
				if sign := testSign(item); sign != nil {
					return sign
				}
			}
		}
	}
	return nil
}

// testSign returns the key of an entry that makes it a test, or nil.
func testSign(n *source.Node) *source.Node {
	if n.Kind != source.KindMap || n.Get("inputSchema") != nil || n.Get("response") != nil {
		return nil
	}
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "tool", "args", "prompt", "expect", "steps", "server":
			return f.Key
		}
	}
	return nil
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets returns the names of the built-in manifests.
func Presets() []string { return []string{"echo", "everything", "evil"} }

// PresetFile returns the text of a built-in manifest, as an example to start from.
func PresetFile(name string) (*source.File, error) {
	if !slices.Contains(Presets(), name) {
		if hint := source.DidYouMean(name, Presets()); hint != "" {
			return nil, fmt.Errorf("unknown preset %q (%s)", name, hint)
		}
		return nil, fmt.Errorf("unknown preset %q: the presets are %s", name, strings.Join(Presets(), ", "))
	}
	data, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read preset %s: %w", name, err)
	}
	return &source.File{Name: "preset " + name, Data: data}, nil
}

// Preset returns a built-in manifest.
func Preset(name string) (*Manifest, error) {
	f, err := PresetFile(name)
	if err != nil {
		return nil, err
	}
	m, ds := Load(f)
	if m == nil {
		return nil, fmt.Errorf("load preset %s: %w", name, ds.Err())
	}
	return m, nil
}
