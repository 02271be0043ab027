package skill

import (
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Extension is the name under which a server declares skills.
const Extension = "io.modelcontextprotocol/skills"

// An Entry describes one skill, as skills/list and skills/get return it.
type Entry struct {
	Def         jsonv.Value // as the server sent it
	URI         string      // of SKILL.md; "" if there is none
	Frontmatter jsonv.Value
	Dynamic     bool // the server publishes no digests
	Files       []File
}

// A File is one entry of a skill's manifest.
type File struct {
	Def    jsonv.Value
	URI    string
	Digest string
	Size   int64 // -1 if it is missing or no length
}

// Read reads an entry as far as possible.
func Read(def jsonv.Value) Entry {
	e := Entry{
		Def:         def,
		URI:         def.Lookup("uri").Text(),
		Frontmatter: def.Lookup("frontmatter"),
	}
	resources := def.Lookup("resources")
	e.Dynamic = resources.Text() == "dynamic"
	for _, one := range resources.Elems() {
		f := File{Def: one, URI: one.Lookup("uri").Text(), Digest: one.Lookup("digest").Text(), Size: -1}
		if n, whole := one.Lookup("size").Int64(); whole && n >= 0 {
			f.Size = n
		}
		e.Files = append(e.Files, f)
	}
	return e
}

// Find returns the file of the manifest with a URI.
func (e Entry) Find(uri string) (File, bool) {
	id := Identity(uri)
	for _, f := range e.Files {
		if Identity(f.URI) == id {
			return f, true
		}
	}
	return File{}, false
}

// mostURI bounds a URI in messages.
const mostURI = 200

// Shown is a URI as messages show it.
func Shown(uri string) string { return display.Truncate(uri, mostURI) }

// Directory is the URI of a skill's directory, as the server writes it.
func (e Entry) Directory() string {
	return strings.TrimSuffix(e.URI, fileName)
}
