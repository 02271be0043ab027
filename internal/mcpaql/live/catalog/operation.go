package catalog

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/rule"
)

// Tool is one MCP tool.
type Tool struct {
	Name, Description   string
	Annotations, Schema jsonv.Value
}

// Operation is one operation as the adapter describes it.
type Operation struct {
	Name, Category, Endpoint string
	Tool                     string // the tool that calls it
	Info, Detail             jsonv.Value
	Params                   []Parameter
	Verb, Resource           string
	Risk                     int
	Reasons                  []string
}

// Parameter is one documented parameter.
type Parameter struct {
	Name, Type, Doc string
	Required        bool
	Sensitive       bool
	Schema          jsonv.Value // the whole description
	linked          *NamedType  // the enum that its name refers to, see linkEnums
}

// Param returns a parameter by its name; nil if it is not documented.
func (o *Operation) Param(name string) *Parameter {
	return o.first(func(p Parameter) bool { return p.Name == name })
}

// first returns the first parameter that match accepts; nil if there is none.
func (o *Operation) first(match func(Parameter) bool) *Parameter {
	if i := slices.IndexFunc(o.Params, match); i >= 0 {
		return &o.Params[i]
	}
	return nil
}

// NamedType is a type that the adapter defines.
type NamedType struct {
	Name, Kind string
	Detail     jsonv.Value
}

// controlVerbs begin the names of operations that act on something that exists or is
// running.
var controlVerbs = strings.Fields("abort cancel stop kill terminate end interrupt pause suspend resume retry restart complete finish " +
	"approve confirm reject deny accept decline authorize grant revoke commit rollback undo redo verify resolve dismiss")

// ExecutionParam returns the parameter that names an execution; nil if the operation
// has none.
func (o *Operation) ExecutionParam() *Parameter {
	return o.first(func(p Parameter) bool {
		return p.Required && (p.Name == ExecutionKey || p.Name == "id" && SameResource(o.Resource, "execution"))
	})
}

// Controls reports whether an operation acts on something that is running, which must
// belong to the run.
func (o *Operation) Controls() bool {
	return o.Name == StepOperation || o.Category == "EXECUTE" && !o.Starts() && (o.ExecutionParam() != nil || o.IDParam() != nil)
}

// Creates reports whether an operation creates something that must be removed. A step
// belongs to its execution.
func (o *Operation) Creates() bool { return o.Category == "CREATE" && o.Name != StepOperation }

// Changes reports whether an operation changes or removes existing data, by any of
// its claims.
func (o *Operation) Changes() bool {
	return o.Verb == "update" || o.Verb == "delete" || slices.ContainsFunc(o.categories(), func(c string) bool { return c == "UPDATE" || c == "DELETE" })
}

// Stem returns the resource that a parameter's name refers to: book for book_id, ""
// if it refers to none.
func Stem(param string) string {
	if s, ok := strings.CutSuffix(param, "_id"); ok {
		return s
	}
	return ""
}

// startsExecution reports whether an operation's documentation promises a separate
// execution for every call.
func (o *Operation) startsExecution() bool {
	return o.Name == "execute_agent" || o.Starts() &&
		(o.Detail.Lookup("lifecycle").Kind() == jsonv.KindObject || strings.Contains(strings.ToLower(o.Detail.Lookup("returns").String()), "execution"))
}

// ActsUnnamed reports whether an EXECUTE operation may act on anything: it accepts no
// parameter that names an item of the run, and is not documented to start something
// of its own.
func (o *Operation) ActsUnnamed() bool {
	return (o.Category == "EXECUTE" || o.Name == StepOperation) && o.ExecutionParam() == nil && o.IDParam() == nil && !o.startsExecution()
}

// CursorPair holds the parameter that a cursor parameter requires.
var CursorPair = map[string]string{"after": "first", "before": "last"}

// Cursors reports whether an operation pages by cursors, at least forward.
func (o *Operation) Cursors() bool { return o.Param("first") != nil && o.Param("after") != nil }

// Alone reports whether an optional parameter is left out when several are sent
// together: pages go in one direction.
func (o *Operation) Alone(p Parameter) bool {
	return o.Cursors() && (CursorPair[p.Name] != "" || p.Name == "first" || p.Name == "last")
}

// Bare reports whether an operation has no required parameter.
func (o *Operation) Bare() bool {
	return o.first(func(p Parameter) bool { return p.Required }) == nil
}

// IsIdentifier reports whether a parameter names one of an operation's resources.
func (o *Operation) IsIdentifier(p Parameter) bool {
	if !p.Required || o.Category == "CREATE" {
		return false
	}
	switch {
	case strings.HasSuffix(p.Name, "_id"), slices.Contains([]string{"id", "slug", "key", "uuid", "path"}, p.Name):
		return true
	case p.Name == "name", p.Name == o.Resource+"_name":
		return o.Verb == "get" || o.Verb == "update" || o.Verb == "delete"
	}
	return false
}

// IDParam returns the parameter that identifies the resource, or else the one that
// identifies what the resource belongs to.
func (o *Operation) IDParam() *Parameter {
	own := func(p Parameter) bool { return o.IsIdentifier(p) && !o.NamesOther(p) }
	return cmp.Or(o.first(own), o.first(o.IsIdentifier))
}

// NamesOther reports whether a parameter names something of another resource, as in
// create_comment the parameter note_id.
func (o *Operation) NamesOther(p Parameter) bool {
	return Stem(p.Name) != "" && !SameResource(Stem(p.Name), o.Resource)
}

// Request returns the arguments of a call with params.
func (o *Operation) Request(params jsonv.Value) jsonv.Value {
	return jsonv.ObjectOf("operation", o.Name, "params", params)
}

// ReservedOperations are the operations that the specification defines, with their categories.
var ReservedOperations = map[string]string{
	"introspect": "READ", "execute_agent": "EXECUTE", "complete_execution": "EXECUTE", "abort_execution": "EXECUTE",
	"confirm_operation": "EXECUTE", "record_execution_step": "CREATE", "verify_challenge": "CREATE",
}

// Names that the specification reserves.
const (
	ExecutionKey  = "execution_id"
	StepOperation = "record_execution_step"
)

// categories returns the categories that an operation claims, in the list and in its
// detail: if they differ, the worst one counts.
func (o *Operation) categories() []string {
	out := []string{o.Category}
	for _, v := range []jsonv.Value{o.Info, o.Detail} {
		for _, key := range []string{"semantic_category", "endpoint"} {
			if c := strings.ToUpper(v.Lookup(key).Text()); slices.Contains(rule.SemanticCategories, c) && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// SameResource compares resource names, ignoring the plural.
func SameResource(a, b string) bool {
	return a == b || slices.ContainsFunc(singulars(a), func(s string) bool { return slices.Contains(singulars(b), s) })
}

func singulars(s string) []string {
	out := []string{s}
	for _, p := range [][2]string{{"ies", "y"}, {"ves", "f"}, {"ves", "fe"}, {"es", ""}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(s, p[0]); ok && stem != "" {
			out = append(out, stem+p[1])
		}
	}
	return out
}

// Names that suggest an action. An adapter's declaration is only a claim, and a run
// that must not change anything leaves out an operation rather than risk it.
