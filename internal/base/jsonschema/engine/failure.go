package engine

import (
	"fmt"
	"strconv"

	"mcptest/internal/base/jsonv"
)

// Place is the place of a schema or keyword.
type Place struct {
	URI     string // of the document, without a fragment
	Pointer string // RFC 6901
}

// with returns the place of a member or element.
func (p Place) with(token string) Place {
	return Place{URI: p.URI, Pointer: jsonv.AppendPointer(p.Pointer, token)}
}

// Failure is one keyword that a value does not fit.
type Failure struct {
	Keyword string   // "" where the schema is false
	Place   Place    // of the keyword, or of the schema that is false
	At      []string // tokens of the JSON Pointer to the value

	Rule  jsonv.Value // what the keyword requires: its value, in draft 4 the number of an exclusive bound
	Names []string    // properties: missing ones, or those that additionalProperties forbids
	Name  string      // the property that requires others, or whose name does not fit
	Count int         // how many parts the value has, items fit contains, or items are too many
	Limit int         // how many there may or must be
	Pair  [2]int      // equal items; the alternatives of oneOf that both fit
	Err   error       // why a text is no regular expression

	// Alternatives has what fails in each schema of an anyOf or oneOf that none fits. The
	// lists are empty if there are too many failures.
	Alternatives [][]Failure
	// Causes has what a name fails, unless there are too many failures.
	Causes []Failure
	// Endless marks a schema that refers to itself without end.
	Endless bool
}

// Error is a schema that cannot be compiled.
type Error struct {
	Place Place
	Msg   string
	// Failures has what the schema at Place fails in its metaschema; then Msg is empty.
	Failures []Failure
	Value    jsonv.Value // the schema that fails
}

func (e *Error) Error() string {
	if len(e.Failures) > 0 {
		return fmt.Sprintf("the schema at %s#%s does not fit its metaschema", e.Place.URI, e.Place.Pointer)
	}
	return e.Msg
}

func errorAt(p Place, format string, args ...any) *Error {
	return &Error{Place: p, Msg: fmt.Sprintf(format, args...)}
}

// step is one step from a value to a value in it.
type step struct {
	key   string
	index int // -1: the member key
}

func (s step) token() string {
	if s.index < 0 {
		return s.key
	}
	return strconv.Itoa(s.index)
}

// tokens returns the JSON Pointer tokens of a path.
func tokens(path []step) []string {
	out := make([]string, len(path))
	for i, s := range path {
		out[i] = s.token()
	}
	return out
}

// pointerOf returns the JSON Pointer of a path.
func pointerOf(path []step) string {
	ptr := ""
	for _, s := range path {
		ptr = jsonv.AppendPointer(ptr, s.token())
	}
	return ptr
}
