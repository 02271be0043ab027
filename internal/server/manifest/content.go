package manifest

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// blocks lists the types of content blocks with the keys each must have
// (MCP 2025-11-25 schema, ContentBlock).
var blocks = []struct {
	kind string
	must []string
}{
	{"text", []string{"text"}},
	{"image", []string{"data", "mimeType"}},
	{"audio", []string{"data", "mimeType"}},
	{"resource", []string{"resource"}},
	{"resource_link", []string{"uri", "name"}},
}

// compileContent compiles a list of content blocks, or a single one.
func (c compiler) compileContent(n *source.Node, path string) *Template {
	if n.Kind != source.KindList {
		return newComposite(source.KindList, nil, c.compileBlock(n, path))
	}
	return each(n, path, c.compileBlock)
}

// compileBlock compiles one content block. A plain text is short for a text block, and the
// type may be omitted where a key implies it: {text: …}, {resource: …}.
func (c compiler) compileBlock(n *source.Node, path string) *Template {
	if n.IsScalar() {
		return newTextBlock(c.compile(n, path))
	}
	if n.Kind != source.KindMap {
		c.d.ReportWrongType(n, path, "a content block: text, or a map with a type")
		return newLiteral(jsonv.Object())
	}
	n = renameKeys(n, path, c.d, renameBlockKey) // a copy, which is changed below
	kind := ""
	if t := n.Get("type"); t != nil {
		kind = t.Text
	} else {
		for _, guess := range []string{"text", "resource"} {
			if n.Get(guess) != nil {
				kind = guess
			}
		}
		n.Fields = slices.Insert(n.Fields, 0, source.Field{Key: n.WithText("type"), Value: n.WithText(kind)})
	}
	c.checkBlock(n, path, kind)
	for i := range n.Fields {
		if f := &n.Fields[i]; f.Key.Text == "resource" && kind == "resource" {
			f.Value = renameKeys(f.Value, path+".resource", c.d, renameBlockKey)
			c.checkResource(f.Value, path+".resource")
		}
	}
	return c.compileWithText(n, path)
}

// compileWithText compiles a map whose member text, and that of a member resource, is
// converted to a text regardless of its type.
func (c compiler) compileWithText(n *source.Node, path string) *Template {
	return compileMembers(n, path, func(key string, v *source.Node, at string) *Template {
		switch {
		case key == "text":
			return asText(c.compile(v, at))
		case key == "resource" && v.Kind == source.KindMap:
			return c.compileWithText(v, at)
		}
		return c.compile(v, at)
	})
}

func newTextBlock(text *Template) *Template {
	return newComposite(source.KindMap, []string{"type", "text"}, newLiteral(jsonv.String("text")), asText(text))
}

func (c compiler) checkBlock(n *source.Node, path, kind string) {
	names := make([]string, len(blocks))
	for i, b := range blocks {
		names[i] = b.kind
		if b.kind != kind {
			continue
		}
		for _, key := range b.must {
			if n.Get(key) == nil {
				c.d.Errorf(n, path, "a content block of type %s needs %q", kind, key).Code = "missing-key"
			}
		}
		if data := n.Get("data"); data != nil {
			c.checkBase64(data, path+".data")
		}
		return
	}
	at := n.Get("type")
	if at == nil || kind == "" {
		c.d.Errorf(n, path, "the content block has no type").Hint = "types: " + strings.Join(names, ", ")
		return
	}
	d := c.d.Errorf(at, path+".type", "unknown type %q of a content block%s", kind, source.Parenthesis(source.DidYouMean(kind, names)))
	d.Hint = "types: " + strings.Join(names, ", ") + "; use result: to send what MCP does not define"
}

func (c compiler) checkResource(n *source.Node, path string) {
	if n.Kind != source.KindMap {
		c.d.ReportWrongType(n, path, "a map with uri and text or blob")
		return
	}
	if n.Get("uri") == nil {
		c.d.Errorf(n, path, "missing key %q", "uri").Code = "missing-key"
	}
	if (n.Get("text") == nil) == (n.Get("blob") == nil) {
		c.d.Errorf(n, path, "must have exactly one of text and blob")
	}
	if blob := n.Get("blob"); blob != nil {
		c.checkBase64(blob, path+".blob")
	}
}

// checkBase64 checks data that has no placeholder.
func (c compiler) checkBase64(n *source.Node, path string) {
	if !strings.Contains(n.Text, "${") {
		decodeBase64(n, path, c.d)
	}
}

// compileMessages compiles the messages of a prompt: maps of role and content, where a plain
// text is short for a text block of the user.
func (c compiler) compileMessages(n *source.Node, path string) *Template {
	if n.Kind != source.KindList {
		c.d.ReportWrongType(n, path, "a list of messages")
		return newLiteral(jsonv.Array())
	}
	return each(n, path, c.compileMessage)
}

// messageKeys are the keys of a message of a prompt.
type messageKeys struct {
	// Who says it.
	Role string `yaml:"role" enum:"user|assistant" default:"user"`
	// Its content block, or a text.
	Content *source.Node `yaml:"content,required"`
}

func (c compiler) compileMessage(n *source.Node, path string) *Template {
	if n.IsScalar() {
		return newUserMessage(newTextBlock(c.compile(n, path)))
	}
	var m messageKeys
	c.d.Decode(n, path, &m)
	if m.Content == nil {
		return newLiteral(jsonv.Object())
	}
	m.Role = cmp.Or(m.Role, "user")
	return newMessage(m.Role, c.compileBlock(m.Content, path+".content"))
}

func newUserMessage(block *Template) *Template { return newMessage("user", block) }

func newMessage(role string, block *Template) *Template {
	return newComposite(source.KindMap, []string{"role", "content"}, newLiteral(jsonv.String(role)), block)
}
