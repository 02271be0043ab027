package demo

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

//go:embed library.json
var libraryFile []byte

func readLibrary() (l library) {
	if err := json.Unmarshal(libraryFile, &l); err != nil {
		panic(err) // the file is part of the program
	}
	return l
}

// library is the content of library.json: what the adapter is about.
type library struct {
	Defects    []Defect                `json:"defects"`
	Features   []Feature               `json:"features"`
	Resources  []*resource             `json:"resources"`
	Collection json.RawMessage         `json:"collection"` // one that a widened adapter has, with NOUN in place of its name
	Nouns      []string                `json:"nouns"`
	Operations map[string][]*operation `json:"operations"`
	Assigned   []param                 `json:"assigned"` // the fields that the adapter assigns
	Cursors    []param                 `json:"cursors"`  // the parameters of paging by cursors (PG 2.1)
	Controls   []param                 `json:"controls"` // the parameters that all lists have
	Types      []typeInfo              `json:"types"`
}

// param describes a parameter, or a field of a resource, as the introspection does.
type param struct {
	Name     string      `json:"name"`
	Type     string      `json:"type"`
	Required bool        `json:"required"`
	Doc      string      `json:"description"`
	Enum     []string    `json:"enum,omitempty"`
	Min      *float64    `json:"minimum,omitempty"`
	Max      *float64    `json:"maximum,omitempty"`
	MinLen   int         `json:"minLength,omitempty"`
	MaxLen   int         `json:"maxLength,omitempty"`
	Pattern  string      `json:"pattern,omitempty"`
	Format   string      `json:"format,omitempty"`
	Default  jsonv.Value `json:"default,omitzero"`
	Items    jsonv.Value `json:"items,omitzero"`

	ReadOnly   bool   `json:"readOnly,omitempty"`   // assigned by the adapter
	AppendOnly bool   `json:"appendOnly,omitempty"` // not changed by an update
	Listed     string `json:"listed,omitempty"`     // the type that lists the enum, which the parameter does not refer to
	deny       bool   // documented but refused
}

// resource is one collection.
type resource struct {
	Name   string        `json:"name"`
	Plural string        `json:"plural"`
	With   string        `json:"with"` // the feature that adds it, "" for none
	Fields []param       `json:"fields"`
	Seed   []jsonv.Value `json:"seed"`

	One     bool     `json:"one"`     // there is at most one item
	ByName  bool     `json:"byName"`  // identified only by its name
	Kind    string   `json:"kind"`    // the parameter that every operation requires, "" for none
	Without []string `json:"without"` // verbs without an operation
}

func (r *resource) typeName() string            { return strings.ToUpper(r.Name[:1]) + r.Name[1:] }
func (r *resource) findField(name string) param { return findParam(r.Fields, name) }

// findParam returns the parameter with a name; one without a name if there is none.
func findParam(params []param, name string) param {
	return lists.First(params, func(p param) bool { return p.Name == name })
}

// operation is one operation of the adapter.
type operation struct {
	Name     string  `json:"name"`
	Category string  `json:"category"`
	Verb     string  `json:"verb"`
	Doc      string  `json:"description"`
	Params   []param `json:"parameters"`
	Returns  string  `json:"returns"`
	hidden   []param // accepted but not documented
	res      *resource
	example  jsonv.Value
}

// does returns the real effect of the operation.
func (o *operation) does() string {
	switch o.Verb {
	case "create", "update", "delete", "execute":
		return o.Verb
	case "abort", "complete", "step", "decide":
		return "execute"
	}
	return "read"
}

func (o *operation) findParam(name string) param {
	return findParam(slices.Concat(o.Params, o.hidden), name)
}

// typeInfo is one named type.
type typeInfo struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Doc    string   `json:"description"`
	Values []string `json:"values"`
	Fields []param  `json:"fields"`
}

// tables holds the lists of what can be switched on.
var tables = sync.OnceValue(readLibrary)

// Defect is a fault that can be switched on in the adapter.
type Defect struct {
	Name string
	Doc  string
	// Feature is the feature that the defect requires, or "stress" for a defect that
	// only --stress shows; "" for none.
	Feature string
	// Rows are the ids of the tests whose rows the defect changes in a report
	// of level 2 in write mode, or in full mode for those about executions.
	Rows []string
}

// Feature is an addition to the library.
type Feature struct{ Name, Doc string }

// Defects returns the table of defects.
func Defects() []Defect { return tables().Defects }

// Features lists the possible additions to the library.
func Features() []Feature { return tables().Features }

func (r *resource) key() string {
	if r.ByName {
		return "name"
	}
	return r.Name + "_id"
}

const singleTool = "mcp_aql"

var categories = []string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}

func nameTool(category string) string { return singleTool + "_" + strings.ToLower(category) }
