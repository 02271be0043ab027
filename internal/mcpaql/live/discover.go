package live

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/probe"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

const (
	maxToolPages  = 50
	maxOperations = 2000
)

// discovery finds the tools, operations, types and endpoint modes of the adapter.
type discovery struct{ run *guard.Run }

// discover finds the tools, the operations and the types.
func (dy discovery) discover() error {
	dy.run.ReportPhase("tools", 0, 0)
	if err := dy.listTools(); err != nil {
		return err
	}
	if err := dy.assignTools(); err != nil {
		return err
	}
	dy.run.ReportPhase("introspection", 0, 0)
	dy.readOperationList()
	dy.readTypeList()
	dy.readDetails()
	dy.run.Catalog.LinkEnums()
	for _, op := range dy.run.Catalog.Operations {
		dy.run.Catalog.Assess(op)
	}
	for _, op := range dy.run.Catalog.Operations {
		if reason := dy.run.Gate.ExplainBarred(op); reason != "" && op.Name != "introspect" {
			dy.run.Gate.Skipped[op.Name] = reason
		}
	}
	if err := optionCheck(dy).checkNames(); err != nil {
		return err
	}
	probe.Description{Run: dy.run}.CheckTools()
	probe.Description{Run: dy.run}.CheckOperations()
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
		ctx, cancel := mcp.WithLimit(dy.run.Caller.Ctx, "--call-timeout", dy.run.Options.CallTimeout)
		x := dy.run.Caller.Session.Do(ctx, mcp.Call{Method: "tools/list", Params: params.Append(nil)})
		cancel()
		if x.Cause != nil {
			return &NoAdapterError{Reason: "tools/list got no response", Err: x.Cause}
		}
		if rpc := x.RPCError(); rpc != nil {
			return &NoAdapterError{Reason: "tools/list was refused", Err: rpc}
		}
		v, err := jsonv.Parse(x.Result)
		if err != nil {
			return &NoAdapterError{Reason: "the response to tools/list cannot be read", Err: err}
		}
		for _, t := range v.Lookup("tools").Elems() {
			info := catalog.Tool{
				Name:        t.Lookup("name").Text(),
				Description: t.Lookup("description").Text(),
				Annotations: t.Lookup("annotations"),
				Schema:      t.Lookup("inputSchema"),
			}
			m := catalog.ToolName().FindStringSubmatch(info.Name)
			o := dy.run.Options
			hasPrefix := m != nil && (o.Prefix == "" || m[1] == o.Prefix)
			if hasPrefix || info.Name != "" && info.Name == o.Tool {
				dy.run.Catalog.Tools = append(dy.run.Catalog.Tools, info)
			}
			names = append(names, info.Name)
		}
		next := v.Lookup("nextCursor").Text()
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	if len(names) == 0 {
		return &NoAdapterError{Reason: "the server has no tools: tools/list is empty"}
	}
	if dy.run.Options.Tool != "" && dy.run.Catalog.FindTool(dy.run.Options.Tool).Name == "" {
		return &NoAdapterError{Reason: "there is no tool " + evidence.Quote(dy.run.Options.Tool), Tools: names}
	}
	if len(dy.run.Catalog.Tools) == 0 {
		return &NoAdapterError{Reason: "no tool is named like one of MCP-AQL (mcp_aql, mcp_aql_…, mcpaql or mcpaql_…); --tool names one", Tools: names}
	}
	return nil
}

// assignTools sorts the tools into endpoints and chooses the one that takes
// introspection.
func (dy discovery) assignTools() error {
	dy.run.Catalog.Families = map[string]string{}
	prefixes := map[string]bool{}
	for _, t := range dy.run.Catalog.Tools {
		m := catalog.ToolName().FindStringSubmatch(t.Name)
		if m == nil {
			continue
		}
		prefixes[evidence.Quote(m[1])] = true
		if m[2] == "" {
			dy.run.Catalog.Single = t.Name
		} else {
			dy.run.Catalog.Families[strings.ToUpper(m[2])] = t.Name
		}
	}
	if len(prefixes) > 1 {
		return &NoAdapterError{Reason: "there are tools of several adapters: --prefix chooses one of " + strings.Join(evidence.ListKeys(prefixes), ", ")}
	}
	reader := lists.First(dy.run.Catalog.Tools, func(t catalog.Tool) bool {
		return strings.Contains(strings.ToLower(t.Description), "introspect") && t.Annotations.Lookup("readOnlyHint").Bool()
	}).Name
	cat := dy.run.Catalog
	cat.Reader = cmp.Or(dy.run.Options.Tool, cat.Families["READ"], reader, cat.Single, cat.Tools[0].Name)
	return nil
}

// readOperationList requests the list of operations. If the documented request fails, it
// tries the alternatives that adapters are known to use; the row is judged by the
// first answer.
func (dy discovery) readOperationList() {
	r := dy.run.Caller.Introspect("query", "operations")
	if r.WasSent() {
		dy.run.Evidence.OperationsList = r.Response()
	} else {
		dy.run.Caller.CutShort("operations", "types", "details", "completeness", "snake-case")
	}
	read := evidence.ReadOperations(r.Data())
	if read.Value.Lookup("operations").Kind() != jsonv.KindArray {
		if again := dy.run.Caller.Introspect(); again.IsOK() {
			dy.run.Bare = true
			dy.run.AddDialect("introspect takes no query")
			read = evidence.ReadOperations(again.Data())
		}
	}
	for _, odd := range read.Odd {
		dy.run.AddDialect(odd)
	}
	proto := r.Data().Lookup("_protocol")
	dy.run.Evidence.SpecVersion = proto.Lookup("version").Text()
	info := dy.run.Caller.Session.ServerInfo()
	dy.run.Evidence.Implementation, dy.run.Evidence.Version = info.Lookup("name").Text(), info.Lookup("version").Text()
	seen := map[string]bool{}
	for _, v := range read.Value.Lookup("operations").Elems() {
		op := dy.readOperation(v)
		if op.Name == "" || seen[op.Name] || len(dy.run.Catalog.Operations) >= maxOperations {
			continue
		}
		seen[op.Name] = true
		dy.run.Catalog.Operations = append(dy.run.Catalog.Operations, op)
	}
}

func (dy discovery) readOperation(v jsonv.Value) *catalog.Operation {
	op := &catalog.Operation{Name: v.Lookup("name").Text(), Info: v}
	op.Endpoint = strings.ToUpper(v.Lookup("endpoint").Text())
	op.Category = strings.ToUpper(v.Lookup("semantic_category").Text())
	if !slices.Contains(rule.SemanticCategories, op.Category) {
		op.Category = op.Endpoint
		if slices.Contains(rule.SemanticCategories, op.Category) {
			dy.run.AddDialect("the category is taken from the endpoint")
		}
	}
	op.Verb, op.Resource = catalog.SplitName(op.Name)
	dy.run.Catalog.Route(op)
	return op
}

func (dy discovery) readTypeList() {
	r := dy.run.Caller.Introspect("query", "types")
	if r.WasSent() {
		dy.run.Evidence.TypesList = r.Response()
	} else {
		dy.run.Caller.CutShort("types")
	}
	for i, v := range r.Data().Lookup("types").Elems() {
		var odd evidence.Reading
		v = odd.CopyName(v, evidence.OperationNameKeys, "types")
		t := &catalog.NamedType{Name: v.Lookup("name").Text(), Kind: v.Lookup("kind").Text(), Detail: v}
		if t.Name == "" || i >= maxOperations {
			continue
		}
		d := dy.run.Caller.Introspect("query", "types", "name", t.Name)
		if detail := d.Data().Lookup("type"); detail.Kind() == jsonv.KindObject {
			t.Detail = detail
		}
		dy.run.Catalog.Types[strings.ToLower(t.Name)] = t
		probe.Description{Run: dy.run}.CheckType(t, d)
	}
}

// readDetails requests the details of every operation.
func (dy discovery) readDetails() {
	for i, op := range dy.run.Catalog.Operations {
		dy.run.ReportPhase("introspection", i, len(dy.run.Catalog.Operations))
		var d jsonv.Value
		if !dy.run.Bare {
			r := dy.run.Caller.Introspect("query", "operations", "name", op.Name)
			d = dy.findDetail(op, r)
			if !r.WasSent() {
				dy.run.Caller.CutShort("details", "completeness")
				if !holdsDetail(op.Info) {
					dy.run.Gate.Skipped[op.Name] = dy.run.Caller.ExplainUntested()
				}
			}
			if d.Kind() != jsonv.KindObject && r.WasSent() && d.Kind() != jsonv.KindNull && !d.IsAbsent() {
				dy.run.Evidence.OperationDetails = append(dy.run.Evidence.OperationDetails, d)
			}
		}
		if d.Kind() != jsonv.KindObject && holdsDetail(op.Info) {
			d = op.Info
			dy.run.AddDialect("details are inside the operation list")
		}
		if d.Kind() != jsonv.KindObject {
			continue
		}
		dy.run.Evidence.OperationDetails = append(dy.run.Evidence.OperationDetails, d)
		r := evidence.ReadDetail(d)
		for _, odd := range r.Odd {
			dy.run.AddDialect(odd)
		}
		op.Detail = r.Value
		if r.Unreadable != "" {
			dy.run.Gate.Skipped[op.Name] = probe.NotGeneratable + ": its parameters cannot be read"
		}
		dy.readDetail(op)
	}
}

// holdsDetail reports whether an entry of the operation list includes the parameters.
func holdsDetail(info jsonv.Value) bool {
	return slices.ContainsFunc(evidence.ParameterListKeys, func(key string) bool { return !info.Lookup(key).IsAbsent() })
}

// findDetail finds the detail of an operation in an answer.
func (dy discovery) findDetail(op *catalog.Operation, r guard.Reply) jsonv.Value {
	d := r.Data().Lookup("operation")
	if !r.IsOK() || d.Kind() == jsonv.KindObject || d.Kind() == jsonv.KindNull {
		return d
	}
	for _, place := range []string{"data", "data.details", "data.operation_details", "data.operations.0"} {
		v := reference.Walk(r.Envelope, place)
		if v.Kind() != jsonv.KindObject || !holdsDetail(v) {
			continue
		}
		name := evidence.ReadDetail(v).Value.Lookup("name").Text()
		if name != "" && name != op.Name {
			continue
		}
		if dy.run.AddDialect("the detail of an operation is in " + place + " instead of data.operation") {
			dy.run.Rows.Fail("consistency.place", r,
				"the detail of %s is in %s instead of data.operation", op.Name, place)
		}
		return v
	}
	return d
}

func (dy discovery) readDetail(op *catalog.Operation) {
	op.Category = cmp.Or(op.Category, strings.ToUpper(op.Detail.Lookup("semantic_category").Text()))
	dy.run.Catalog.Route(op)
	for _, p := range op.Detail.Lookup("parameters").Elems() {
		lp := catalog.Parameter{
			Name: p.Lookup("name").Text(), Type: p.Lookup("type").Text(), Doc: p.Lookup("description").Text(),
			Required: p.Lookup("required").Bool(), Sensitive: p.Lookup("sensitive").Bool(), Schema: p,
		}
		if lp.Sensitive {
			dy.run.Caller.Sensitive[lp.Name] = true
		}
		if lp.Name != "" && op.FindParam(lp.Name) == nil {
			op.Params = append(op.Params, lp)
		}
	}
}

// Endpoint modes.

// findModes determines the endpoint modes of the adapter. If the adapter shows only
// one, it is started a second time.
func (dy discovery) findModes() {
	if len(dy.run.Catalog.Families) > 0 {
		addMode(&dy.run.Modes, nameSemanticMode(dy.run.Catalog.Families))
	}
	if dy.run.Catalog.Single != "" {
		addMode(&dy.run.Modes, "single")
	}
	if dy.run.Options.Mode != guard.ModePlan {
		dy.findOtherModes()
		for _, m := range dy.run.Modes {
			if strings.HasPrefix(m, "semantic") {
				m = "crude"
			}
			addMode(&dy.run.Evidence.EndpointModes, m)
		}
	}
	if dy.run.Caller.ExplainEnding() != "" {
		dy.run.Caller.CutShort("modes")
	}
}

func addMode(modes *[]string, m string) {
	if !slices.Contains(*modes, m) {
		*modes = append(*modes, m)
	}
}

// nameSemanticMode returns the mode of an adapter with a tool for each category.
func nameSemanticMode(families map[string]string) string {
	for f := range families {
		if !slices.Contains(rule.SemanticCategories, f) {
			return "semantic:custom"
		}
	}
	return "semantic:crude"
}

// findOtherModes starts the adapter in another mode.
func (dy discovery) findOtherModes() {
	for _, variant := range []string{"single", "semantic", "crude"} {
		cat := dy.run.Catalog
		hasBoth := cat.Single != "" && len(cat.Families) > 0
		isKnown := (variant == "single") == (cat.Single != "")
		if hasBoth || isKnown || dy.run.Caller.Dead != "" {
			continue
		}
		families, single, ok := dy.readOtherLaunch(variant)
		isOther := len(families) > 0 && cat.Single != "" || single && len(cat.Families) > 0
		switch {
		case !ok || !isOther:
			continue
		case single:
			addMode(&dy.run.Modes, "single")
		default:
			addMode(&dy.run.Modes, nameSemanticMode(families))
		}
		return
	}
}

// readOtherLaunch starts the adapter in another endpoint mode and checks whether it
// answers there.
func (dy discovery) readOtherLaunch(variant string) (families map[string]string, single, ok bool) {
	s, err := dy.run.Caller.Tape.Dial(dy.run.Caller.Ctx, variant)
	if err != nil || s == nil {
		return nil, false, false
	}
	defer s.Close(dy.run.Caller.Ctx)
	other := guard.New(*dy.run.Options)
	other.Caller.Tape = dy.run.Caller.Tape
	other.Caller.Ctx = dy.run.Caller.Ctx
	other.Caller.Session = s
	other.Caller.Restarts = 1
	if (discovery{other}).listTools() != nil || (discovery{other}).assignTools() != nil {
		return nil, false, false
	}
	r := other.Caller.Introspect("query", "operations")
	return other.Catalog.Families, other.Catalog.Single != "", r.IsOK()
}
