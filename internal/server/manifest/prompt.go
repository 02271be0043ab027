package manifest

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Prompt is one prompt: its entry in the list and its response.
type Prompt struct {
	Name        string
	Listed      jsonv.Value
	description jsonv.Value
	Required    []string
	Complete    map[string][]string
	Response    *Response
}

// promptKeys are the keys of a prompt.
type promptKeys struct {
	// The prompt's name.
	Name string `yaml:"name,required"`
	// Its name for people.
	Title *source.Node `yaml:"title"`
	// What it is for.
	Description *source.Node `yaml:"description"`
	// Its arguments.
	Arguments []promptArgument `yaml:"arguments" keys:"prompt-argument" list:"true"`
	// Icons.
	Icons *source.Node `yaml:"icons"`
	// The _meta of the listed prompt.
	Meta *source.Node `yaml:"meta"`
	// One message of the user.
	Text *source.Node `yaml:"text"`
	// The messages.
	Messages *source.Node `yaml:"messages" keys:"message" list:"true"`
	// What getting it does and returns, where text and messages are not enough.
	Response *source.Node `yaml:"response" keys:"response"`
}

// promptArgument is one argument of a prompt.
type promptArgument struct {
	// The argument's name.
	Name string `yaml:"name,required"`
	// Its name for people.
	Title *source.Node `yaml:"title"`
	// What it is.
	Description *source.Node `yaml:"description"`
	// Whether it must be given.
	Required *bool `yaml:"required"`
	// Values that complete it.
	Complete []string `yaml:"complete"`
}

func decodePrompt(n *source.Node, path string, d *source.Decoder) *Prompt {
	n = spellInSnake(n, path, d)
	var k promptKeys
	d.Decode(n, path, &k)
	p := &Prompt{Name: k.Name, description: k.Description.JSON(), Complete: map[string][]string{}}
	var args []jsonv.Value
	known := []string{}
	for _, a := range k.Arguments {
		required := jsonv.Value{}
		if a.Required != nil {
			required = jsonv.Bool(*a.Required)
		}
		if required.Bool() {
			p.Required = append(p.Required, a.Name)
		}
		if a.Complete != nil {
			p.Complete[a.Name] = a.Complete
		}
		known = append(known, a.Name)
		args = append(args, jsonv.ObjectOf(
			"name", a.Name,
			"title", a.Title.JSON(),
			"description", a.Description.JSON(),
			"required", required,
		))
	}
	var listed jsonv.Value // absent: the prompt has no arguments
	if len(args) > 0 {
		listed = jsonv.Array(args...)
	}
	p.Listed = jsonv.ObjectOf(
		"name", k.Name,
		"title", k.Title.JSON(),
		"description", p.description,
		"arguments", listed,
		"icons", k.Icons.JSON(),
		"_meta", k.Meta.JSON(),
	)
	c := compiler{d: d, roots: toolRoots, args: known}
	p.Response = k.answer(n, path, c)
	return p
}

func (k promptKeys) answer(n *source.Node, path string, c compiler) *Response {
	r := &Response{text: compileOptional(k.Text, path+".text", c.compile), messages: compileOptional(k.Messages, path+".messages", c.compileMessages)}
	if k.Response != nil {
		r = c.compileResponse(k.Response, path+".response", 0)
		if r.content != nil || r.structured != nil {
			c.d.Errorf(k.Response, path+".response", "a prompt returns text or messages, not content")
		}
	}
	if countGiven(k.Text, k.Messages, k.Response) != 1 && n.Kind == source.KindMap {
		c.d.Errorf(n, path, "must have exactly one of text, messages and response")
	}
	return r
}
