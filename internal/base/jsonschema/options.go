package jsonschema

import "fmt"

// The limits on a schema. MCP 2025-11-25 and later require clients to bound the depth
// of a schema, the number of its subschemas and the time of validation.
const (
	MaxDepth = 100    // nested arrays and objects
	MaxNodes = 2000   // arrays, objects and booleans, as each may be a subschema
	maxSize  = 50_000 // values of every kind, enough for enums of a few thousand strings
	maxLoads = 100    // documents loaded through Options.Load
)

// Options configures the compilation of a schema; the zero value is right for schemas
// that come from a server.
type Options struct {
	// AssertFormat makes "format" an assertion in drafts in which it is an annotation
	// (2019-09 and later).
	AssertFormat bool
	// IgnoreFormat makes "format" an annotation in earlier drafts too, in which a
	// validator may ignore it; "regex" remains an assertion there.
	IgnoreFormat bool
	// Strict refuses unknown keywords, other than x-…, and unknown formats, which
	// JSON Schema ignores. It is meant for schemas written by this project.
	Strict bool
	// NoClock lets a match of a pattern take any time, for callers whose verdict must not
	// depend on it, and who bound the length of values.
	NoClock bool
	// DefaultDraft is the draft of schemas without $schema: "2020-12" (also
	// meant by ""), "2019-09", "7", "6" or "4".
	DefaultDraft string
	// BaseURI is the base of relative references, before they are passed to Load,
	// when the schema has no $id.
	BaseURI string
	// Nodes is the limit of subschemas and lists; 0 means MaxNodes. It is for
	// schemas that this project publishes.
	Nodes int
	// Load fetches the documents outside the schema that references point to. If it
	// is nil, every such reference is refused, as MCP requires for network
	// references. The metaschemas of json-schema.org are built in and never loaded.
	Load func(uri string) ([]byte, error)
}

// Error describes a mistake in a schema and its place.
type Error struct {
	Pointer string   // RFC 6901, to the invalid value in the schema; preceded by its URI, in another document
	Msg     string   // want one of "array", "boolean", …, got "strin"
	Rest    []*Error // further faults found in the same pass
	Word    string   // an unknown word
	Known   []string // the known words in its place
	Limit   bool     // the schema exceeds the limits of this package, and may be valid
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return "bad JSON Schema: " + e.Msg
	}
	return fmt.Sprintf("bad JSON Schema at %s: %s", e.Pointer, e.Msg)
}

// Violation is one reason why a value does not match a schema.
type Violation struct {
	InstancePath  string // items[0].id; "" is the whole value
	Keyword       string // the keyword that failed: "type", "required"; "" for a schema that is false
	SchemaPointer string // to the keyword in the schema; preceded by its URI, in another document
	Msg           string // want type string, got number 3
}
