package manifest

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/protocol"
)

// Manifest describes a server. It is immutable; [Load] and [Preset] return one.
type Manifest struct {
	Name, Title, Version string
	Instructions         string
	Fault                Fault

	Banner       *RawBytes
	Protocols    []string // revisions, newest first
	Capabilities jsonv.Value
	PageSize     int
	State        jsonv.Value
	Tools        []*Tool
	Resources    []*Resource
	Templates    []*ResourceTemplate
	Prompts      []*Prompt
	Methods      map[string]*Response
}

// Load reads a manifest, or a captured response to tools/list, from YAML or
// JSON. The manifest is nil when there are errors; all of them are reported.
func Load(f *source.File) (*Manifest, source.Diagnostics) {
	n, ds := source.Parse(f)
	if ds.HasErrors() || n == nil {
		return nil, ds
	}
	var d source.Decoder
	m := decodeDocument(n, &d)
	ds.Add(d.Diagnostics()...)
	ds.Sort()
	if ds.HasErrors() {
		return nil, ds
	}
	return m, ds
}

// documentKeys are the keys of the file.
type documentKeys struct {
	// The server.
	MockServer *source.Node `yaml:"mock_server" keys:"server"`
}

func decodeDocument(n *source.Node, d *source.Decoder) *Manifest {
	if refuseSuite(n, d) {
		return nil
	}
	n = spellInSnake(n, "", d)
	if tools := readCapturedTools(n); tools != nil {
		return newCaptured(tools, d)
	}
	var doc documentKeys
	if n.Kind == source.KindMap && n.Get("mock_server") == nil {
		diag := d.Errorf(n, "", "missing key %q", "mock_server")
		diag.Code = "missing-key"
		diag.Hint = "a manifest is one map mock_server: {name, tools, resources, prompts}; a captured tools/list response is used unchanged"
		return nil
	}
	d.Decode(n, "", &doc)
	if doc.MockServer == nil {
		return nil
	}
	m := &Manifest{}
	m.decode(doc.MockServer, "mock_server", d)
	return m
}

// manifestKeys are the keys of mock_server.
type manifestKeys struct {
	// The server's name.
	Name string `yaml:"name,required"`
	// Its name for people.
	Title string `yaml:"title"`
	// Its version; 1.0.0 when left out.
	Version string `yaml:"version"`
	// Instructions for the client's model.
	Instructions string `yaml:"instructions"`
	// Protocol revisions the server speaks; all when left out.
	Protocols *source.Node `yaml:"protocols"`
	// Capabilities in place of those that follow from the rest of the manifest.
	Capabilities *source.Node `yaml:"capabilities"`
	// Entries on one page of a list; everything on one page when left out.
	PageSize *int `yaml:"page_size"`
	// The state at the start.
	State *source.Node `yaml:"state"`
	// A fault to serve with, as --fault has it: hang, wedged, slow:<ms> or recover-after:<n>.
	Fault *source.Node `yaml:"fault"`
	// Bytes written before anything else.
	Banner *source.Node `yaml:"banner" keys:"bytes"`
	// Tools.
	Tools []*source.Node `yaml:"tools" keys:"tool" list:"true"`
	// Resources.
	Resources []*source.Node `yaml:"resources" keys:"resource" list:"true"`
	// Resource templates.
	ResourceTemplates []*source.Node `yaml:"resource_templates" keys:"resource-template" list:"true"`
	// Prompts.
	Prompts []*source.Node `yaml:"prompts" keys:"prompt" list:"true"`
	// Responses to other methods, or in place of the server's own.
	Methods source.Map[*source.Node] `yaml:"methods"`
}

func (m *Manifest) decode(n *source.Node, path string, d *source.Decoder) {
	n = spellInSnake(n, path, d)
	var k manifestKeys
	d.Decode(n, path, &k)
	m.Name, m.Title, m.Version, m.Instructions = k.Name, k.Title, k.Version, k.Instructions
	m.Version = cmp.Or(m.Version, "1.0.0")
	m.Protocols = readProtocols(k.Protocols, path+".protocols", d)
	m.Capabilities = readObject(k.Capabilities, path+".capabilities", d)
	m.State = readObject(k.State, path+".state", d)
	if k.PageSize != nil {
		if m.PageSize = *k.PageSize; m.PageSize < 1 {
			d.Errorf(n.Get("page_size"), path+".page_size", "must be at least 1, got %d", m.PageSize)
		}
	}
	if k.Fault != nil {
		m.Fault = decodeFault(k.Fault, path+".fault", d)
	}
	m.Banner = compileOptional(k.Banner, path+".banner", compiler{d: d}.compileRawBytes)
	m.decodeLists(k, path, d)
	for _, e := range k.Methods.Entries {
		if m.Methods == nil {
			m.Methods = map[string]*Response{}
		}
		c := compiler{d: d, roots: []string{"params", "state", "ask", "calls", "client", "id", "request"}}
		m.Methods[e.Key] = c.compileResponse(e.Value, source.PathKey(path+".methods", e.Key), 0)
	}
}

func (m *Manifest) decodeLists(k manifestKeys, path string, d *source.Decoder) {
	seen := names{d: d, at: map[string]source.Pos{}}
	m.Tools = decodeList(k.Tools, path+".tools", seen, "tool", "name", decodeTool, func(t *Tool) string { return t.Name })
	checkMoments(m.Tools, k.Tools, path+".tools", d)
	m.Resources = decodeList(k.Resources, path+".resources", seen, "resource", "uri", decodeResource, func(r *Resource) string { return r.uri })
	m.Templates = decodeList(k.ResourceTemplates, path+".resource_templates", seen, "resource template", "uri_template",
		decodeTemplate, func(t *ResourceTemplate) string { return t.URI })
	m.Prompts = decodeList(k.Prompts, path+".prompts", seen, "prompt", "name", decodePrompt, func(p *Prompt) string { return p.Name })
}

// decodeList decodes the entries of a list; what and key are for messages about
// entries that have the same name.
func decodeList[T any](
	nodes []*source.Node, path string, seen names, what, key string,
	decode func(*source.Node, string, *source.Decoder) T, name func(T) string,
) (out []T) {
	for i, n := range nodes {
		at := source.PathIndex(path, i)
		entry := decode(n, at, seen.d)
		seen.add(n, at, what, key, name(entry))
		out = append(out, entry)
	}
	return out
}

// names detects entries that have the same name.
type names struct {
	d  *source.Decoder
	at map[string]source.Pos
}

func (s names) add(n *source.Node, path, what, key, name string) {
	if name == "" {
		if v := n.Get(key); v != nil && v.Kind == source.KindString {
			s.d.Errorf(v, source.PathKey(path, key), "%s is empty", key)
		}
		return
	}
	first, taken := s.at[what+" "+name]
	if !taken {
		s.at[what+" "+name] = n.Pos
		return
	}
	d := s.d.Errorf(n, path, "a second %s %q", what, name)
	d.Related = append(d.Related, source.Related{Pos: first, Msg: "the first one"})
}

// readObject converts a node that must be a map; it returns an absent value when there is
// none.
func readObject(n *source.Node, path string, d *source.Decoder) jsonv.Value {
	switch {
	case n == nil:
		return jsonv.Value{}
	case n.Kind != source.KindMap:
		d.ReportWrongType(n, path, "a map")
		return jsonv.Value{}
	}
	return n.JSON()
}

func readProtocols(n *source.Node, path string, d *source.Decoder) []string {
	known := protocol.Versions()
	if n == nil {
		return known
	}
	var want []string
	d.Decode(n, path, &want)
	// Newest first, regardless of the order in the manifest.
	var out []string
	for _, r := range known {
		if slices.Contains(want, r) {
			out = append(out, r)
		}
	}
	for i, w := range want {
		if !slices.Contains(known, w) && i < len(n.Items) {
			diag := d.Errorf(n.Items[i], source.PathIndex(path, i), "unknown protocol version %q", w)
			diag.Hint = "known: " + strings.Join(known, ", ")
		}
	}
	if len(out) == 0 {
		return known
	}
	return out
}

// SessionProtocols returns the revisions of the manifest that have sessions.
func (m *Manifest) SessionProtocols() []string {
	var own []string
	for _, r := range m.Protocols {
		if slices.Contains(protocol.SessionVersions(), r) {
			own = append(own, r)
		}
	}
	return own
}

// Find returns the reading for a URI: that of a resource, or that of a template with
// its variables.
func (m *Manifest) Find(uri string) (Match, bool) {
	for _, r := range m.Resources {
		if r.uri == uri {
			return Match{Key: r, Read: r.read}, true
		}
	}
	for _, t := range m.Templates {
		if vars, ok := t.match(uri); ok {
			return Match{Key: t, Read: t.read, Vars: vars}, true
		}
	}
	return Match{}, false
}

// Match is the resource or template that a URI reads, with the variables of the URI.
type Match struct {
	Key  any
	Read Reading
	Vars jsonv.Value
}

// Tool returns the tool with that name, or nil.
func (m *Manifest) Tool(name string) *Tool {
	at := slices.IndexFunc(m.Tools, func(t *Tool) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return m.Tools[at]
}

// HasTasks reports whether a tool answers with a task.
func (m *Manifest) HasTasks() bool {
	return slices.ContainsFunc(m.Tools, func(t *Tool) bool { return t.Task != nil })
}

// Completes reports whether an argument of a prompt or template has completions.
func (m *Manifest) Completes() bool {
	return slices.ContainsFunc(m.Prompts, func(p *Prompt) bool { return len(p.Complete) > 0 }) ||
		slices.ContainsFunc(m.Templates, func(t *ResourceTemplate) bool { return len(t.Complete) > 0 })
}
