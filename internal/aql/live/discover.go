package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/reference"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

const (
	maxToolPages  = 50
	maxOperations = 2000
)

// discover finds the tools, the operations and the types.
func (dy discovery) discover() error {
	dy.run.phase("tools", 0, 0)
	if err := dy.listTools(); err != nil {
		return err
	}
	if err := dy.assignTools(); err != nil {
		return err
	}
	dy.run.phase("introspection", 0, 0)
	dy.operationList()
	if len(dy.run.catalog.ops) == 0 {
		dy.run.e.Version = dy.run.caller.s.ServerInfo().Lookup("serverInfo", "version").Text()
	}
	dy.typeList()
	dy.details()
	dy.run.catalog.linkEnums()
	for _, op := range dy.run.catalog.ops {
		dy.run.catalog.assess(op)
	}
	for _, op := range dy.run.catalog.ops {
		if reason := dy.run.gate.barred(op); reason != "" && op.name != "introspect" {
			dy.run.skipped[op.name] = reason
		}
	}
	if err := dy.checkNames(); err != nil {
		return err
	}
	descriptionProbe{dy.run}.checkTools()
	descriptionProbe{dy.run}.checkOperations()
	dy.findModes()
	return nil
}

func (dy discovery) listTools() error {
	var names []string
	cursor := ""
	for range maxToolPages {
		params := jsonv.Object()
		if cursor != "" {
			params = params.With("cursor", jsonv.String(cursor))
		}
		ctx, cancel := mcp.WithLimit(dy.run.caller.ctx, "--call-timeout", dy.run.o.CallTimeout)
		x := dy.run.caller.s.Do(ctx, mcp.Call{Method: "tools/list", Params: params.Append(nil)})
		cancel()
		if x.Cause != nil {
			return &NoAdapterError{Reason: "tools/list was not answered", Err: x.Cause}
		}
		if rpc := x.RPCError(); rpc != nil {
			return &NoAdapterError{Reason: "tools/list was refused", Err: rpc}
		}
		v, err := jsonv.Parse(x.Result)
		if err != nil {
			return &NoAdapterError{Reason: "the answer to tools/list cannot be read", Err: err}
		}
		for _, t := range v.Lookup("tools").Elems() {
			info := toolInfo{t.Lookup("name").Text(), t.Lookup("description").Text(), t.Lookup("annotations"), t.Lookup("inputSchema")}
			if m := toolName().FindStringSubmatch(info.name); m != nil && (dy.run.o.Prefix == "" || m[1] == dy.run.o.Prefix) || info.name == dy.run.o.Tool && info.name != "" {
				dy.run.catalog.tools = append(dy.run.catalog.tools, info)
			}
			names = append(names, info.name)
		}
		next := v.Lookup("nextCursor").Text()
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	if dy.run.o.Tool != "" && dy.run.catalog.toolNamed(dy.run.o.Tool) == nil {
		return &NoAdapterError{Reason: "there is no tool " + evidence.Quoted(dy.run.o.Tool), Tools: names}
	}
	if len(dy.run.catalog.tools) == 0 {
		return &NoAdapterError{Reason: "no tool is named like one of MCP-AQL (mcp_aql or mcp_aql_…); --tool names one", Tools: names}
	}
	return nil
}

// assignTools sorts the tools into endpoints and chooses the one that takes
// introspection.
func (dy discovery) assignTools() error {
	dy.run.catalog.families = map[string]string{}
	prefixes := map[string]bool{}
	for _, t := range dy.run.catalog.tools {
		m := toolName().FindStringSubmatch(t.name)
		if m == nil {
			continue
		}
		prefixes[m[1]] = true
		if m[2] == "" {
			dy.run.catalog.single = t.name
		} else {
			dy.run.catalog.families[strings.ToUpper(m[2])] = t.name
		}
	}
	if len(prefixes) > 1 {
		var list []string
		for p := range prefixes {
			list = append(list, evidence.Quoted(p))
		}
		slices.Sort(list)
		return &NoAdapterError{Reason: "there are tools of several adapters: --prefix chooses one of " + strings.Join(list, ", ")}
	}
	dy.run.catalog.reader = dy.run.catalog.families["READ"]
	for _, t := range dy.run.catalog.tools {
		if dy.run.catalog.reader == "" && strings.Contains(strings.ToLower(t.description), "introspect") && t.annotations.Lookup("readOnlyHint").Bool() {
			dy.run.catalog.reader = t.name
		}
	}
	switch {
	case dy.run.o.Tool != "":
		dy.run.catalog.reader = dy.run.o.Tool
	case dy.run.catalog.reader == "" && dy.run.catalog.single != "":
		dy.run.catalog.reader = dy.run.catalog.single
	case dy.run.catalog.reader == "":
		dy.run.catalog.reader = dy.run.catalog.tools[0].name
	}
	return nil
}

// operationList asks for the operations, and falls back on what adapters
// were seen to do instead; the row is judged by the first answer.
func (dy discovery) operationList() {
	r := dy.run.caller.introspect(evidence.TextMember("query", "operations"))
	if r.sent() {
		dy.run.e.OperationsList = r.response()
	} else {
		dy.run.caller.cutsShort("operations", "types", "details", "completeness", "snake-case")
	}
	read := evidence.ReadOperations(r.data())
	if read.Value.Lookup("operations").Kind() != jsonv.KindArray {
		if again := dy.run.caller.introspect(); again.ok() {
			dy.run.bare = true
			dy.run.speaks("introspect takes no query")
			read = evidence.ReadOperations(again.data())
		}
	}
	for _, odd := range read.Odd {
		dy.run.speaks(odd)
	}
	proto := r.data().Lookup("_protocol")
	dy.run.e.SpecVersion = proto.Lookup("version").Text()
	info := dy.run.caller.s.ServerInfo().Lookup("serverInfo")
	dy.run.e.Implementation, dy.run.e.Version = info.Lookup("name").Text(), info.Lookup("version").Text()
	seen := map[string]bool{}
	for _, v := range read.Value.Lookup("operations").Elems() {
		op := dy.readOperation(v)
		if op.name == "" || seen[op.name] || len(dy.run.catalog.ops) >= maxOperations {
			continue
		}
		seen[op.name] = true
		dy.run.catalog.ops = append(dy.run.catalog.ops, op)
	}
}

func (dy discovery) readOperation(v jsonv.Value) *liveOp {
	op := &liveOp{name: v.Lookup("name").Text(), info: v}
	op.endpoint = strings.ToUpper(v.Lookup("endpoint").Text())
	op.category = strings.ToUpper(v.Lookup("semantic_category").Text())
	if !slices.Contains(rule.SemanticCategories, op.category) {
		op.category = op.endpoint
		if slices.Contains(rule.SemanticCategories, op.category) {
			dy.run.speaks("the category is taken from the endpoint")
		}
	}
	op.verb, op.resource = splitName(op.name)
	dy.run.catalog.route(op)
	return op
}

func (dy discovery) typeList() {
	r := dy.run.caller.introspect(evidence.TextMember("query", "types"))
	if r.sent() {
		dy.run.e.TypesList = r.response()
	} else {
		dy.run.caller.cutsShort("types")
	}
	for i, v := range r.data().Lookup("types").Elems() {
		var odd evidence.Reading
		v = odd.Named(v, evidence.OperationNameKeys, "types")
		t := &namedType{name: v.Lookup("name").Text(), kind: v.Lookup("kind").Text(), detail: v}
		if t.name == "" || i >= maxOperations {
			continue
		}
		d := dy.run.caller.introspect(evidence.TextMember("query", "types"), evidence.TextMember("name", t.name))
		if detail := d.data().Lookup("type"); detail.Kind() == jsonv.KindObject {
			t.detail = detail
		}
		dy.run.catalog.types[strings.ToLower(t.name)] = t
		descriptionProbe{dy.run}.checkType(t, d)
	}
}

// details asks about every operation.
func (dy discovery) details() {
	for i, op := range dy.run.catalog.ops {
		dy.run.phase("introspection", i, len(dy.run.catalog.ops))
		var d jsonv.Value
		if !dy.run.bare {
			r := dy.run.caller.introspect(evidence.TextMember("query", "operations"), evidence.TextMember("name", op.name))
			d = dy.detailIn(op, r)
			if !r.sent() {
				dy.run.caller.cutsShort("details", "completeness")
				if !holdsDetail(op.info) {
					dy.run.skipped[op.name] = dy.run.caller.endedBefore()
				}
			}
			if d.Kind() != jsonv.KindObject && r.sent() && d.Kind() != jsonv.KindNull && !d.IsAbsent() {
				dy.run.e.OperationDetails = append(dy.run.e.OperationDetails, d)
			}
		}
		if d.Kind() != jsonv.KindObject && holdsDetail(op.info) {
			d = op.info
			dy.run.speaks("details are inside the operation list")
		}
		if d.Kind() != jsonv.KindObject {
			continue
		}
		dy.run.e.OperationDetails = append(dy.run.e.OperationDetails, d)
		r := evidence.ReadDetail(d)
		for _, odd := range r.Odd {
			dy.run.speaks(odd)
		}
		op.detail = r.Value
		if r.Unreadable != "" {
			dy.run.skipped[op.name] = notGeneratable + ": its parameters cannot be read"
		}
		dy.readDetail(op)
	}
}

// holdsDetail says that an entry of the operation list has the parameters too.
func holdsDetail(info jsonv.Value) bool {
	return slices.ContainsFunc(evidence.ParameterListKeys, func(key string) bool { return !info.Lookup(key).IsAbsent() })
}

// detailIn finds the detail of an operation in an answer.
func (dy discovery) detailIn(op *liveOp, r reply) jsonv.Value {
	d := r.data().Lookup("operation")
	if !r.ok() || d.Kind() == jsonv.KindObject || d.Kind() == jsonv.KindNull {
		return d
	}
	for _, place := range []string{"data", "data.details", "data.operation_details", "data.operations.0"} {
		v := reference.Walk(r.env, place)
		if v.Kind() != jsonv.KindObject || !holdsDetail(v) || !slices.Contains([]string{op.name, ""}, evidence.ReadDetail(v).Value.Lookup("name").Text()) {
			continue
		}
		if dy.run.speaks("the detail of an operation is in " + place + " instead of data.operation") {
			dy.run.rows.breaks("consistency.place", r, "the detail of %s is in %s instead of data.operation", op.name, place)
		}
		return v
	}
	return d
}

func (dy discovery) readDetail(op *liveOp) {
	if op.category == "" {
		op.category = strings.ToUpper(op.detail.Lookup("semantic_category").Text())
	}
	dy.run.catalog.route(op)
	for _, p := range evidence.ParameterList(op.detail) {
		lp := liveParam{
			name: p.Lookup("name").Text(), typ: p.Lookup("type").Text(), doc: p.Lookup("description").Text(),
			required: p.Lookup("required").Bool(), sensitive: p.Lookup("sensitive").Bool(), v: p,
		}
		if lp.sensitive {
			dy.run.caller.sensitive[lp.name] = true
		}
		if lp.name != "" && op.param(lp.name) == nil {
			op.params = append(op.params, lp)
		}
	}
}

// discovery finds the tools, operations, types and endpoint modes of the adapter.
type discovery struct {
	run *collector
}
