package probe

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
)

// Checks that need no call of an operation: tools, names, categories.

var supported = evidence.Pattern(`(?i)supported operations:\s*([A-Za-z0-9_,\s]+)`)

// Description checks the adapter's description of itself, without calling operations.
type Description struct{ Run *guard.Run }

// CheckTools checks the tools against MCP 2 and 6.
func (pr Description) CheckTools() {
	var none guard.Reply
	for _, t := range pr.Run.Catalog.Tools {
		pr.Run.Rows.Count("tools")
		if catalog.ToolName().FindString(t.Name) == "" || !strings.Contains(t.Name, "mcp_aql") {
			pr.Run.Rows.Fail("tools.name", none, "%s is not named like an MCP-AQL tool", evidence.Quote(t.Name))
		}
		if !strings.Contains(strings.ToLower(t.Description), "introspect") {
			pr.Run.Rows.Fail("tools.description", none, "the description of %s does not mention introspect", t.Name)
		}
		props := t.Schema.Lookup("properties")
		takesOperation := slices.Contains(t.Schema.Lookup("required").Texts(), "operation") &&
			props.Lookup("operation", "type").Text() == "string"
		takesParams := props.Lookup("params", "type").Text() == "object"
		if t.Schema.Lookup("type").Text() != "object" || !takesOperation || !takesParams {
			pr.Run.Rows.Fail("tools.schema", none,
				"the inputSchema of %s does not ask for operation (a required string) and params (an object)", t.Name)
		}
		pr.checkHints(t)
		pr.findHidden(t)
	}
	pr.crossCutting()
}

func (pr Description) checkHints(t catalog.Tool) {
	category := ""
	for f, name := range pr.Run.Catalog.Families {
		if name == t.Name {
			category = f
		}
	}
	readOnly, destructive := t.Annotations.Lookup("readOnlyHint"), t.Annotations.Lookup("destructiveHint")
	wantRead := category == "READ"
	wantDestructive := category != "READ" && category != "CREATE" || t.Name == pr.Run.Catalog.Single
	if !slices.Contains(rule.SemanticCategories, category) && t.Name != pr.Run.Catalog.Single {
		return
	}
	// An adapter may omit destructiveHint, except on CREATE, where its default is wrong.
	isWrong := category == "CREATE"
	if destructive.Kind() == jsonv.KindBool {
		isWrong = destructive.Bool() != wantDestructive
	}
	if readOnly.Bool() != wantRead || isWrong {
		pr.Run.Rows.Fail("tools.annotations", guard.Reply{},
			"the annotations of %s: expected readOnlyHint %v and destructiveHint %v", t.Name, wantRead, wantDestructive)
	}
}

// findHidden finds operations that a tool names but the list omits (MCP 2.1).
func (pr Description) findHidden(t catalog.Tool) {
	list := append(supported().FindStringSubmatch(t.Description), "", "")[1] // "" if there is none
	var mentioned []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if evidence.SnakeCase().MatchString(name) {
			mentioned = append(mentioned, name)
		}
	}
	for _, name := range append(mentioned, t.Schema.Lookup("properties", "operation", "enum").Texts()...) {
		if len(pr.Run.Catalog.Operations) > 0 && pr.Run.Catalog.FindOperation(name) == nil {
			pr.Run.Rows.Fail("consistency.hidden", guard.Reply{},
				"%s names the operation %s, which is not listed", t.Name, evidence.QuoteStart(name, 60))
		}
	}
}

// CheckOperations compares the names, categories and tools of the list with those of
// the details (D 6.2, 8.5, 10.1).
func (pr Description) CheckOperations() {
	var none guard.Reply
	pr.Run.Rows.Tests["operation-names"].Incomplete = "no operation is listed"
	pr.Run.Rows.Tests["consistency"].Incomplete = "no operation is listed"
	for _, op := range pr.Run.Catalog.Operations {
		pr.Run.Rows.Count("operation-names")
		pr.Run.Rows.Count("consistency")
		if !evidence.SnakeCase().MatchString(op.Name) {
			pr.Run.Rows.Fail("operation-names.snake", none, "%s is not snake_case", evidence.QuoteStart(op.Name, 60))
		}
		if want := catalog.ReservedOperations[op.Name]; want != "" && op.Category != want {
			pr.Run.Rows.Fail("consistency.reserved", none,
				"%s is reserved for %s and listed as %s", op.Name, want, op.Category)
		}
		if op.ActsByName() > 0 {
			pr.Run.Rows.Fail("consistency.action", none, "%s is declared READ and named like an action", op.Name)
		}
		if op.Detail.IsAbsent() || pr.Run.Bare {
			continue
		}
		for _, key := range []string{"semantic_category", "endpoint"} {
			a, b := op.Info.Lookup(key).Text(), op.Detail.Lookup(key).Text()
			if !strings.EqualFold(a, b) {
				pr.Run.Rows.Fail("consistency.category", none,
					"the %s of %s is %s in the list and %s in its detail", key, op.Name, evidence.QuoteStart(a, 40), evidence.QuoteStart(b, 40))
			}
		}
		if tool := op.Detail.Lookup("mcpTool").Text(); tool != "" && pr.Run.Catalog.FindTool(tool).Name == "" {
			pr.Run.Rows.Fail("consistency.tool", none,
				"the detail of %s names the tool %s, which is not listed", op.Name, evidence.QuoteStart(tool, 60))
		}
	}
	if len(pr.Run.Catalog.Operations) > 0 && pr.Run.Catalog.FindOperation("introspect") == nil {
		pr.Run.Rows.Fail("consistency.introspect", none, "introspect is not in the list")
	}
}

var controlNames = []string{
	"query", "filter", "sort", "fields",
	"limit", "offset", "page", "page_size",
	"first", "after", "last", "before",
}

// crossCutting compares the parameters that READ operations have in common
// (S 2.2).
func (pr Description) crossCutting() {
	t := pr.Run.Rows.Tests["cross-cutting"]
	shared := false
	for _, name := range controlNames {
		var first *catalog.Parameter
		var firstOp string
		for _, op := range pr.Run.Catalog.Operations {
			p := op.FindParam(name)
			if p == nil || op.Category != "READ" || op.Name == "introspect" {
				continue
			}
			if first == nil {
				first, firstOp = p, op.Name
				continue
			}
			shared = true
			t.Cases++
			sameDefault := jsonv.Equal(p.Schema.Lookup("default"), first.Schema.Lookup("default"))
			if !strings.EqualFold(p.Type, first.Type) || p.Required != first.Required || !sameDefault {
				pr.Run.Rows.Fail("cross-cutting.alike", guard.Reply{},
					"%s is described differently by %s and %s", evidence.Quote(name), firstOp, op.Name)
			}
		}
	}
	if !shared {
		t.NotApplicable = "no two READ operations have such a parameter in common"
	}
}

// CheckType checks a type's detail against its kind (INT 3.6).
func (pr Description) CheckType(t *catalog.NamedType, r guard.Reply) {
	if !r.WasSent() {
		return
	}
	pr.Run.Rows.Count("consistency")
	part := ""
	switch t.Kind {
	case "enum":
		part = "values"
	case "union":
		part = "members"
	}
	if part == "" {
		return
	}
	if list := t.Detail.Lookup(part); list.Kind() != jsonv.KindArray || list.Len() == 0 {
		pr.Run.Rows.Fail("consistency.type-detail", r,
			"the detail of the %s %s has no %s", t.Kind, evidence.QuoteStart(t.Name, 60), part)
	}
}

// A row without a case either does not apply to the adapter, as its introspection
// shows, or lacks evidence that a user can provide.

// UnseenRows states why rows have no cases.
type UnseenRows struct{ Run *guard.Run }

// takesObject reports whether an operation takes an object that can be merged.
func (pr UnseenRows) takesObject() bool {
	return slices.ContainsFunc(pr.Run.Catalog.Operations, pr.Run.Catalog.TakesObject)
}

// SettleRows records why rows of MUST categories have no cases.
func (pr UnseenRows) SettleRows() {
	if len(pr.Run.Catalog.Operations) == 0 {
		return
	}
	has := func(category string) bool {
		return slices.ContainsFunc(pr.Run.Catalog.Operations, func(op *catalog.Operation) bool { return op.Category == category })
	}
	for id, needs := range map[string]string{"merge": "UPDATE", "input": "UPDATE", "deleted": "DELETE"} {
		t := pr.Run.Rows.Tests[id]
		switch {
		case t.Cases > 0 || t.NotApplicable != "":
		case !has(needs):
			t.NotApplicable = "there is no " + needs + " operation"
		case id == "merge" && pr.lacksParameters(isAny) == "" && !pr.takesObject():
			t.NotApplicable = noFreeObject
		case pr.Run.Options.Mode == guard.ModeSafe:
			t.Incomplete = "mode safe creates and changes nothing; --mode write does"
		}
	}
	pr.settleDates()
	if t := pr.Run.Rows.Tests["values"]; t.Cases == 0 && !slices.ContainsFunc(pr.Run.Catalog.Operations, pr.limitsValues) {
		if t.Incomplete = pr.lacksParameters(isAny); t.Incomplete == "" {
			t.NotApplicable = "no parameter has a type, a range or a list that a value could be outside of"
		}
	}
	lacking := pr.lacksParameters(isRead)
	for _, id := range []string{"cross-cutting", "presets", "pagination"} {
		t := pr.Run.Rows.Tests[id]
		unseen := t.Cases == 0 && (t.NotApplicable != "" || id == "cross-cutting")
		if unseen && lacking != "" {
			t.NotApplicable, t.Incomplete = "", lacking
		}
	}
}

func isAny(*catalog.Operation) bool { return true }

func isRead(op *catalog.Operation) bool { return op.Category == "READ" }

// lacksParameters says that details do not say which parameters there are, so that a row
// without a case may still apply; "" if all of the operations it is about do.
func (pr UnseenRows) lacksParameters(about func(*catalog.Operation) bool) string {
	var silent []string
	for _, op := range pr.Run.Catalog.Operations {
		if op.IsSilent() && about(op) {
			silent = append(silent, op.Name)
		}
	}
	if len(silent) == 0 {
		return ""
	}
	return "the details do not say which parameters there are: of " + evidence.JoinFirst(silent)
}

const noFreeObject = "no resource has a field that takes any object"

func (pr UnseenRows) limitsValues(op *catalog.Operation) bool {
	if pr.Run.Gate.Skipped[op.Name] != "" && len(op.Params) == 0 {
		return true
	}
	return slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool {
		return len(pr.Run.Catalog.MakeWrong(p)) > 0
	})
}

// settleDates searches the introspection for dates when no answer contained one.
func (pr UnseenRows) settleDates() {
	t := pr.Run.Rows.Tests["dates"]
	if t.Cases > 0 {
		return
	}
	var documented []string
	look := func(name, typ, format string) {
		isDateType := slices.Contains([]string{"date", "datetime", "date-time", "timestamp"}, strings.ToLower(typ))
		isDate := change.DateName().MatchString(name) || isDateType || strings.HasPrefix(format, "date")
		if isDate && !slices.Contains(documented, name) {
			documented = append(documented, name)
		}
	}
	for _, op := range pr.Run.Catalog.Operations {
		for _, p := range op.Params {
			look(p.Name, p.Type, p.Schema.Lookup("format").Text())
		}
	}
	for _, name := range evidence.ListKeys(pr.Run.Catalog.Types) {
		for _, f := range pr.Run.Catalog.Types[name].Detail.Lookup("fields").Elems() {
			look(f.Lookup("name").Text(), f.Lookup("type").Text(), f.Lookup("format").Text())
		}
	}
	if len(documented) == 0 && pr.lacksParameters(isAny) != "" {
		t.Incomplete = "no response contained a date, and " + pr.lacksParameters(isAny)
		return
	}
	if len(documented) == 0 {
		t.NotApplicable = "introspection documents no date, and no response contained one"
		return
	}
	t.Incomplete = "no response contained " + evidence.JoinFirst(documented) + ", which introspection documents; " +
		"--values selects what to read, and --mode write creates items"
}
