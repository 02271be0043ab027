package compat

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/process/bundle"
)

// readExample returns the lists of an example: a tool, a list of tools, or an object with
// tools and results, locked (the tools of the lock file) or others (the tools of a
// second server).
func readExample(v jsonv.Value) []List {
	if v.Kind() == jsonv.KindString { // JSON that YAML cannot express
		v, _ = jsonv.Parse([]byte(v.Text()))
	}
	l := List{Server: "server", Installed: "server"}
	if parts := v.Lookup("bundle"); !parts.IsAbsent() {
		l.Bundle = readExampleBundle(parts, v)
		l.Tools, l.Others = v.Lookup("tools").List(), readExamplePrompts(v)
		return []List{l}
	}
	if v.Kind() == jsonv.KindArray || v.Lookup("tools").Kind() != jsonv.KindArray {
		l.Tools = listElements(v)
		return []List{l}
	}
	l.Tools, l.Pages, l.Handshake = listElements(v.Lookup("tools")), []jsonv.Value{v}, v.Lookup("handshake")
	l.Announces = v.Lookup("announces").Texts()
	for _, r := range v.Lookup("results").Elems() {
		l.Results = append(l.Results, Result{Tool: r.Lookup("tool").Text(), Value: r.Lookup("result")})
	}
	if locked := v.Lookup("locked"); !locked.IsAbsent() {
		l.Masked, l.Locked = l.Tools, listElements(locked)
	}
	return []List{l, {Server: "other", Tools: listElements(v.Lookup("others"))}}
}

// exampleManifest is the manifest of examples, which change some of its keys.
const exampleManifest = `{"manifest_version": "0.3", "name": "n", "version": "1.0.0", "description": "d", "author": {"name": "a"},
 "server": {"type": "node", "entry_point": "server.js", "mcp_config": {"command": "node", "args": ["${__dirname}/server.js"]}}}`

// readExampleBundle returns the bundle of an example: bundle has keys that differ in the manifest
// (null: without it), files and stray are what else there is.
func readExampleBundle(keys, example jsonv.Value) *Bundle {
	manifest, _ := jsonv.Parse([]byte(exampleManifest))
	for key, v := range keys.Members() {
		if v.Kind() == jsonv.KindNull {
			manifest = manifest.Without(key)
		} else {
			manifest = manifest.With(key, v)
		}
	}
	files := append([]string{"server.js"}, example.Lookup("files").Texts()...)
	b, _ := bundle.FromParts(manifest.Append(nil), files)
	if b == nil {
		return nil
	}
	return &Bundle{Bundle: b, Stray: example.Lookup("stray").Text()}
}

// readExamplePrompts returns the prompts of an example.
func readExamplePrompts(example jsonv.Value) (out []Definition) {
	for _, name := range example.Lookup("prompts").Texts() {
		out = append(out, Definition{Subject: "prompt " + name})
	}
	return out
}

// listElements returns the elements of a list, or the value itself.
func listElements(v jsonv.Value) []jsonv.Value {
	if v.Kind() != jsonv.KindArray {
		return []jsonv.Value{v}
	}
	return v.List()
}
