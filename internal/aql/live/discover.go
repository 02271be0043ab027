package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/reference"
	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

const (
	maxToolPages  = 50
	maxOperations = 2000
)

var toolName = evidence.Pattern(`^([a-z0-9_]+_)?mcp_aql(?:_([a-z0-9]+))?$`)

// discover finds the tools, the operations and the types.
func (c *collector) discover() error {
	c.phase("tools", 0, 0)
	if err := c.listTools(); err != nil {
		return err
	}
	if err := c.assignTools(); err != nil {
		return err
	}
	c.phase("introspection", 0, 0)
	c.operationList()
	if len(c.ops) == 0 {
		c.e.Version = c.s.ServerInfo().Lookup("serverInfo", "version").Text()
	}
	c.typeList()
	c.details()
	c.linkEnums()
	for _, op := range c.ops {
		c.assess(op)
	}
	for _, op := range c.ops {
		if reason := c.barred(op); reason != "" && op.name != "introspect" {
			c.skipped[op.name] = reason
		}
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	c.checkTools()
	c.checkOperations()
	c.findModes()
	return nil
}

func (c *collector) listTools() error {
	var names []string
	cursor := ""
	for range maxToolPages {
		params := jsonv.Object()
		if cursor != "" {
			params = params.With("cursor", jsonv.String(cursor))
		}
		ctx, cancel := mcp.WithLimit(c.ctx, "--call-timeout", c.o.CallTimeout)
		x := c.s.Do(ctx, mcp.Call{Method: "tools/list", Params: params.Append(nil)})
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
			if m := toolName().FindStringSubmatch(info.name); m != nil && (c.o.Prefix == "" || m[1] == c.o.Prefix) || info.name == c.o.Tool && info.name != "" {
				c.tools = append(c.tools, info)
			}
			names = append(names, info.name)
		}
		next := v.Lookup("nextCursor").Text()
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	if c.o.Tool != "" && c.toolNamed(c.o.Tool) == nil {
		return &NoAdapterError{Reason: "there is no tool " + evidence.Quoted(c.o.Tool), Tools: names}
	}
	if len(c.tools) == 0 {
		return &NoAdapterError{Reason: "no tool is named like one of MCP-AQL (mcp_aql or mcp_aql_…); --tool names one", Tools: names}
	}
	return nil
}

func (c *collector) toolNamed(name string) *toolInfo {
	for i := range c.tools {
		if c.tools[i].name == name {
			return &c.tools[i]
		}
	}
	return nil
}

// assignTools sorts the tools into endpoints and chooses the one that takes
// introspection.
func (c *collector) assignTools() error {
	c.families = map[string]string{}
	prefixes := map[string]bool{}
	for _, t := range c.tools {
		m := toolName().FindStringSubmatch(t.name)
		if m == nil {
			continue
		}
		prefixes[m[1]] = true
		if m[2] == "" {
			c.single = t.name
		} else {
			c.families[strings.ToUpper(m[2])] = t.name
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
	c.reader = c.families["READ"]
	for _, t := range c.tools {
		if c.reader == "" && strings.Contains(strings.ToLower(t.description), "introspect") && t.annotations.Lookup("readOnlyHint").Bool() {
			c.reader = t.name
		}
	}
	switch {
	case c.o.Tool != "":
		c.reader = c.o.Tool
	case c.reader == "" && c.single != "":
		c.reader = c.single
	case c.reader == "":
		c.reader = c.tools[0].name
	}
	return nil
}

// introspect asks the adapter about itself.
func (c *collector) introspect(params ...jsonv.Member) reply {
	return c.send(c.reader, jsonv.Object(
		jsonv.Member{Key: "operation", Value: jsonv.String("introspect")},
		jsonv.Member{Key: "params", Value: jsonv.Object(params...)},
	))
}

// speaks notes a form that is not the documented one, and reports whether it
// is new.
func (c *collector) speaks(dialect string) bool {
	if slices.Contains(c.dialect, dialect) {
		return false
	}
	c.dialect = append(c.dialect, dialect)
	return true
}

// operationList asks for the operations, and falls back on what adapters
// were seen to do instead; the row is judged by the first answer.
func (c *collector) operationList() {
	r := c.introspect(evidence.TextMember("query", "operations"))
	if r.sent() {
		c.e.OperationsList = r.response()
	} else {
		c.cutsShort("operations", "types", "details", "completeness", "snake-case")
	}
	read := evidence.ReadOperations(r.data())
	if read.Value.Lookup("operations").Kind() != jsonv.KindArray {
		if again := c.introspect(); again.ok() {
			c.bare = true
			c.speaks("introspect takes no query")
			read = evidence.ReadOperations(again.data())
		}
	}
	for _, odd := range read.Odd {
		c.speaks(odd)
	}
	proto := r.data().Lookup("_protocol")
	c.e.SpecVersion = proto.Lookup("version").Text()
	info := c.s.ServerInfo().Lookup("serverInfo")
	c.e.Implementation, c.e.Version = info.Lookup("name").Text(), info.Lookup("version").Text()
	seen := map[string]bool{}
	for _, v := range read.Value.Lookup("operations").Elems() {
		op := c.readOperation(v)
		if op.name == "" || seen[op.name] || len(c.ops) >= maxOperations {
			continue
		}
		seen[op.name] = true
		c.ops = append(c.ops, op)
	}
}

func (c *collector) readOperation(v jsonv.Value) *liveOp {
	op := &liveOp{name: v.Lookup("name").Text(), info: v}
	op.endpoint = strings.ToUpper(v.Lookup("endpoint").Text())
	op.category = strings.ToUpper(v.Lookup("semantic_category").Text())
	if !slices.Contains(rule.SemanticCategories, op.category) {
		op.category = op.endpoint
		if slices.Contains(rule.SemanticCategories, op.category) {
			c.speaks("the category is taken from the endpoint")
		}
	}
	op.verb, op.resource = splitName(op.name)
	c.route(op)
	return op
}

// route chooses the tool that an operation is called with.
func (c *collector) route(op *liveOp) {
	switch tool := op.detail.Lookup("mcpTool").Text(); {
	case c.families[op.category] != "":
		op.tool = c.families[op.category]
	case c.toolNamed(tool) != nil:
		op.tool = tool
	case c.families[op.endpoint] != "":
		op.tool = c.families[op.endpoint]
	case c.single != "":
		op.tool = c.single
	default:
		op.tool = c.reader
	}
}

func (c *collector) typeList() {
	r := c.introspect(evidence.TextMember("query", "types"))
	if r.sent() {
		c.e.TypesList = r.response()
	} else {
		c.cutsShort("types")
	}
	for i, v := range r.data().Lookup("types").Elems() {
		var odd evidence.Reading
		v = odd.Named(v, evidence.OperationNameKeys, "types")
		t := &namedType{name: v.Lookup("name").Text(), kind: v.Lookup("kind").Text(), detail: v}
		if t.name == "" || i >= maxOperations {
			continue
		}
		d := c.introspect(evidence.TextMember("query", "types"), evidence.TextMember("name", t.name))
		if detail := d.data().Lookup("type"); detail.Kind() == jsonv.KindObject {
			t.detail = detail
		}
		c.types[strings.ToLower(t.name)] = t
		c.checkType(t, d)
	}
}

// checkType holds a type's detail against its kind (INT 3.6).
func (c *collector) checkType(t *namedType, r reply) {
	if !r.sent() {
		return
	}
	c.sees("consistency")
	part := map[string]string{"enum": "values", "union": "members"}[t.kind]
	if part == "" {
		return
	}
	if list := t.detail.Lookup(part); list.Kind() != jsonv.KindArray || list.Len() == 0 {
		c.breaks("consistency.type-detail", r, "the detail of the %s %s has no %s", t.kind, evidence.Quoted(display.Truncate(t.name, 60)), part)
	}
}

// details asks about every operation.
func (c *collector) details() {
	for i, op := range c.ops {
		c.phase("introspection", i, len(c.ops))
		var d jsonv.Value
		if !c.bare {
			r := c.introspect(evidence.TextMember("query", "operations"), evidence.TextMember("name", op.name))
			d = c.detailIn(op, r)
			if !r.sent() {
				c.cutsShort("details", "completeness")
				if !holdsDetail(op.info) {
					c.skipped[op.name] = c.endedBefore()
				}
			}
			if d.Kind() != jsonv.KindObject && r.sent() && d.Kind() != jsonv.KindNull && !d.IsAbsent() {
				c.e.OperationDetails = append(c.e.OperationDetails, d)
			}
		}
		if d.Kind() != jsonv.KindObject && holdsDetail(op.info) {
			d = op.info
			c.speaks("details are inside the operation list")
		}
		if d.Kind() != jsonv.KindObject {
			continue
		}
		c.e.OperationDetails = append(c.e.OperationDetails, d)
		r := evidence.ReadDetail(d)
		for _, odd := range r.Odd {
			c.speaks(odd)
		}
		op.detail = r.Value
		if r.Unreadable != "" {
			c.skipped[op.name] = notGeneratable + ": its parameters cannot be read"
		}
		c.readDetail(op)
	}
}

// holdsDetail says that an entry of the operation list has the parameters too.
func holdsDetail(info jsonv.Value) bool {
	return slices.ContainsFunc(evidence.ParameterListKeys, func(key string) bool { return !info.Lookup(key).IsAbsent() })
}

// detailIn finds the detail of an operation in an answer.
func (c *collector) detailIn(op *liveOp, r reply) jsonv.Value {
	d := r.data().Lookup("operation")
	if !r.ok() || d.Kind() == jsonv.KindObject || d.Kind() == jsonv.KindNull {
		return d
	}
	for _, place := range []string{"data", "data.details", "data.operation_details", "data.operations.0"} {
		v := reference.Walk(r.env, place)
		if v.Kind() != jsonv.KindObject || !holdsDetail(v) || !slices.Contains([]string{op.name, ""}, evidence.ReadDetail(v).Value.Lookup("name").Text()) {
			continue
		}
		if c.speaks("the detail of an operation is in " + place + " instead of data.operation") {
			c.breaks("consistency.place", r, "the detail of %s is in %s instead of data.operation", op.name, place)
		}
		return v
	}
	return d
}

func (c *collector) readDetail(op *liveOp) {
	if op.category == "" {
		op.category = strings.ToUpper(op.detail.Lookup("semantic_category").Text())
	}
	c.route(op)
	for _, p := range evidence.ParameterList(op.detail) {
		lp := liveParam{
			name: p.Lookup("name").Text(), typ: p.Lookup("type").Text(), doc: p.Lookup("description").Text(),
			required: p.Lookup("required").Bool(), sensitive: p.Lookup("sensitive").Bool(), v: p,
		}
		if lp.sensitive {
			c.sensitive[lp.name] = true
		}
		if lp.name != "" && op.param(lp.name) == nil {
			op.params = append(op.params, lp)
		}
	}
}

// op finds an operation by its name; nil when it is not listed.
func (c *collector) op(name string) *liveOp {
	for _, op := range c.ops {
		if op.name == name {
			return op
		}
	}
	return nil
}
