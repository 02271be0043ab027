package suite

import (
	"cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// SamplingAnswer is an answer to sampling/createMessage: {text: …}, or a complete
// result that is sent unchanged.
type SamplingAnswer struct {
	Pos    source.Pos
	Text   string
	Model  string
	Result jsonv.Value // absent if Text is set
}

// samplingText is the short form of an answer.
type samplingText struct {
	// The text of the simulated model's message.
	Text string `yaml:"text,required"`
	// The name of the model; mcptest when left out.
	Model string `yaml:"model"`
}

// DecodeNode reads {text, model?} or a result that has content.
func (a *SamplingAnswer) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	a.Pos = n.Pos
	if n.Kind == source.KindMap && n.Get("content") != nil {
		a.Result = n.JSON()
		if k := n.Get("text"); k != nil {
			d.Errorf(k, path, "has both text: (the short form) and content: (a whole result)")
		}
		return
	}
	var m samplingText
	d.Decode(n, path, &m)
	a.Text, a.Model = m.Text, m.Model
}

// JSON returns the result to send, as MCP's CreateMessageResult.
func (a SamplingAnswer) JSON() jsonv.Value {
	if !a.Result.IsAbsent() {
		return a.Result
	}
	model := cmp.Or(a.Model, "mcptest")
	return jsonv.ObjectOf("role", "assistant", "content", jsonv.ObjectOf("type", "text", "text", a.Text), "model", model, "stopReason", "endTurn")
}

// UsesTools reports whether the model calls a tool that the server offers it.
func (a SamplingAnswer) UsesTools() bool {
	if a.Result.Lookup("stopReason").Text() == "toolUse" {
		return true
	}
	content := a.Result.Lookup("content")
	for _, block := range content.Elems() {
		if block.Lookup("type").Text() == "tool_use" {
			return true
		}
	}
	return content.Lookup("type").Text() == "tool_use"
}

// ElicitationAnswer is an answer to elicitation/create.
type ElicitationAnswer struct {
	Pos source.Pos
	// accept, decline or cancel.
	Action string
	// URL is set if the answer is to a request to open an address, not to a form.
	URL bool
	// Content is the content of the form; absent if there is none.
	Content jsonv.Value
	// Defaults is set by `content: defaults`: the form is filled with the defaults
	// of the schema.
	Defaults bool
}

// elicitationKeys has the tags of an elicitation's answer.
type elicitationKeys struct {
	// The simulated user's action: accept, decline or cancel.
	Action string `yaml:"action,required" enum:"accept|decline|cancel" example:"accept"`
	// What the request shows to the user: a form, or url for an address to open. Only modes with an answer are declared.
	Mode string `yaml:"mode" enum:"form|url" default:"form" example:"url"`
	// The values of the form, or the word defaults for those of its schema; with action accept only.
	Content *source.Node `yaml:"content"`
}

// DecodeNode reads {action, mode?, content?}.
func (a *ElicitationAnswer) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	a.Pos = n.Pos
	var m elicitationKeys
	d.Decode(n, path, &m)
	a.Action, a.URL = m.Action, m.Mode == "url"
	c := m.Content
	switch {
	case c == nil:
	case c.Kind == source.KindMap:
		a.Content = c.JSON()
	case c.Kind == source.KindString && c.Text == "defaults":
		a.Defaults = true
	default:
		d.ReportWrongType(c, path+".content", "a map of values or the word defaults")
	}
	if m.Content != nil && a.URL {
		d.Errorf(m.Content, path+".content", "content is that of a form: it cannot be used with mode url")
	}
	if m.Content != nil && m.Action != "" && m.Action != "accept" {
		d.Errorf(m.Content, path+".content", "content can be used only with action accept, not %s", m.Action)
	}
}

// JSON returns the result (MCP's ElicitResult) for a request with these params.
func (a ElicitationAnswer) JSON(params jsonv.Value) jsonv.Value {
	content := a.Content
	if a.Defaults {
		content = fillDefaults(params.Lookup("requestedSchema"))
	}
	return jsonv.ObjectOf("action", a.Action, "content", content)
}

// fillDefaults collects the defaults of an elicitation's properties
// (MCP 2025-11-25, SEP-1034).
func fillDefaults(schema jsonv.Value) jsonv.Value {
	var out []jsonv.Member
	for name, prop := range schema.Lookup("properties").Members() {
		out = append(out, jsonv.Member{Key: name, Value: prop.Lookup("default")})
	}
	return jsonv.Object(out...)
}
