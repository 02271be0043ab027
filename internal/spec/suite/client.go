package suite

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/identity"
)

// Client is what mcptest claims to be as the client of a server.
type Client struct {
	Pos source.Pos

	// A known client, whose name, version and capabilities are declared: `client: claude-code` alone is short for it.
	Profile string `yaml:"profile"`
	// The name that the client says it has, in place of mcptest or that of the profile.
	Name string `yaml:"name" schema:"pattern: '\\S'" example:"claude-ai"`
	// Its version.
	Version string `yaml:"version" schema:"pattern: '\\S'" example:"1.0.0"`
	// Its title, for people.
	Title string `yaml:"title" schema:"pattern: '\\S'" example:"Codex"`
	// The capabilities that the client declares, exactly as written; without it, those of the profile and of respond:.
	Capabilities *ClientCapabilities `yaml:"capabilities" example:"{sampling: {tools: {}}, roots: {}}"`
	// Extensions that the client declares, by their names, in place of those of the profile.
	Extensions *source.Node `yaml:"extensions"`
}

// clientKeys has the tags of Client.
type clientKeys struct {
	Profile      *string             `yaml:"profile"`
	Name         string              `yaml:"name"`
	Version      string              `yaml:"version"`
	Title        string              `yaml:"title"`
	Capabilities *ClientCapabilities `yaml:"capabilities"`
	Extensions   *source.Node        `yaml:"extensions"`
}

// DecodeNode reads the name of a profile, or a map.
func (c *Client) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	c.Pos = n.Pos
	switch n.Kind {
	case source.KindString:
		c.Profile = n.Text
		c.checkProfile(n, path, d)
		return
	case source.KindMap:
	default:
		d.ReportWrongType(n, path, "the name of a client or a map")
		return
	}
	if len(n.Fields) == 0 {
		d.Errorf(n, path, "the map is empty").Hint = "name a client, such as client: claude-code, or leave the key out"
		return
	}
	var k clientKeys
	d.Decode(n, path, &k)
	if k.Profile != nil {
		c.Profile = *k.Profile
		c.checkProfile(n.Get("profile"), source.PathKey(path, "profile"), d)
	}
	for _, key := range []string{"name", "version", "title"} {
		if v := n.Get(key); v != nil && v.Kind == source.KindString && strings.TrimSpace(v.Text) == "" {
			mistake := d.Errorf(v, source.PathKey(path, key), "the %s is empty", key)
			mistake.Hint = "leave the key out to keep that of the profile"
		}
	}
	c.Name, c.Version, c.Title, c.Capabilities = k.Name, k.Version, k.Title, k.Capabilities
	c.Extensions = k.Extensions
	if c.Extensions != nil && c.Extensions.Kind != source.KindMap {
		at := source.PathKey(path, "extensions")
		d.ReportWrongType(c.Extensions, at, "a map from the names of extensions to their settings")
		c.Extensions = nil
	}
}

// checkProfile reports a profile that does not exist.
func (c *Client) checkProfile(n *source.Node, path string, d *source.Decoder) {
	if _, ok := identity.Named(c.Profile); !ok {
		mistake := d.Errorf(n, path, "%q is not a client that mcptest knows", c.Profile)
		mistake.Hint = source.Known(c.Profile, identity.Names())
	}
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
			d.ReportWrongType(f.Value, source.PathKey(path, f.Key.Text), "a map, such as {}")
		}
	}
	c.Written = n.JSON()
}
