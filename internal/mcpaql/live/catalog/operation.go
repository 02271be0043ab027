package catalog

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
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

// FindParam returns a parameter by its name; nil if it is not documented.
func (o *Operation) FindParam(name string) *Parameter {
	return o.findFirst(func(p Parameter) bool { return p.Name == name })
}

// IsSilent reports whether the detail of an operation does not say which parameters it takes:
// that there are none is not known.
func (o *Operation) IsSilent() bool { return o.Detail.Lookup("parameters").IsAbsent() }

// rehearsal matches the names of parameters with which a call only says what it would do.
var rehearsal = evidence.Pattern(`^(dry_?run|validate_only|check_only|simulate|what_?if|preview_only)$`)

// Rehearses reports whether a parameter makes a call say only what it would do.
func (p *Parameter) Rehearses() bool {
	return rehearsal().MatchString(strings.ToLower(p.Name)) && (p.Type == "boolean" || p.Type == "bool")
}

// IsRehearsal reports whether the parameters of a call ask it to store nothing.
func (o *Operation) IsRehearsal(params jsonv.Value) bool {
	return slices.ContainsFunc(o.Params, func(p Parameter) bool {
		return p.Rehearses() && params.Lookup(p.Name).Bool()
	})
}

// findFirst returns the first parameter that match accepts; nil if there is none.
func (o *Operation) findFirst(match func(Parameter) bool) *Parameter {
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

// FindExecutionParam returns the parameter that names an execution; nil if the operation
// has none.
func (o *Operation) FindExecutionParam() *Parameter {
	return o.findFirst(func(p Parameter) bool {
		return p.Required && (p.Name == ExecutionKey || p.Name == "id" && IsSameResource(o.Resource, "execution"))
	})
}

// ControlsExecution reports whether an operation acts on something that is running, which must
// belong to the run.
func (o *Operation) ControlsExecution() bool {
	if o.Name == StepOperation {
		return true
	}
	namesTarget := o.FindExecutionParam() != nil || o.FindIDParam() != nil
	return o.Category == "EXECUTE" && !o.Starts() && namesTarget
}

// Creates reports whether an operation creates something that must be removed. A step
// belongs to its execution.
func (o *Operation) Creates() bool { return o.Category == "CREATE" && o.Name != StepOperation }

// ChangesData reports whether an operation changes or removes existing data, by any of
// its claims.
func (o *Operation) ChangesData() bool {
	return o.Verb == "update" || o.Verb == "delete" || slices.ContainsFunc(o.listCategories(), func(c string) bool {
		return c == "UPDATE" || c == "DELETE"
	})
}

// startsExecution reports whether an operation's documentation promises a separate
// execution for every call.
func (o *Operation) startsExecution() bool {
	if o.Name == "execute_agent" {
		return true
	}
	if !o.Starts() {
		return false
	}
	returns := strings.ToLower(o.Detail.Lookup("returns").String())
	return o.Detail.Lookup("lifecycle").Kind() == jsonv.KindObject || strings.Contains(returns, "execution")
}

// ActsUnnamed reports whether an EXECUTE operation may act on anything: it accepts no
// parameter that names an item of the run, and is not documented to start something
// of its own.
func (o *Operation) ActsUnnamed() bool {
	if o.Category != "EXECUTE" && o.Name != StepOperation {
		return false
	}
	return o.FindExecutionParam() == nil && o.FindIDParam() == nil && !o.startsExecution()
}

// CursorPair holds the parameter that a cursor parameter requires.
var CursorPair = map[string]string{"after": "first", "before": "last"}

// PagesByCursor reports whether an operation pages by cursors, at least forward.
func (o *Operation) PagesByCursor() bool {
	return o.FindParam("first") != nil && o.FindParam("after") != nil
}

// IsSentAlone reports whether an optional parameter is left out when several are sent
// together: pages go in one direction.
func (o *Operation) IsSentAlone(p Parameter) bool {
	return o.PagesByCursor() && (CursorPair[p.Name] != "" || p.Name == "first" || p.Name == "last")
}

// RequiresNothing reports whether an operation has no required parameter.
func (o *Operation) RequiresNothing() bool {
	return o.findFirst(func(p Parameter) bool { return p.Required }) == nil
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

// FindIDParam returns the parameter that identifies the resource, or else the one that
// identifies what the resource belongs to.
func (o *Operation) FindIDParam() *Parameter {
	own := func(p Parameter) bool { return o.IsIdentifier(p) && !o.NamesOther(p) }
	if p := o.findFirst(own); p != nil {
		return p
	}
	return o.findFirst(o.IsIdentifier)
}

// NamesOther reports whether a parameter names something of another resource, as in
// create_comment the parameter note_id.
func (o *Operation) NamesOther(p Parameter) bool {
	return ParseStem(p.Name) != "" && !IsSameResource(ParseStem(p.Name), o.Resource)
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

// findReservedCategory is the category of an operation whose name the specification reserves,
// in any spelling; "" for another name. A list that says READ does not change what it does.
func findReservedCategory(name string) string {
	return ReservedOperations[strings.Join(listWords(name), "_")]
}

// Names that the specification reserves.
const (
	ExecutionKey  = "execution_id"
	StepOperation = "record_execution_step"
)

// listCategories returns the categories that an operation claims, in the list and in its
// detail: if they differ, the worst one counts.
func (o *Operation) listCategories() []string {
	out := []string{o.Category}
	for _, v := range []jsonv.Value{o.Info, o.Detail} {
		for _, key := range []string{"semantic_category", "endpoint"} {
			c := strings.ToUpper(v.Lookup(key).Text())
			if slices.Contains(rule.SemanticCategories, c) && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Starts reports whether an operation starts something, and does not act on something
// that is running.
func (o *Operation) Starts() bool {
	if o.Name == "execute_agent" {
		return true
	}
	if o.Category != "EXECUTE" || o.FindExecutionParam() != nil || ReservedOperations[o.Name] != "" {
		return false
	}
	return !slices.Contains(controlVerbs, o.Verb) && !slices.Contains(removalVerbs, o.Verb)
}
