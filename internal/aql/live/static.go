package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// What can be seen without calling an operation: tools, names, categories.

var supported = evidence.Pattern(`(?i)supported operations:\s*([A-Za-z0-9_,\s]+)`)

// checkTools holds the tools against MCP 2 and 6.
func (pr descriptionProbe) checkTools() {
	var none reply
	for _, t := range pr.run.catalog.tools {
		pr.run.rows.sees("tools")
		if toolName().FindString(t.name) == "" {
			pr.run.rows.breaks("tools.name", none, "%s is not named like an MCP-AQL tool", evidence.Quoted(t.name))
		}
		if !strings.Contains(strings.ToLower(t.description), "introspect") {
			pr.run.rows.breaks("tools.description", none, "the description of %s does not mention introspect", t.name)
		}
		props := t.schema.Lookup("properties")
		needed := false
		for _, r := range t.schema.Lookup("required").Elems() {
			needed = needed || r.Text() == "operation"
		}
		if t.schema.Lookup("type").Text() != "object" || props.Lookup("operation", "type").Text() != "string" || !needed || props.Lookup("params", "type").Text() != "object" {
			pr.run.rows.breaks("tools.schema", none, "the inputSchema of %s does not ask for operation (a required string) and params (an object)", t.name)
		}
		pr.checkHints(t)
		pr.hidden(t)
	}
	pr.crossCutting()
}

func (pr descriptionProbe) checkHints(t toolInfo) {
	category := ""
	for f, name := range pr.run.catalog.families {
		if name == t.name {
			category = f
		}
	}
	readOnly, destructive := t.annotations.Lookup("readOnlyHint"), t.annotations.Lookup("destructiveHint")
	wantRead := category == "READ"
	wantDestructive := category != "READ" && category != "CREATE"
	if t.name == pr.run.catalog.single {
		wantDestructive = true
	}
	if !slices.Contains(rule.SemanticCategories, category) && t.name != pr.run.catalog.single {
		return
	}
	if readOnly.Bool() != wantRead || destructive.Kind() == jsonv.KindBool && destructive.Bool() != wantDestructive || destructive.Kind() != jsonv.KindBool && category == "CREATE" {
		pr.run.rows.breaks("tools.annotations", reply{}, "the annotations of %s: expected readOnlyHint %v and destructiveHint %v", t.name, wantRead, wantDestructive)
	}
}

// hidden finds operations that a tool names and the list does not (MCP 2.1).
func (pr descriptionProbe) hidden(t toolInfo) {
	var mentioned []string
	if m := supported().FindStringSubmatch(t.description); m != nil {
		for _, name := range strings.Split(m[1], ",") {
			if name = strings.TrimSpace(name); evidence.SnakeCase().MatchString(name) {
				mentioned = append(mentioned, name)
			}
		}
	}
	for _, v := range t.schema.Lookup("properties", "operation", "enum").Elems() {
		mentioned = append(mentioned, v.Text())
	}
	for _, name := range mentioned {
		if len(pr.run.catalog.ops) > 0 && pr.run.catalog.op(name) == nil {
			pr.run.rows.breaks("consistency.hidden", reply{}, "%s names the operation %s, which is not listed", t.name, evidence.Quoted(display.Truncate(name, 60)))
		}
	}
}

// checkOperations holds names, categories and tools of the list and the
// details against each other (D 6.2, 8.5, 10.1).
func (pr descriptionProbe) checkOperations() {
	var none reply
	pr.run.rows.tests["operation-names"].lacking = "no operation is listed"
	pr.run.rows.tests["consistency"].lacking = "no operation is listed"
	for _, op := range pr.run.catalog.ops {
		pr.run.rows.sees("operation-names")
		pr.run.rows.sees("consistency")
		if !evidence.SnakeCase().MatchString(op.name) {
			pr.run.rows.breaks("operation-names.snake", none, "%s is not snake_case", evidence.Quoted(display.Truncate(op.name, 60)))
		}
		if want := reservedOperations[op.name]; want != "" && op.category != want {
			pr.run.rows.breaks("consistency.reserved", none, "%s is reserved for %s and listed as %s", op.name, want, op.category)
		}
		if op.actsByName() > 0 {
			pr.run.rows.breaks("consistency.action", none, "%s is declared READ and named like an action", op.name)
		}
		if op.detail.IsAbsent() || pr.run.bare {
			continue
		}
		for _, key := range []string{"semantic_category", "endpoint"} {
			a, b := op.info.Lookup(key).Text(), op.detail.Lookup(key).Text()
			if !strings.EqualFold(a, b) {
				pr.run.rows.breaks("consistency.category", none, "the %s of %s is %s in the list and %s in its detail", key, op.name, evidence.Quoted(display.Truncate(a, 40)), evidence.Quoted(display.Truncate(b, 40)))
			}
		}
		if tool := op.detail.Lookup("mcpTool").Text(); tool != "" && pr.run.catalog.toolNamed(tool) == nil {
			pr.run.rows.breaks("consistency.tool", none, "the detail of %s names the tool %s, which is not listed", op.name, evidence.Quoted(display.Truncate(tool, 60)))
		}
	}
	if len(pr.run.catalog.ops) > 0 && pr.run.catalog.op("introspect") == nil {
		pr.run.rows.breaks("consistency.introspect", none, "introspect is not in the list")
	}
}

var controlNames = []string{"query", "filter", "sort", "fields", "limit", "offset", "page", "page_size", "first", "after", "last", "before"}

// crossCutting compares the parameters that READ operations have in common
// (S 2.2).
func (pr descriptionProbe) crossCutting() {
	t := pr.run.rows.tests["cross-cutting"]
	shared := false
	for _, name := range controlNames {
		var first *liveParam
		var firstOp string
		for _, op := range pr.run.catalog.ops {
			p := op.param(name)
			if p == nil || op.category != "READ" || op.name == "introspect" {
				continue
			}
			if first == nil {
				first, firstOp = p, op.name
				continue
			}
			shared = true
			t.cases++
			if !strings.EqualFold(p.typ, first.typ) || p.required != first.required || !jsonv.Equal(p.v.Lookup("default"), first.v.Lookup("default")) {
				pr.run.rows.breaks("cross-cutting.alike", reply{}, "%s is described differently by %s and %s", evidence.Quoted(name), firstOp, op.name)
			}
		}
	}
	if !shared {
		t.moot = "no two READ operations have such a parameter in common"
	}
}

// descriptionProbe checks what the adapter says about itself, without calling operations.
type descriptionProbe struct {
	run *collector
}

// checkType holds a type's detail against its kind (INT 3.6).
func (pr descriptionProbe) checkType(t *namedType, r reply) {
	if !r.sent() {
		return
	}
	pr.run.rows.sees("consistency")
	part := map[string]string{"enum": "values", "union": "members"}[t.kind]
	if part == "" {
		return
	}
	if list := t.detail.Lookup(part); list.Kind() != jsonv.KindArray || list.Len() == 0 {
		pr.run.rows.breaks("consistency.type-detail", r, "the detail of the %s %s has no %s", t.kind, evidence.Quoted(display.Truncate(t.name, 60)), part)
	}
}
