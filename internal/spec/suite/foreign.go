package suite

import (
	"cmp"
	"strings"

	"mcptest/internal/base/source"
)

// refuseForeign reports a file of another tool, with the way from there: one error in place of
// one for each of its keys.
func refuseForeign(dec *source.Decoder, root *source.Node) bool {
	if root == nil || root.Kind != source.KindMap || root.Get("servers") != nil || root.Get("imports") != nil {
		return false
	}
	key := findPromptfooKey(root)
	if key == nil {
		return false
	}
	d := dec.Errorf(key, "", "this is a configuration of promptfoo, not a suite of mcptest")
	d.Code = "promptfoo"
	d.Hint = "mcptest init -- " + cmp.Or(makePromptfooCommand(root), "COMMAND") +
		" writes a suite for an MCP server; " +
		"assert: becomes expect: [{target: text, matcher: {contains: …}}], vars: becomes cases:, a prompt for a model becomes a test of agents:"
	return true
}

// findPromptfooKey returns the key by which a file is one of promptfoo, or nil.
func findPromptfooKey(root *source.Node) *source.Node {
	var found *source.Node
	others := 0
	for _, f := range root.Fields {
		switch f.Key.Text {
		case "providers", "targets":
			found = f.Key
		case "prompts":
			others++
			if f.Value.IsScalar() || len(f.Value.Items) > 0 && f.Value.Items[0].Kind == source.KindString {
				found = cmp.Or(found, f.Key)
			}
		case "tests", "scenarios", "evaluateOptions", "redteam", "commandLineOptions":
			others++
		case "defaultTest":
			if f.Value.Get("assert") != nil || f.Value.Get("vars") != nil {
				others++
			}
		}
	}
	if others == 0 {
		return nil
	}
	return found
}

// makePromptfooCommand returns the command of an MCP server in a file of promptfoo, or "".
func makePromptfooCommand(n *source.Node) string {
	if n == nil {
		return ""
	}
	if command := n.Get("command"); command != nil && command.Kind == source.KindString && n.Get("args") != nil {
		words := []string{command.Text}
		for _, arg := range n.Get("args").Items {
			words = append(words, arg.Text)
		}
		return strings.Join(words, " ")
	}
	for _, f := range n.Fields {
		if found := makePromptfooCommand(f.Value); found != "" {
			return found
		}
	}
	for _, item := range n.Items {
		if found := makePromptfooCommand(item); found != "" {
			return found
		}
	}
	return ""
}

// nameServer reports a server that is written in the place of the map of names, and gives it
// one, so that its own mistakes are found.
func nameServer(dec *source.Decoder, root *source.Node) {
	for i, f := range root.Fields {
		if f.Key.Text != "servers" || f.Value.Kind != source.KindMap {
			continue
		}
		for _, key := range []string{"command", "url"} {
			v := f.Value.Get(key)
			if v == nil || v.Kind == source.KindMap {
				continue
			}
			d := dec.Errorf(v, "servers", "maps names to servers, and %s: is a key of one server", key)
			d.Hint = "write the name before it: servers: {api: {" + key + ": " + v.Inline() + "}}"
			name := *f.Key
			name.Text = "api"
			named := []source.Field{{Key: &name, Value: f.Value}}
			root.Fields[i].Value = &source.Node{Kind: source.KindMap, Pos: f.Value.Pos, Fields: named}
			return
		}
	}
}
