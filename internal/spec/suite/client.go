package suite

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Client is what mcptest claims to be as the client of a server.
type Client struct {
	Pos source.Pos
	// The capabilities that the client declares, exactly as written; without it, those that respond: needs.
	Capabilities *ClientCapabilities `yaml:"capabilities,required" example:"{sampling: {tools: {}}, roots: {}}"`
}

// Declared returns the capabilities as written; absent if there are none.
func (c *Client) Declared() jsonv.Value {
	if c == nil || c.Capabilities == nil {
		return jsonv.Value{}
	}
	return c.Capabilities.Written
}

// ClientCapabilities are declared as written, also if the suite has no answer.
type ClientCapabilities struct {
	Pos source.Pos
	// Written are the capabilities as JSON.
	Written jsonv.Value

	// Roots, for roots/list.
	Roots *source.Node `yaml:"roots"`
	// A model, for sampling/createMessage: with tools if it has {tools: {}}, with contexts if {context: {}}.
	Sampling *source.Node `yaml:"sampling"`
	// A user, for elicitation/create: {} shows forms, {form: {}, url: {}} also addresses.
	Elicitation *source.Node `yaml:"elicitation"`
	// Tasks of the version 2025-11-25.
	Tasks *source.Node `yaml:"tasks"`
	// Extensions, by their names.
	Extensions *source.Node `yaml:"extensions"`
	// What no version standardizes.
	Experimental *source.Node `yaml:"experimental"`
}

// clientCapabilityKeys has the tags of ClientCapabilities.
type clientCapabilityKeys struct {
	Roots        *source.Node `yaml:"roots"`
	Sampling     *source.Node `yaml:"sampling"`
	Elicitation  *source.Node `yaml:"elicitation"`
	Tasks        *source.Node `yaml:"tasks"`
	Extensions   *source.Node `yaml:"extensions"`
	Experimental *source.Node `yaml:"experimental"`
}

// DecodeNode reads a map of capabilities, each of which is a map.
func (c *ClientCapabilities) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	c.Pos = n.Pos
	var k clientCapabilityKeys
	d.Decode(n, path, &k)
	if n.Kind != source.KindMap {
		return
	}
	c.Roots = k.Roots
	c.Sampling = k.Sampling
	c.Elicitation = k.Elicitation
	c.Tasks = k.Tasks
	c.Extensions = k.Extensions
	c.Experimental = k.Experimental
	for _, f := range n.Fields {
		if f.Value.Kind != source.KindMap {
			d.WrongType(f.Value, source.PathKey(path, f.Key.Text), "a map, such as {}")
		}
	}
	c.Written = n.JSON()
}
