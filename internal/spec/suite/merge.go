package suite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/placeholder"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/interpolate"
)

// rootOnly are the keys that an imported file may not have.
var rootOnly = []string{"name", "default_server", "defaultTest", "run_options", "coverage", "upstreams", "models"}

// decode expands and decodes one file, except its tests.
func (l *loader) decode(d *loadedDoc) {
	fields := make([]source.Field, 0, len(d.root.Fields))
	blocks := EntryTypes()
	for _, f := range d.root.Fields {
		key := f.Key.Text
		switch {
		case blocks[Block(key)] != nil:
			d.blocks = append(d.blocks, f)
			if f.Value.Kind != source.KindList {
				break
			}
			// Tests are decoded later; here only the type of the list is checked.
			empty := *f.Value
			empty.Items = nil
			f.Value = &empty
		case key == "variables":
			// Already resolved.
		case key == "hooks":
			f.Value = l.expandHooks(d, f.Value)
		case key == "servers":
			f.Value = l.expandServers(d, f.Value)
		case key == "setup", key == "setup_per_test", key == "teardown_per_test", key == "teardown":
			f.Value = l.expandCommands(d, f.Value, key, "run")
		default:
			f.Value = d.scope.Expand(f.Value, key, interpolate.Bindings{}, l.dec)
		}
		fields = append(fields, f)
	}
	root := *d.root
	root.Fields = fields
	d.filled = &root
	d.doc.tests = root.Get("tests")
	l.dec.Decode(&root, "", &d.doc)

	if d != l.docs[0] {
		for _, f := range d.root.Fields {
			if slices.Contains(rootOnly, f.Key.Text) {
				l.dec.ErrorAt(f.Key.Pos, f.Key.Text, f.Key.Text+" belongs in the suite that is run, not in a file that it imports",
					"move it to "+l.docs[0].file.Name)
			}
		}
	}
}

// scriptValues warns about a placeholder in the script of a shell's -c, because its
// value is executed as code.
func scriptValues(dec *source.Decoder, argv *source.Node, path string) {
	var words []string
	for _, item := range listItems(argv) {
		words = append(words, item.Text)
	}
	for i, item := range listItems(argv) {
		if i != shellwords.ScriptAt(words) {
			continue
		}
		found := false
		interpolate.Scan(item, func(_ *source.Node, _ placeholder.Part) { found = true })
		if found {
			dec.Add(source.Diagnostic{
				Pos: item.Pos, Path: source.PathIndex(path, i), Severity: source.Warning, Code: "script-value",
				Msg: "a value is inserted into a shell script as text", Hint: "pass it with env: and write \"$NAME\" in the script",
			})
		}
	}
}

// expandServers interpolates the keys of servers, except a command written as a
// string, which is split into words first.
func (l *loader) expandServers(d *loadedDoc, n *source.Node) *source.Node {
	var servers func(n *source.Node, at string) *source.Node
	servers = func(n *source.Node, at string) *source.Node {
		return mapFields(n, func(f source.Field) *source.Node {
			path := source.PathKey(at, f.Key.Text)
			return mapFields(f.Value, func(sf source.Field) *source.Node {
				below := source.PathKey(path, sf.Key.Text)
				switch {
				case sf.Key.Text == "variants":
					return servers(sf.Value, below)
				case sf.Key.Text == "command":
					argv := &source.Node{Kind: source.KindList, Items: slices.Concat(listItems(sf.Value), listItems(f.Value.Get("args")))}
					if sf.Value.IsScalar() {
						argv.Items = slices.Insert(argv.Items, 0, sf.Value)
					}
					if len(argv.Items) > 1 {
						scriptValues(l.dec, argv, below)
					}
					if sf.Value.IsScalar() {
						return sf.Value
					}
				}
				return d.scope.Expand(sf.Value, below, interpolate.Bindings{}, l.dec)
			})
		})
	}
	return servers(n, "servers")
}

// expandHooks interpolates the keys of hooks, except commands.
func (l *loader) expandHooks(d *loadedDoc, n *source.Node) *source.Node {
	return mapFields(n, func(f source.Field) *source.Node {
		path := source.PathKey("hooks", f.Key.Text)
		if f.Key.Text == "timeout" {
			return d.scope.Expand(f.Value, path, interpolate.Bindings{}, l.dec)
		}
		return l.expandCommands(d, f.Value, path, "command")
	})
}

// expandCommands interpolates the keys of a map, or of each map in a list, except a
// command as text under the given key, which is split into words first.
func (l *loader) expandCommands(d *loadedDoc, n *source.Node, path, command string) *source.Node {
	if n.Kind == source.KindList {
		out := *n
		out.Items = slices.Clone(n.Items)
		for i, item := range out.Items {
			out.Items[i] = l.expandCommands(d, item, source.PathIndex(path, i), command)
		}
		return &out
	}
	return mapFields(n, func(f source.Field) *source.Node {
		below := source.PathKey(path, f.Key.Text)
		if f.Key.Text == command {
			if f.Value.IsScalar() {
				return f.Value
			}
			scriptValues(l.dec, f.Value, below)
		}
		return d.scope.Expand(f.Value, below, interpolate.Bindings{}, l.dec)
	})
}

// mapFields returns a map with each value replaced by fn. It returns other nodes
// unchanged.
func mapFields(n *source.Node, fn func(f source.Field) *source.Node) *source.Node {
	if n == nil || n.Kind != source.KindMap {
		return n
	}
	out := *n
	out.Fields = slices.Clone(n.Fields)
	for i, f := range out.Fields {
		out.Fields[i].Value = fn(f)
	}
	return &out
}

// merge combines the documents. Lists are appended, root first. Maps are merged by
// key; a duplicate key is an error that names both places.
func (l *loader) merge() {
	s, root := l.suite, &l.docs[0].doc
	s.Name = root.Name
	if s.Name == "" {
		base := filepath.Base(l.docs[0].file.Path)
		s.Name = strings.TrimSuffix(strings.TrimSuffix(base, filepath.Ext(base)), ".mcptest")
	}
	s.DefaultServer = root.DefaultServer
	if n := l.docs[0].root.Get("default_server"); n != nil {
		s.DefaultPos = n.Pos
	}
	s.DefaultTest, s.Options, s.Coverage, s.Upstreams = root.DefaultTest, root.RunOptions, root.Coverage, root.Upstreams
	s.Models = root.Models
	agent.CheckModels(s.Models, l.dec)
	if s.DefaultTest != nil {
		s.DefaultTest.node = l.docs[0].filled.Get("defaultTest")
	}
	s.Hooks.Pos = root.Hooks.Pos
	servers, env := map[string]source.Pos{}, map[string]source.Pos{}
	for _, d := range l.docs {
		l.loadServers(d, servers)
		for _, e := range d.doc.Env.Entries {
			path := source.PathKey("env", e.Key)
			if old, ok := env[e.Key]; ok {
				l.reportDeclaredTwice("environment variable", e.Key, path, e.Pos, old)
				continue
			}
			env[e.Key] = e.Pos
			dotenv.CheckName(l.dec, e.Pos, path, e.Key, string(e.Value))
			s.Env = append(s.Env, Var{Name: e.Key, Value: string(e.Value), Pos: e.Pos})
		}
		s.Hooks.BeforeAll = append(s.Hooks.BeforeAll, loadHooks(d, d.doc.Hooks.BeforeAll)...)
		s.Hooks.AfterAll = append(s.Hooks.AfterAll, loadHooks(d, d.doc.Hooks.AfterAll)...)
		s.Hooks.BeforeEach = append(s.Hooks.BeforeEach, loadHooks(d, d.doc.Hooks.BeforeEach)...)
		s.Hooks.AfterEach = append(s.Hooks.AfterEach, loadHooks(d, d.doc.Hooks.AfterEach)...)
		s.Setup = append(s.Setup, loadSteps(d, d.doc.Setup)...)
		s.SetupPerTest = append(s.SetupPerTest, loadSteps(d, d.doc.SetupPerTest)...)
		s.TeardownPerTest = append(s.TeardownPerTest, loadSteps(d, d.doc.TeardownPerTest)...)
		s.Teardown = append(s.Teardown, loadSteps(d, d.doc.Teardown)...)
		l.loadEntries(d)
	}
}

func (l *loader) loadServers(d *loadedDoc, seen map[string]source.Pos) {
	written := d.filled.Get("servers")
	for _, e := range d.doc.Servers.Entries {
		path := source.PathKey("servers", e.Key)
		if old, ok := seen[e.Key]; ok {
			l.reportDeclaredTwice("server", e.Key, path, e.Pos, old)
			continue
		}
		seen[e.Key] = e.Pos
		sv := e.Value
		if sv == nil {
			l.dec.ReportWrongType(written.Get(e.Key), path, "a server: a map with command: or url:")
			l.suite.Partial = true
			continue
		}
		if strings.TrimSpace(e.Key) == "" {
			l.dec.ErrorAt(e.Pos, path, "a server needs a name", "")
		}
		if strings.Contains(e.Key, "@") {
			l.dec.ErrorAt(e.Pos, path, `the name of a server can't contain "@", which is reserved for variants`, "declare a variant: servers: {name: {variants: {…}}}")
		}
		sv.Name = e.Key
		sv.Pos = e.Pos
		sv.File = d.file
		sv.Scope = d.scope
		sv.node = written.Get(e.Key)
		sv.Whole = sv.Has("args")
		if sv.Command != nil || sv.Has("url") || len(sv.Variants.Entries) == 0 {
			l.suite.Servers = append(l.suite.Servers, sv)
		}
		l.addVariants(sv)
	}
}

// addVariants adds the variants of a server to the suite as separate servers.
func (l *loader) addVariants(base *Server) {
	for _, e := range base.Variants.Entries {
		path := source.PathKey(base.Path()+".variants", e.Key)
		switch {
		case e.Value == nil:
			l.dec.ReportWrongType(base.node.Get("variants").Get(e.Key), path, "a map of differences").Hint = "write {} for a variant without differences"
			l.suite.Partial = true
			continue
		case strings.TrimSpace(e.Key) == "":
			l.dec.ErrorAt(e.Pos, path, "a variant needs a name", "")
		case strings.ContainsAny(e.Key, "@*") && !slices.Contains(l.suite.Unknown, base.Name):
			l.dec.ErrorAt(e.Pos, path, `the name of a variant can't contain "@" or "*"`, "")
		}
		sv := base.makeVariant(e)
		l.suite.Servers = append(l.suite.Servers, sv)
		if sv.URL == "" && sv.Has("query") {
			l.dec.ErrorAt(sv.KeyPos("query"), path+".query", "query: requires a server with url:",
				"a program has no address: it takes its settings from args: or env:")
		}
		for _, q := range e.Value.Query.Entries {
			l.addCredential(q.Key, string(q.Value))
		}
	}
}

// loadHooks adds the scope and the time limit of a file to its hooks.
func loadHooks(d *loadedDoc, list HookList) HookList {
	for _, h := range list {
		h.Scope = d.scope
		limit := d.doc.Hooks.Timeout
		if h.Timeout == nil && limit != nil && *limit > 0 {
			h.Timeout = limit
		}
	}
	return list
}

func loadSteps(d *loadedDoc, list []*Step) []*Step {
	out := list[:0:0]
	for _, st := range list {
		if st != nil {
			st.Scope = d.scope
			out = append(out, st)
		}
	}
	return out
}

// loadEntries collects a file's tests, in the order of its blocks.
func (l *loader) loadEntries(d *loadedDoc) {
	for _, f := range d.blocks {
		for i, n := range listItems(f.Value) {
			l.suite.Entries = append(l.suite.Entries, Entry{
				Block: Block(f.Key.Text), Node: n, Path: fmt.Sprintf("%s[%d]", f.Key.Text, i), Scope: d.scope,
			})
			l.addSecretHeaders(n.Get("headers"))
			l.addSecretHeaders(n.Get("request").Get("headers"))
		}
	}
}

// addSecretHeaders records the values of a test's headers that come from the environment.
func (l *loader) addSecretHeaders(headers *source.Node) {
	if headers == nil {
		return
	}
	for _, f := range headers.Fields {
		if name := f.Value.Get("env"); name != nil {
			v, _ := l.env.Get(name.Text)
			l.addSecret(v, name.Pos, "headers")
		}
	}
}
