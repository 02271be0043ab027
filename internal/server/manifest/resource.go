package manifest

import (
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Resource is one resource: its entry in the list and the response to reading it.
type Resource struct {
	uri    string
	Listed jsonv.Value
	read   Reading
}

// ResourceTemplate is a family of resources.
type ResourceTemplate struct {
	URI      string
	Listed   jsonv.Value
	pieces   []piece
	read     Reading
	Complete map[string][]string
}

// Reading is the response to resources/read: contents made of text or blob, or a
// complete response.
type Reading struct {
	mime     jsonv.Value
	blob     *Template
	Response *Response
}

// resourceKeys are the keys that resources and templates share.
type resourceKeys struct {
	// A name.
	Name *source.Node `yaml:"name,required"`
	// A name for people.
	Title *source.Node `yaml:"title"`
	// What it is.
	Description *source.Node `yaml:"description"`
	// The media type.
	MimeType *source.Node `yaml:"mime_type"`
	// Annotations such as audience and priority.
	Annotations *source.Node `yaml:"annotations"`
	// Icons.
	Icons *source.Node `yaml:"icons"`
	// The _meta of the listed resource.
	Meta *source.Node `yaml:"meta"`
	// The content; a map or list is written as JSON.
	Text *source.Node `yaml:"text"`
	// The content in base64.
	Blob *source.Node `yaml:"blob"`
	// What reading it does and returns, where text and blob are not enough.
	Response *source.Node `yaml:"response" keys:"response"`
}

// listEntry returns the entry in a list; first and last are the members that only
// resources, or only templates, have.
func (k resourceKeys) listEntry(first, last []any) jsonv.Value {
	return jsonv.ObjectOf(slices.Concat(first, []any{
		"name", k.Name.JSON(),
		"title", k.Title.JSON(),
		"description", k.Description.JSON(),
		"mimeType", k.MimeType.JSON(),
		"annotations", k.Annotations.JSON(),
		"icons", k.Icons.JSON(),
		"_meta", k.Meta.JSON(),
	}, last)...)
}

func (k resourceKeys) compileReading(n *source.Node, path string, c compiler) Reading {
	r := Reading{mime: k.MimeType.JSON(), Response: &Response{}}
	if countGiven(k.Text, k.Blob, k.Response) != 1 && n.Kind == source.KindMap {
		c.d.Errorf(n, path, "must have exactly one of text, blob and response")
	}
	if k.Text != nil {
		r.Response.text = asText(c.compile(k.Text, path+".text"))
	}
	if k.Blob != nil {
		c.checkBase64(k.Blob, path+".blob")
		r.blob = c.compile(k.Blob, path+".blob")
	}
	if k.Response != nil {
		r.Response = c.compileResponse(k.Response, path+".response", 0)
	}
	return r
}

// listedResourceKeys are the keys of a resource.
type listedResourceKeys struct {
	// The address.
	URI string `yaml:"uri,required"`
	// The size in bytes, as the list has it.
	Size         *source.Node `yaml:"size"`
	resourceKeys `yaml:",inline"`
}

// templateKeys are the keys of a resource template.
type templateKeys struct {
	// The addresses: RFC 6570 with {name} and {+name}.
	URITemplate string `yaml:"uri_template,required"`
	// Values that complete a variable, by its name.
	Complete     map[string][]string `yaml:"complete"`
	resourceKeys `yaml:",inline"`
}

func decodeResource(n *source.Node, path string, d *source.Decoder) *Resource {
	n = spellInSnake(n, path, d)
	var k listedResourceKeys
	d.Decode(n, path, &k)
	listed := k.listEntry([]any{"uri", k.URI}, []any{"size", k.Size.JSON()})
	c := compiler{d: d, roots: []string{"uri", "state", "ask", "calls", "client", "id", "params", "request"}}
	return &Resource{uri: k.URI, Listed: listed, read: k.compileReading(n, path, c)}
}

func decodeTemplate(n *source.Node, path string, d *source.Decoder) *ResourceTemplate {
	n = spellInSnake(n, path, d)
	var k templateKeys
	d.Decode(n, path, &k)
	t := &ResourceTemplate{URI: k.URITemplate, Complete: k.Complete, Listed: k.listEntry([]any{"uriTemplate", k.URITemplate}, nil)}
	var bad string
	if t.pieces, bad = parseTemplate(k.URITemplate); bad != "" {
		at := n.Get("uri_template")
		d.Errorf(at, path+".uri_template", "%s", bad).Hint = "for example test://notes/{id}, or {+path} for a variable with slashes"
	}
	var vars []string
	for _, p := range t.pieces {
		if p.name != "" {
			vars = append(vars, p.name)
		}
	}
	c := compiler{d: d, vars: vars, roots: []string{"vars", "uri", "state", "ask", "calls", "client", "id", "params", "request"}}
	t.read = k.compileReading(n, path, c)
	return t
}

// piece is a part of a URI template: literal text or a variable.
type piece struct {
	lit, name string
	slashes   bool // the variable may contain slashes: {+name}
}

// parseTemplate parses the forms of RFC 6570 that contain one variable: {name} and
// {+name}.
func parseTemplate(text string) (pieces []piece, bad string) {
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(pieces, piece{lit: text}), ""
		}
		if open > 0 {
			pieces = append(pieces, piece{lit: text[:open]})
		}
		end := strings.IndexByte(text, '}')
		if end < open {
			return nil, "a { is not closed"
		}
		name, slashes := strings.CutPrefix(text[open+1:end], "+")
		if name == "" || strings.ContainsAny(name, "{+#./;?&*:,|!@= ") {
			return nil, "a variable is written {name} or {+name}"
		}
		pieces = append(pieces, piece{name: name, slashes: slashes})
		text = text[end+1:]
	}
	return pieces, ""
}

// match returns the variables of a URI that matches the template.
func (t *ResourceTemplate) match(uri string) (jsonv.Value, bool) {
	var vars []jsonv.Member
	if !matchPieces(t.pieces, uri, &vars) {
		return jsonv.Value{}, false
	}
	return jsonv.Object(vars...), true
}

// matchPieces gives each variable the shortest text that matches. The work is
// bounded: a variable ends at the first occurrence of the next literal, and longer
// values are not tried.
func matchPieces(pieces []piece, uri string, vars *[]jsonv.Member) bool {
	for i, p := range pieces {
		if p.name == "" {
			rest, ok := strings.CutPrefix(uri, p.lit)
			if !ok {
				return false
			}
			uri = rest
			continue
		}
		end := len(uri)
		if i+1 < len(pieces) && pieces[i+1].name == "" {
			next := pieces[i+1].lit
			end = strings.Index(uri, next)
			if i+2 == len(pieces) && strings.HasSuffix(uri, next) {
				end = len(uri) - len(next)
			}
		}
		if end <= 0 || !p.slashes && strings.ContainsAny(uri[:end], "/?#") {
			return false
		}
		value := uri[:end]
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		*vars = append(*vars, jsonv.Member{Key: p.name, Value: jsonv.String(value)})
		uri = uri[end:]
	}
	return uri == ""
}
