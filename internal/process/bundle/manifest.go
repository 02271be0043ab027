package bundle

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// versions are the versions of manifests that are known.
var versions = []string{"0.1", "0.2", "0.3", "0.4"}

// A Manifest is what a bundle says about itself.
type Manifest struct {
	// ManifestVersion is the version of the format.
	ManifestVersion string `yaml:"manifest_version"`
	// OldVersion is what the format's version was called before.
	OldVersion       string             `yaml:"dxt_version"`
	Name             string             `yaml:"name"`
	Version          string             `yaml:"version"`
	Server           Server             `yaml:"server,required"`
	Tools            []Named            `yaml:"tools"`
	ToolsGenerated   bool               `yaml:"tools_generated"`
	Prompts          []Named            `yaml:"prompts"`
	PromptsGenerated bool               `yaml:"prompts_generated"`
	Options          source.Map[Option] `yaml:"user_config"`
	Compatibility    Compatibility      `yaml:"compatibility"`

	node    *source.Node // everything, with positions
	unknown []place      // keys that no version has
}

// Server says how the server is started.
type Server struct {
	Type   string  `yaml:"type,required" enum:"node|python|binary|uv"`
	Entry  string  `yaml:"entry_point,required"`
	Config Command `yaml:"mcp_config,required"`
}

// Command is the command of a server, and what differs on some systems.
type Command struct {
	Command   string                `yaml:"command,required"`
	Args      []string              `yaml:"args"`
	Env       source.Map[string]    `yaml:"env"`
	Overrides source.Map[*Override] `yaml:"platform_overrides"`
}

// Override replaces parts of the command on one system.
type Override struct {
	Command string              `yaml:"command"`
	Args    *[]string           `yaml:"args"`
	Env     *source.Map[string] `yaml:"env"`
}

// Named is a tool or a prompt.
type Named struct {
	Name string `yaml:"name,required"`
}

// Compatibility says where the server runs.
type Compatibility struct {
	Platforms []string `yaml:"platforms"`
}

// Option is one option that the user sets.
type Option struct {
	Type      string       `yaml:"type,required" enum:"string|number|boolean|directory|file"`
	Required  bool         `yaml:"required"`
	Default   *source.Node `yaml:"default"`
	Multiple  bool         `yaml:"multiple"`
	Sensitive bool         `yaml:"sensitive"`
	Min       *float64     `yaml:"min"`
	Max       *float64     `yaml:"max"`
}

// place is a value of the manifest.
type place struct {
	pointer string
	pos     source.Pos
	text    string
}

// readManifest reads the text of a manifest; nil if it is no object.
func readManifest(f *source.File) (*Manifest, source.Diagnostics) {
	if ds := checkText(f); ds != nil {
		return nil, ds
	}
	at := positions{f}.skip(0, " \t\r\n")
	root := positions{f}.readNode(at, bytes.TrimRight(f.Data[at:], " \t\r\n"))
	if root.Kind != source.KindMap {
		d := source.Errorf(root.Pos, "", "the manifest must be an object, got %s", root.Describe())
		return nil, source.Diagnostics{d}
	}
	m := &Manifest{node: root}
	var d source.Decoder
	d.Decode(m.dropUnknown(root, "", reflect.TypeFor[Manifest]()), "", m)
	m.checkStart(&d)
	ds := d.Diagnostics()
	ds.Sort()
	return m, ds
}

// checkText reports what is no JSON.
func checkText(f *source.File) source.Diagnostics {
	report := func(pos source.Pos, hint, format string, args ...any) source.Diagnostics {
		d := source.Errorf(pos, "", format, args...)
		d.Hint = hint
		return source.Diagnostics{d}
	}
	if bytes.HasPrefix(f.Data, []byte("\xef\xbb\xbf")) {
		return report(source.Pos{File: f, Line: 1, Col: 1}, "save it as UTF-8 without a byte order mark",
			"the manifest begins with a byte order mark, which JSON parsers refuse")
	}
	if d, bad := source.CheckEncoding(f); bad {
		return source.Diagnostics{d}
	}
	syntax, isSyntax := errors.AsType[*jsonv.SyntaxError](jsonv.Valid(f.Data))
	if !isSyntax {
		return nil
	}
	hint := ""
	if syntax.Offset < len(f.Data) && strings.IndexByte("/#,}]", f.Data[syntax.Offset]) >= 0 {
		hint = "comments and commas after the last member are not JSON"
	}
	return report(f.At(syntax.Offset), hint, "not JSON: %s", syntax.Msg)
}

// checkStart reports what no system can start.
func (m *Manifest) checkStart(d *source.Decoder) {
	empty := func(keys ...string) {
		if n := m.find(keys...); n != nil && n.Kind == source.KindString && strings.TrimSpace(n.Text) == "" {
			d.Errorf(n, strings.Join(keys, "."), "the text is empty")
		}
	}
	empty("server", "entry_point")
	empty("server", "mcp_config", "command")
	config := m.find("server", "mcp_config")
	commands := map[string]*source.Node{"server.mcp_config": config}
	if overrides := config.Get("platform_overrides"); overrides != nil {
		for _, f := range overrides.Fields {
			commands[source.PathKey("server.mcp_config.platform_overrides", f.Key.Text)] = f.Value
		}
	}
	for path, n := range commands {
		checkWords(d, n, path)
	}
}

// checkWords reports characters and names that no process can get.
func checkWords(d *source.Decoder, command *source.Node, path string) {
	text := func(n *source.Node, path string) {
		if n != nil && strings.Contains(n.Text, "\x00") {
			d.Errorf(n, path, "the text has a NUL byte, which no process can get")
		}
	}
	text(command.Get("command"), path+".command")
	if args := command.Get("args"); args != nil {
		for i, item := range args.Items {
			text(item, source.PathIndex(path+".args", i))
		}
	}
	env := command.Get("env")
	if env == nil {
		return
	}
	for _, f := range env.Fields {
		at := source.PathKey(path+".env", f.Key.Text)
		if f.Key.Text == "" || strings.ContainsAny(f.Key.Text, "=\x00") {
			d.Errorf(f.Key, at, "%q can't be the name of a variable", f.Key.Text)
		}
		text(f.Value, at)
	}
}

// positions makes nodes of JSON, each with its place in the file. The text is valid.
type positions struct{ f *source.File }

// readNode returns the value that begins at an offset; raw is its text, or begins with it.
func (p positions) readNode(at int, raw []byte) *source.Node {
	n := &source.Node{Pos: p.f.At(at)}
	switch raw[0] {
	case '{':
		n.Kind = source.KindMap
		p.readMembers(n, at+1, raw)
	case '[':
		n.Kind = source.KindList
		items, _ := jsonv.Elements(raw)
		end := at + 1
		for _, item := range items {
			start := p.skip(end, " \t\r\n,")
			n.Items = append(n.Items, p.readNode(start, item))
			end = start + len(item)
		}
	default:
		v, _ := jsonv.Parse(raw)
		n = source.FromJSON(v, n.Pos)
		n.Quoted = raw[0] == '"'
	}
	return n
}

// readMembers adds the members of an object; of several with one name the last one counts, as
// for other readers.
func (p positions) readMembers(n *source.Node, end int, raw []byte) {
	_ = jsonv.VisitMembers(raw, func(key string, val []byte) error {
		at := p.skip(end, " \t\r\n,")
		start := p.skip(p.endOfText(at), " \t\r\n:")
		end = start + len(val)
		f := source.Field{
			Key:   &source.Node{Kind: source.KindString, Text: key, Quoted: true, Pos: p.f.At(at)},
			Value: p.readNode(start, val),
		}
		same := func(other source.Field) bool { return other.Key.Text == key }
		n.Fields = append(slices.DeleteFunc(n.Fields, same), f)
		return nil
	})
}

// skip returns the next offset whose byte is not among chars.
func (p positions) skip(at int, chars string) int {
	for at < len(p.f.Data) && strings.IndexByte(chars, p.f.Data[at]) >= 0 {
		at++
	}
	return at
}

// endOfText returns the offset after the text in quotes that begins at an offset.
func (p positions) endOfText(at int) int {
	for at++; at < len(p.f.Data) && p.f.Data[at] != '"'; at++ {
		if p.f.Data[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// described are keys of manifests that say nothing about the start of the server.
var described = []string{
	"$schema", "display_name", "description", "long_description", "author", "repository", "homepage",
	"documentation", "support", "icon", "icons", "screenshots", "localization", "keywords", "license",
	"privacy_policies", "_meta", "title", "arguments", "text", "claude_desktop", "runtimes",
}

// dropUnknown returns a map without the keys that the type does not have, and notes those that no
// manifest has: they are no reason not to start a server.
func (m *Manifest) dropUnknown(n *source.Node, pointer string, t reflect.Type) *source.Node {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n == nil:
		return nil
	case n.Kind == source.KindList && t.Kind() == reflect.Slice:
		out := *n
		out.Items = nil
		for i, item := range n.Items {
			out.Items = append(out.Items, m.dropUnknown(item, jsonv.AppendPointer(pointer, strconv.Itoa(i)), t.Elem()))
		}
		return &out
	case n.Kind != source.KindMap || t.Kind() != reflect.Struct:
		return n
	}
	out := *n
	out.Fields = nil
	fields := source.Fields(t)
	entries, isMap := reflect.Zero(t).Interface().(interface{ ElemType() reflect.Type })
	for _, f := range n.Fields {
		at := jsonv.AppendPointer(pointer, f.Key.Text)
		i := slices.IndexFunc(fields, func(field source.FieldInfo) bool { return field.Name == f.Key.Text })
		switch {
		case isMap:
			value := m.dropUnknown(f.Value, at, entries.ElemType())
			out.Fields = append(out.Fields, source.Field{Key: f.Key, Value: value})
		case i >= 0:
			out.Fields = append(out.Fields, source.Field{Key: f.Key, Value: m.dropUnknown(f.Value, at, fields[i].Type)})
		case !slices.Contains(described, f.Key.Text) && t != reflect.TypeFor[Compatibility]():
			m.unknown = append(m.unknown, place{at, f.Key.Pos, f.Key.Text})
		}
	}
	return &out
}

// find returns the node at a path of keys, nil if there is none.
func (m *Manifest) find(keys ...string) *source.Node {
	n := m.node
	for _, key := range keys {
		n = n.Get(key)
	}
	return n
}

// FormatVersion returns the version of the format, by its new or its old name.
func (m *Manifest) FormatVersion() string {
	if m.ManifestVersion != "" {
		return m.ManifestVersion
	}
	return m.OldVersion
}

// checkVersion reports a version that is not known.
func (m *Manifest) checkVersion() *source.Diagnostic {
	d := source.Diagnostic{Pos: m.node.Pos, Path: "manifest_version"}
	n := m.find("manifest_version")
	if n == nil {
		n = m.find("dxt_version")
	}
	switch {
	case n == nil:
		d.Msg = `missing key "manifest_version"`
		d.Hint = `write "manifest_version": "0.3"`
	case slices.Contains(versions, n.Text):
		return nil
	default:
		d.Pos = n.Pos
		d.Msg = "manifest_version " + n.Text + " is not known; known are 0.1 to 0.4"
		d.Hint = source.DidYouMean(n.Text, versions)
	}
	return &d
}
