package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/model"
	spec "mcptest/internal/spec/agent"
)

// Tool is a tool that the model is offered.
type Tool struct {
	Server string      // of the suite
	Def    jsonv.Value // as listed
	Name   string      // in the suite and the record: that of MCP, or SERVER__TOOL
	wire   string      // as providers accept it
}

// Own returns the name at its server.
func (t *Tool) Own() string { return t.Def.Lookup("name").Text() }

// Offer is the list of tools of one server. Descriptions replace those of its tools.
type Offer struct {
	Server       string
	Tools        []jsonv.Value
	Descriptions []spec.Description
}

// Tools returns the tools of servers, with names that providers accept. With several
// servers, the name of its server is a part of the name of a tool.
func Tools(offers []Offer) (out []*Tool) {
	short := map[string]int{}
	for _, o := range offers {
		short[makeBaseName(o.Server)]++
	}
	taken := map[string]bool{}
	for _, o := range offers {
		for _, def := range o.Tools {
			t := &Tool{Server: o.Server, Def: def}
			for _, d := range o.Descriptions {
				if d.Tool == t.Own() {
					t.Def = def.With("description", jsonv.String(d.Text))
				}
			}
			t.Name = t.Own()
			if len(offers) > 1 {
				prefix := makeBaseName(o.Server)
				if short[prefix] > 1 {
					prefix = o.Server
				}
				t.Name = prefix + "__" + t.Name
			}
			t.wire = makeWireName(t.Name, taken)
			taken[t.wire] = true
			out = append(out, t)
		}
	}
	return out
}

// makeBaseName returns the name of a server without that of its variant.
func makeBaseName(server string) string {
	name, _, _ := strings.Cut(server, "@")
	return name
}

// wireMost is the longest name that providers accept.
const wireMost = 64

// isWireRune reports whether providers accept a rune in the name of a tool.
func isWireRune(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	}
	return r == '_' || r == '-'
}

// makeWireName returns a name of letters, digits, _ and - that no other tool has.
func makeWireName(name string, taken map[string]bool) string {
	out := strings.Map(func(r rune) rune {
		if isWireRune(r) {
			return r
		}
		return '_'
	}, name)
	for n := 0; len(out) > wireMost || out == "" || taken[out]; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", name, n))
		const digits = 6
		out = out[:min(len(out), wireMost-digits-1)] + "_" + hex.EncodeToString(sum[:])[:digits]
	}
	return out
}

// makeDefinition returns what the model gets to know about a tool.
func (t *Tool) makeDefinition() model.Tool {
	schema := t.Def.Lookup("inputSchema")
	switch {
	case schema.Kind() != jsonv.KindObject:
		schema = jsonv.ObjectOf("type", "object")
	case schema.Lookup("type").Text() != "object":
		schema = schema.With("type", jsonv.String("object"))
	}
	return model.Tool{
		Name:        t.wire,
		Description: cmp.Or(t.Def.Lookup("description").Text(), t.Def.Lookup("title").Text()),
		Schema:      schema,
	}
}

// find returns the tool of a call; nil if there is none, or several have its name.
func (t *Trial) find(name string) *Tool {
	list := findTools(t.tools, name)
	if t.Model == scripted {
		if len(list) == 1 {
			return list[0]
		}
		return nil
	}
	return lists.First(t.tools, func(tool *Tool) bool { return tool.Name == name || tool.wire == name })
}

// findTools returns the tools that a name in a suite means: that of the suite, or that of the
// server, which tools of several servers may have.
func findTools(tools []*Tool, name string) (out []*Tool) {
	for _, t := range tools {
		hasName := func(o *Tool) bool {
			return o.Name == t.Name
		}
		if (t.Name == name || t.Own() == name) && !slices.ContainsFunc(out, hasName) {
			out = append(out, t)
		}
	}
	return out
}

// explainUnknown says that no tool has a name, with the nearest one, or that several have it.
func explainUnknown(tools []*Tool, name string) string {
	if list := findTools(tools, name); len(list) > 1 {
		return fmt.Sprintf("%q is ambiguous: it is %s or %s", name, list[0].Name, list[1].Name)
	}
	return fmt.Sprintf("no tool is called %q%s", name, source.Parenthesis(findNearTool(tools, name)))
}

// findNearTool returns a hint with the tool that a misspelled name may mean: one with a similar
// name, or one of another server.
func findNearTool(tools []*Tool, name string) string {
	var names, own []string
	for _, t := range tools {
		names, own = append(names, t.Name), append(own, t.Own())
	}
	words := []string{name}
	if source.FindNearest(name, names) == "" { // perhaps it has the wrong server
		for _, separator := range []string{"__", ".", "/", ":"} {
			if _, rest, ok := strings.Cut(name, separator); ok {
				words = append(words, rest)
			}
		}
	}
	for _, word := range words {
		near := word
		if !slices.Contains(own, word) {
			near = source.FindNearest(word, own)
		}
		list := findTools(tools, near)
		switch {
		case near == "":
		case len(list) > 1:
			return fmt.Sprintf("did you mean %q or %q?", list[0].Name, list[1].Name)
		case word != name && len(list) == 1:
			return source.Suggest(list[0].Name)
		default:
			return source.Suggest(near)
		}
	}
	return source.Known(name, names)
}
