package mock

import (
	"fmt"

	"mcptest/internal/jsonschema"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/source"
)

// capturedTools finds the tools of a captured answer to tools/list: the result
// itself, or the whole JSON-RPC answer. Nil when the document is neither.
func capturedTools(n *source.Node) *source.Node {
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
		// A manifest whose first line was forgotten is not a captured list.
		if t.Get("response") != nil || t.Get("input_schema") != nil {
			return nil
		}
	}
	return tools
}

// captured makes a server of listed tools. They are listed exactly as they
// were; each answers a canned text that names it, and where it declares an
// output schema, a small value that fits.
func captured(tools *source.Node, d *source.Decoder) *Manifest {
	m := &Manifest{Name: "captured", Version: "1.0.0", protocols: mcp.Revisions()}
	if tools.Kind != source.KindList {
		d.WrongType(tools, "tools", "a list of tools")
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
		m.tools = append(m.tools, capturedTool(n, name.Text, path, d))
	}
	return m
}

func capturedTool(n *source.Node, name, path string, d *source.Decoder) *tool {
	t := &tool{name: name, listed: n.JSON()}
	if schema := n.Get("inputSchema"); schema != nil {
		s, err := jsonschema.Compile(schema.JSON(), jsonschema.Options{})
		if err != nil {
			d.Warnf(schema, path+".inputSchema", "arguments of %q are not checked: %v", name, err)
		}
		t.schema = s
	}
	text := jsonv.String(fmt.Sprintf("canned answer of %s", name))
	t.response = &response{text: literal(text)}
	if out := n.Get("outputSchema"); out != nil {
		t.response = &response{structured: literal(sample(out.JSON()))}
	}
	return t
}

// maxSampleDepth bounds samples of schemas that refer to themselves.
const maxSampleDepth = 12

// sample makes a small value that fits a schema of the usual kind: the first
// of const, default, examples, enum, and required members only.
func sample(schema jsonv.Value) jsonv.Value {
	return sampler{root: schema}.of(schema, 0)
}

type sampler struct{ root jsonv.Value }

func (s sampler) of(schema jsonv.Value, depth int) jsonv.Value {
	if depth > maxSampleDepth {
		return jsonv.Null()
	}
	if ref := schema.Lookup("$ref").Text(); len(ref) > 1 && ref[0] == '#' {
		if to, ok := s.root.Pointer(ref[1:]); ok {
			return s.of(to, depth+1)
		}
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := schema.Get(key); ok {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if v := schema.Lookup(key); v.Len() > 0 {
			return v.At(0)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if v := schema.Lookup(key); v.Len() > 0 {
			return s.of(v.At(0), depth+1)
		}
	}
	return s.typed(schema, depth)
}

func (s sampler) typed(schema jsonv.Value, depth int) jsonv.Value {
	kind := schema.Lookup("type")
	if kind.Kind() == jsonv.KindArray {
		kind = kind.At(0)
	}
	switch kind.Text() {
	case "string":
		return sampleText(schema)
	case "number", "integer":
		if low := schema.Lookup("minimum"); !low.IsAbsent() {
			return low
		}
		return jsonv.Int(1)
	case "boolean":
		return jsonv.Bool(true)
	case "null":
		return jsonv.Null()
	case "array":
		n, _ := schema.Lookup("minItems").Int64()
		items := make([]jsonv.Value, min(max(n, 0), 10))
		for i := range items {
			items[i] = s.of(schema.Lookup("items"), depth+1)
		}
		return jsonv.Array(items...)
	}
	var members []jsonv.Member
	for _, name := range schema.Lookup("required").Elems() {
		members = append(members, jsonv.Member{Key: name.Text(), Value: s.of(schema.Lookup("properties", name.Text()), depth+1)})
	}
	return jsonv.Object(members...)
}

// sampleText fits the formats that servers use most.
func sampleText(schema jsonv.Value) jsonv.Value {
	switch schema.Lookup("format").Text() {
	case "date-time":
		return jsonv.String("2025-01-01T00:00:00Z")
	case "date":
		return jsonv.String("2025-01-01")
	case "uri", "url":
		return jsonv.String("https://example.com/")
	case "email":
		return jsonv.String("someone@example.com")
	case "uuid":
		return jsonv.String("00000000-0000-4000-8000-000000000000")
	}
	text := "text"
	if n, ok := schema.Lookup("minLength").Int64(); ok {
		for int64(len(text)) < min(n, 1000) {
			text += " text"
		}
	}
	return jsonv.String(text)
}
