package handshake

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// A Reader is a widely used client whose reading of the handshake is known.
type Reader string

// The readers, in the versions that were asked.
const (
	ReaderTS1 Reader = "TypeScript SDK 1.32.2"
	ReaderTS2 Reader = "TypeScript SDK 2.4.0"
	ReaderGo  Reader = "Go SDK 1.8.0"
)

// A Fault is a member of the result of initialize or server/discover that the
// schema of the revision forbids, or that a client refuses.
type Fault struct {
	Path    string // "capabilities.tools"
	Got     string // "an array"
	Want    string // "an object"
	Refused []Reader
}

// String returns e.g. "capabilities.tools is an array, not an object; the Go SDK 1.8.0 does
// not connect".
func (f Fault) String() string {
	text := fmt.Sprintf("%s is %s, not %s", f.Path, f.Got, f.Want)
	if f.Got == absentMember {
		text = fmt.Sprintf("%s is missing, expected %s", f.Path, f.Want)
	}
	if len(f.Refused) == 0 {
		return text
	}
	var names []string
	for _, r := range f.Refused {
		names = append(names, string(r))
	}
	return text + "; clients that do not connect: " + strings.Join(names, ", ")
}

const absentMember = "missing"

// serverInfo is the member of _meta with what a server of a stateless revision says of itself.
const serverInfo = "io.modelcontextprotocol/serverInfo"

// member is what a handshake may have at one place. The zero value of readers stands for all.
type member struct {
	key      string
	kind     jsonv.Kind
	required bool
	values   []string // of an enumeration
	members  []member // of an object
	each     *member  // the entries of a list, or the values of an object

	readers []Reader // that look at it
	looseTS bool     // the TypeScript SDK 1 takes a list for the object
	whole   bool     // the Go SDK takes integers only
}

// Readers of a member.
var (
	typescript = []Reader{ReaderTS1, ReaderTS2}
	unread     = []Reader{}
)

func flag(key string) member   { return member{key: key, kind: jsonv.KindBool} }
func text(key string) member   { return member{key: key, kind: jsonv.KindString} }
func asNeeded(m member) member { m.required = true; return m }

func newObject(key string, members ...member) member {
	return member{key: key, kind: jsonv.KindObject, members: members}
}

// settings is an object without known members, of which TypeScript's first SDK only asks
// that it is no text, number or boolean.
func settings(key string) member { return member{key: key, kind: jsonv.KindObject, looseTS: true} }

// makeUntyped limits a member, and what is in it, to the clients in TypeScript.
func makeUntyped(m member) member {
	m.readers = typescript
	for i := range m.members {
		m.members[i] = makeUntyped(m.members[i])
	}
	return m
}

func newValues(key string, each member) member {
	return member{key: key, kind: jsonv.KindObject, each: &each}
}

func list(key string, each member) member {
	return member{key: key, kind: jsonv.KindArray, each: &each}
}

// newImplementation is serverInfo.
func newImplementation(key string) member {
	theme := text("theme")
	theme.values = []string{"light", "dark"}
	icon := newObject("", asNeeded(text("src")), text("mimeType"), list("sizes", text("")), theme)
	return newObject(key,
		asNeeded(text("name")),
		asNeeded(text("version")),
		text("title"),
		text("description"),
		text("websiteUrl"),
		list("icons", icon),
	)
}

func newCapabilities() member {
	call := newObject("tools", settings("call"))
	return asNeeded(newObject("capabilities",
		newValues("experimental", makeUntyped(settings(""))),
		settings("logging"), settings("completions"),
		newObject("prompts", flag("listChanged")),
		newObject("resources", flag("subscribe"), flag("listChanged")),
		newObject("tools", flag("listChanged")),
		newValues("extensions", makeUntyped(settings(""))),
		makeUntyped(newObject("tasks", settings("list"), settings("cancel"), newObject("requests", call))),
	))
}

// initializeResult is the result of initialize. Its protocolVersion is negotiated elsewhere.
func initializeResult() member {
	return newObject("", newCapabilities(), asNeeded(newImplementation("serverInfo")), text("instructions"),
		newObject("_meta"))
}

// discoverResult is the result of server/discover. Its supportedVersions are negotiated
// elsewhere, and its hints for caches have a rule of their own.
func discoverResult() member {
	onlyGo := func(m member) member {
		m.readers = []Reader{ReaderGo}
		return m
	}
	ttl := onlyGo(member{key: "ttlMs", kind: jsonv.KindNumber, whole: true})
	info := newImplementation(serverInfo)
	caps := newCapabilities()
	caps.members = slices.DeleteFunc(caps.members, func(m member) bool { return m.key == "tasks" })
	return newObject("",
		onlyGo(text("resultType")),
		ttl,
		onlyGo(text("cacheScope")),
		caps,
		text("instructions"),
		newObject("_meta", makeUnread(info)),
	)
}

// makeUnread is a member, with what is in it, that no client looks at.
func makeUnread(m member) member {
	m.readers = unread
	for i := range m.members {
		m.members[i] = makeUnread(m.members[i])
	}
	if m.each != nil {
		each := makeUnread(*m.each)
		m.each = &each
	}
	return m
}

// Faults returns what is wrong with the result of a handshake, in the order of the
// specification. The SDKs' readings were observed on mutated handshakes
// (TestHandshakesAsClientsReadThem asks them again).
func Faults(result jsonv.Value, stateless bool) []Fault {
	h := reading{all: []Reader{ReaderTS1, ReaderTS2, ReaderGo}}
	shape := initializeResult()
	if stateless {
		h.all, shape = []Reader{ReaderTS2, ReaderGo}, discoverResult()
	}
	h.read("", result, shape)
	return h.found
}

// reading collects the faults of one handshake.
type reading struct {
	all   []Reader // that speak the revision
	found []Fault
}

// read compares a value with what may be there.
func (h *reading) read(at string, v jsonv.Value, m member) {
	if v.IsAbsent() {
		if m.required {
			h.add(at, absentMember, m, removeReader(h.listReaders(m), ReaderGo))
		}
		return
	}
	if v.Kind() != m.kind {
		h.add(at, v.Kind().WithArticle(), m, h.findRefusing(v, m))
		return
	}
	if m.whole {
		if _, integer := v.Int64(); !integer {
			h.add(at, v.Short(40), m, h.listReaders(m))
		}
	}
	if len(m.values) > 0 && !slices.Contains(m.values, v.Text()) {
		h.add(at, v.Short(40), m, removeReader(h.listReaders(m), ReaderGo))
	}
	for _, inner := range m.members {
		h.read(jsonv.JoinKey(at, inner.key), v.Lookup(inner.key), inner)
	}
	if m.each == nil {
		return
	}
	for i, e := range v.Elems() {
		h.read(jsonv.JoinIndex(at, i), e, *m.each)
	}
	for key, e := range v.Members() {
		h.read(jsonv.JoinKey(at, key), e, *m.each)
	}
}

// findRefusing are the readers that refuse a value of another kind. To Go, null is an absent
// member.
func (h *reading) findRefusing(v jsonv.Value, m member) []Reader {
	readers := h.listReaders(m)
	if v.Kind() == jsonv.KindNull {
		readers = removeReader(readers, ReaderGo)
	}
	if m.looseTS && v.Kind() == jsonv.KindArray {
		readers = removeReader(readers, ReaderTS1)
	}
	return readers
}

// listReaders are the readers that speak the revision and look at a member.
func (h *reading) listReaders(m member) []Reader {
	if m.readers == nil {
		return h.all
	}
	var others []Reader
	for _, r := range m.readers {
		if slices.Contains(h.all, r) {
			others = append(others, r)
		}
	}
	return others
}

func removeReader(readers []Reader, one Reader) []Reader {
	return slices.DeleteFunc(slices.Clone(readers), func(r Reader) bool { return r == one })
}

// add adds a fault.
func (h *reading) add(at, got string, m member, refused []Reader) {
	want := m.kind.WithArticle()
	switch {
	case len(m.values) > 0:
		want = strings.Join(m.values, " or ")
	case m.whole:
		want = "an integer"
	}
	h.found = append(h.found, Fault{Path: at, Got: got, Want: want, Refused: refused})
}
