package compat

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/process/bundle"
)

// packed is a bundle of a test: what differs from the manifest of the examples, its files
// (those that begin with * may be run), and what its server lists; nil if it is not started.
type packed struct {
	manifest string // members, in place of those of the example
	files    string
	tools    []string
	prompts  []string
	stray    string
}

// open packs the bundle, and opens it.
func (p packed) open(t *testing.T) List {
	t.Helper()
	changes, err := jsonv.Parse([]byte("{" + p.manifest + "}"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, _ := jsonv.Parse([]byte(exampleManifest))
	for key, v := range changes.Members() {
		manifest = manifest.With(key, v)
		if v.Kind() == jsonv.KindNull {
			manifest = manifest.Without(key)
		}
	}
	file := filepath.Join(t.TempDir(), "x.mcpb")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(out)
	add := func(name, text string, mode fs.FileMode) {
		h := &zip.FileHeader{Name: name}
		h.SetMode(mode)
		entry, err := w.CreateHeader(h)
		if err == nil {
			_, err = entry.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("manifest.json", string(manifest.Append(nil)), 0o644)
	for _, name := range strings.Fields(p.files) {
		plain, runs := strings.CutPrefix(name, "*")
		mode := fs.FileMode(0o644)
		if runs {
			mode = 0o755
		}
		text := "x"
		if strings.HasSuffix(plain, "elf") {
			text = "\x7fELF"
		}
		add(plain, text, mode)
	}
	if w.Close() != nil || out.Close() != nil {
		t.Fatal("can't write the archive")
	}
	b, ds := bundle.Open(file, "x.mcpb")
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	l := List{Server: "server", Bundle: &Bundle{Bundle: b, Stray: p.stray}}
	for _, name := range p.tools {
		l.Tools = append(l.Tools, jsonv.ObjectOf("name", name))
	}
	for _, name := range p.prompts {
		l.Others = append(l.Others, Definition{Subject: "prompt " + name})
	}
	return l
}

// rulesBroken returns the rules about bundles that a bundle breaks, with their places.
func (p packed) rulesBroken(t *testing.T) (rules, places []string) {
	t.Helper()
	rep, err := Check(t.Context(), []List{p.open(t)}, builtinRules(t).Only(nil, []string{GroupBundles}), today)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Findings {
		rules = append(rules, strings.TrimPrefix(f.Rule, "mcpb-"))
		places = append(places, f.Pointer+": "+f.Message)
	}
	return rules, places
}

// server is the server of a manifest of a test.
func server(kind, entry, config string) string {
	return `"server": {"type": "` + kind + `", "entry_point": "` + entry + `", "mcp_config": {` + config + `}}`
}

// option is an option of a manifest of a test.
func option(name, more string) string {
	return `"user_config": {"` + name + `": {"title": "T", "description": "d", ` + more + `}}`
}

const (
	dir  = `${__dirname}`
	node = `"command": "node", "args": ["` + dir + `/server.js"`
)

// Each planted defect is named by its rule, and by no other one.
func TestPlantedInBundles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		packed
		rule, says string
	}{
		"future version":        {packed{manifest: `"manifest_version": "2.0"`}, "manifest-version", "2.0 is not known"},
		"no version":            {packed{manifest: `"manifest_version": null`}, "manifest-version", "missing"},
		"uv before 0.4":         {packed{manifest: server("uv", "server.js", `"command": "uv", "args": ["run", "`+dir+`/server.js"]`)}, "manifest-version", "uv needs manifest_version 0.4"},
		"no author":             {packed{manifest: `"author": null`}, "required-key", "author"},
		"option without title":  {packed{manifest: `"user_config": {"a": {"type": "string", "description": "d"}}`}, "required-key", "/user_config/a/title"},
		"misspelled key":        {packed{manifest: `"tool_generated": true`}, "unknown-key", "/tool_generated"},
		"key of the command":    {packed{manifest: server("node", "server.js", node+`], "cwd": "x"`)}, "unknown-key", "/server/mcp_config/cwd"},
		"for another system":    {packed{manifest: server("binary", "bin/elf", `"command": "`+dir+`/bin/elf"`) + `, "compatibility": {"platforms": ["linux", "darwin"]}`, files: "*bin/elf"}, "entry-point", "is a program for linux, on darwin"},
		"not built":             {packed{manifest: server("node", "server.js", `"command": "node", "args": ["`+dir+`/dist/index.js"]`)}, "entry-point", "/server/mcp_config/args/0"},
		"entry point elsewhere": {packed{manifest: server("node", "src/server.js", node+`]`)}, "entry-point", "/server/entry_point"},
		"no binary for Windows": {packed{manifest: server("binary", "bin/tool", `"command": "`+dir+`/bin/tool"`), files: "*bin/tool"}, "entry-point", "win32"},
		"override without file": {packed{manifest: server("node", "server.js", node+`], "platform_overrides": {"darwin": {"args": ["`+dir+`/mac.js"]}}`)}, "entry-point", "/server/mcp_config/platform_overrides/darwin/args/0"},
		"npx":                   {packed{manifest: server("node", "server.js", `"command": "npx", "args": ["-y", "@acme/server"]`)}, "outside-files", "npx downloads"},
		"a program":             {packed{manifest: server("binary", "server.js", `"command": "ripgrep-mcp"`)}, "outside-files", "must be installed"},
		"home of the author":    {packed{manifest: server("node", "server.js", node+`, "--db", "/Users/ada/db.sqlite"]`)}, "outside-files", "/Users/ada/"},
		"above the bundle":      {packed{manifest: server("node", "server.js", `"command": "node", "args": ["`+dir+`/../server.js"]`)}, "outside-files", "leaves the bundle"},
		"absolute interpreter":  {packed{manifest: server("python", "server.js", `"command": "/opt/homebrew/bin/python3", "args": ["`+dir+`/server.js"]`)}, "outside-files", "one machine"},
		"relative script":       {packed{manifest: server("node", "server.js", `"command": "node", "args": ["server.js"]`)}, "relative-path", "/server/mcp_config/args/0"},
		"unset in environment":  {packed{manifest: server("node", "server.js", node+`], "env": {"A": "${user_config.a}"}`) + "," + option("a", `"type": "string"`)}, "unset-option", "the variable A gets ${user_config.a} if"},
		"unset argument":        {packed{manifest: server("node", "server.js", node+`, "--a=${user_config.a}"]`) + "," + option("a", `"type": "boolean"`)}, "unset-option", "the argument 1 gets ${user_config.a} if"},
		"empty default":         {packed{manifest: server("node", "server.js", node+`], "env": {"A": "${user_config.a}"}`) + "," + option("a", `"type": "string", "default": ""`)}, "unset-option", "gets an empty text"},
		"empty argument":        {packed{manifest: server("node", "server.js", node+`, "${user_config.a}"]`) + "," + option("a", `"type": "string", "default": ""`)}, "unset-option", "gets ${user_config.a}: the default"},
		"list in environment":   {packed{manifest: server("node", "server.js", node+`], "env": {"A": "${user_config.a}"}`) + "," + option("a", `"type": "directory", "multiple": true, "required": true`)}, "list-in-text", "/server/mcp_config/env/A"},
		"list in an argument":   {packed{manifest: server("node", "server.js", node+`, "--in=${user_config.a}"]`) + "," + option("a", `"type": "directory", "multiple": true, "default": ["x"]`)}, "list-in-text", "${user_config.a}"},
		"undeclared option":     {packed{manifest: server("node", "server.js", node+`, "${user_config.b}"]`)}, "undeclared-option", `no "b"`},
		"unknown variable":      {packed{manifest: server("node", "server.js", node+`], "env": {"P": "${PATH}:x"}`)}, "unknown-variable", "${PATH}"},
		"name of a system":      {packed{manifest: server("node", "server.js", node+`], "platform_overrides": {"windows": {"command": "node"}}`)}, "platform-override", "/server/mcp_config/platform_overrides/windows"},
		"system not declared":   {packed{manifest: server("node", "server.js", node+`], "platform_overrides": {"win32": {"command": "node"}}`) + `, "compatibility": {"platforms": ["darwin"]}`}, "platform-override", "compatibility.platforms"},
		"not executable":        {packed{manifest: server("binary", "bin/tool", `"command": "`+dir+`/bin/tool"`) + `, "compatibility": {"platforms": ["linux"]}`, files: "bin/tool"}, "not-executable", "0644"},
		"default of other type": {packed{manifest: option("a", `"type": "boolean", "default": "true"`)}, "default-type", "/user_config/a/default"},
		"default out of range":  {packed{manifest: option("a", `"type": "number", "default": 11, "max": 10`)}, "default-type", "maximum"},
		"a secret":              {packed{manifest: option("api_token", `"type": "string"`)}, "sensitive-option", "api_token"},
		"tool not listed":       {packed{manifest: `"tools": [{"name": "a"}, {"name": "b"}]`, tools: []string{"a"}}, "tools", "the tool b"},
		"tool not declared":     {packed{manifest: `"tools": [{"name": "a"}]`, tools: []string{"a", "b"}}, "tools", "the server lists the tool b"},
		"prompt not listed":     {packed{manifest: `"prompts": [{"name": "p", "text": "t"}]`, tools: []string{"a"}}, "prompts", "the prompt p"},
		"output":                {packed{tools: []string{"a"}, stray: "started"}, "stray-output", "started"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.files += " server.js"
			rules, places := c.rulesBroken(t)
			if !slices.Equal(rules, []string{c.rule}) || !strings.Contains(places[0], c.says) {
				t.Errorf("got %q %q, want %s with %q", rules, places, c.rule, c.says)
			}
		})
	}
}

// Odd bundles that work break no rule.
func TestOddBundles(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]packed{
		"the old name of a folder": {manifest: server("node", "./server.js", `"command": "node", "args": ["`+dir+`${/}server.js"]`)},
		"options of node":          {manifest: server("node", "server.js", `"command": "node", "args": ["--enable-source-maps", "`+dir+`/server.js", "data/new", "--root=/", "/"]`)},
		"a module of Python":       {manifest: server("python", "pkg", `"command": "python3", "args": ["-m", "pkg"], "env": {"PYTHONPATH": "`+dir+`/lib"}`), files: "pkg/__main__.py"},
		"only .exe on Windows":     {manifest: server("binary", "bin/tool", `"command": "`+dir+`/bin/tool", "platform_overrides": {"win32": {"command": "`+dir+`/bin/tool"}}`), files: "*bin/tool bin/tool.exe"},
		"a program for one system": {manifest: server("binary", "tool.exe", `"command": "`+dir+`/tool.exe"`) + `, "compatibility": {"platforms": ["win32"]}`, files: "tool.exe"},
		"a required list":          {manifest: server("node", "server.js", node+`, "${user_config.dirs}"]`) + "," + option("dirs", `"type": "directory", "multiple": true, "required": true, "default": ["${HOME}/Desktop"]`)},
		"an unused option":         {manifest: option("theme", `"type": "string"`)},
		"a shell script":           {manifest: server("binary", "run.sh", `"command": "sh", "args": ["-c", "exec `+dir+`/run.sh ${PORT:-1}"]`), files: "*run.sh"},
		"tools of the options":     {manifest: `"tools": [{"name": "a"}], "tools_generated": true`, tools: []string{"b"}},
		"no tools declared":        {manifest: `"tools": []`, tools: []string{"a"}, prompts: []string{"p"}},
		"uv":                       {manifest: `"manifest_version": "0.4",` + server("uv", "server.js", `"command": "uv", "args": ["run", "--directory", "`+dir+`", "server.js"]`)},
		"keys of 0.3":              {manifest: `"icons": [{"src": "a.png", "size": "16x16"}], "_meta": {"com.example": {"x": 1}}, "privacy_policies": ["https://example.com"]`},
		"a default":                {manifest: server("node", "server.js", node+`], "env": {"L": "${user_config.level}", "P": "${DOCUMENTS}/x"}`) + "," + option("level", `"type": "number", "default": 0`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.files += " server.js"
			if rules, places := p.rulesBroken(t); len(rules) > 0 {
				t.Errorf("%q %q", rules, places)
			}
		})
	}
}

// A list without a bundle breaks no rule about bundles, and what a user sets is set.
func TestBundlesOfOtherServers(t *testing.T) {
	t.Parallel()
	rules := builtinRules(t).Only(nil, []string{GroupBundles})
	l := packed{manifest: server("node", "server.js", node+`, "${user_config.a}"]`) + "," + option("a", `"type": "string"`), files: "server.js"}.open(t)
	for given, want := range map[bool]int{false: 1, true: 0} {
		l.Bundle.Given = map[string]bool{"a": given}
		rep, err := Check(t.Context(), []List{l, {Server: "other", Tools: []jsonv.Value{jsonv.Object()}}}, rules, today)
		if err != nil || len(rep.Findings) != want {
			t.Errorf("given %v: %v %v", given, rep.Findings, err)
		}
	}
}
