package live

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// toolInfo is one MCP tool.
type toolInfo struct {
	name, description   string
	annotations, schema jsonv.Value
}

// liveOp is one operation as the adapter describes it.
type liveOp struct {
	name, category, endpoint string
	tool                     string // to call it with
	info, detail             jsonv.Value
	params                   []liveParam
	verb, resource           string
	risk                     int
	why                      []string
}

// liveParam is one documented parameter.
type liveParam struct {
	name, typ, doc string
	required       bool
	sensitive      bool
	v              jsonv.Value // the whole description
	linked         *namedType  // the enum that its name speaks of, see linkEnums
}

func (o *liveOp) param(name string) *liveParam {
	for i := range o.params {
		if o.params[i].name == name {
			return &o.params[i]
		}
	}
	return nil
}

// namedType is a type of the adapter's own.
type namedType struct {
	name, kind string
	detail     jsonv.Value
}

// controlVerbs begin the names of operations that act on something that is
// there, or going on.
var controlVerbs = strings.Fields("abort cancel stop kill terminate end interrupt pause suspend resume retry restart complete finish " +
	"approve confirm reject deny accept decline authorize grant revoke commit rollback undo redo verify resolve dismiss")

// executionParam is the parameter that names an execution; nil when the
// operation is about none.
func (o *liveOp) executionParam() *liveParam {
	for i, p := range o.params {
		if p.required && (p.name == executionKey || p.name == "id" && sameResource(o.resource, "execution")) {
			return &o.params[i]
		}
	}
	return nil
}

// starts says that an operation begins something, and does not act on what is
// going on.
func (o *liveOp) starts() bool {
	return o.category == "EXECUTE" && o.executionParam() == nil && reservedOperations[o.name] == "" && !slices.Contains(controlVerbs, o.verb) && !slices.Contains(removalVerbs, o.verb) || o.name == "execute_agent"
}

// controls says that an operation acts on something that is going on, which
// has to be the run's own.
func (o *liveOp) controls() bool {
	return o.name == stepOperation || o.category == "EXECUTE" && !o.starts() && (o.executionParam() != nil || o.idParam() != nil)
}

// creates says that an operation makes something that has to be removed. A
// step belongs to its execution.
func (o *liveOp) creates() bool { return o.category == "CREATE" && o.name != stepOperation }

// changes says that an operation changes or removes what is there, by any of
// its claims.
func (o *liveOp) changes() bool {
	for _, category := range o.categories() {
		if category == "UPDATE" || category == "DELETE" {
			return true
		}
	}
	return o.verb == "update" || o.verb == "delete"
}

// stem is the resource that a parameter's name speaks of: book of book_id, ""
// when it speaks of none.
func stem(param string) string {
	s, ok := strings.CutSuffix(param, "_id")
	if !ok {
		return ""
	}
	return s
}

// startsExecution says that an operation's documentation promises an execution
// of its own for every call.
func (o *liveOp) startsExecution() bool {
	return o.name == "execute_agent" || o.starts() &&
		(o.detail.Lookup("lifecycle").Kind() == jsonv.KindObject || strings.Contains(strings.ToLower(o.detail.Lookup("returns").String()), "execution"))
}

// actsUnnamed says that an EXECUTE operation may act on anything: nothing that
// the run made can be named to it, and it is not said to begin something of
// its own.
func (o *liveOp) actsUnnamed() bool {
	return (o.category == "EXECUTE" || o.name == stepOperation) && o.executionParam() == nil && o.idParam() == nil && !o.startsExecution()
}

// cursorPair is the parameter that a cursor parameter wants beside it, "" for
// any other parameter.
func cursorPair(name string) string {
	switch name {
	case "after":
		return "first"
	case "before":
		return "last"
	}
	return ""
}

// cursors says that an operation pages by cursors, forward at least.
func (o *liveOp) cursors() bool { return o.param("first") != nil && o.param("after") != nil }

// alone says that an optional parameter is left out where several are sent at
// once: pages go in one direction.
func (o *liveOp) alone(p liveParam) bool {
	return o.cursors() && (cursorPair(p.name) != "" || p.name == "first" || p.name == "last")
}

// bare says that an operation needs nothing to be told.
func (o *liveOp) bare() bool {
	return !slices.ContainsFunc(o.params, func(p liveParam) bool { return p.required })
}

// isIdentifier says that a parameter names one of an operation's resources.
func (o *liveOp) isIdentifier(p liveParam) bool {
	if !p.required || o.category == "CREATE" {
		return false
	}
	switch {
	case strings.HasSuffix(p.name, "_id"), slices.Contains([]string{"id", "slug", "key", "uuid", "path"}, p.name):
		return true
	case p.name == "name", p.name == o.resource+"_name":
		return o.verb == "get" || o.verb == "update" || o.verb == "delete"
	}
	return false
}

// idParam is the parameter that says which resource is meant.
func (o *liveOp) idParam() *liveParam {
	for i, p := range o.params {
		if o.isIdentifier(p) {
			return &o.params[i]
		}
	}
	return nil
}

var reservedOperations = map[string]string{
	"introspect": "READ", "execute_agent": "EXECUTE", "complete_execution": "EXECUTE", "abort_execution": "EXECUTE",
	"confirm_operation": "EXECUTE", "record_execution_step": "CREATE", "verify_challenge": "CREATE",
}

// Names that the specification reserves.
const (
	executionKey  = "execution_id"
	stepOperation = "record_execution_step"
)
