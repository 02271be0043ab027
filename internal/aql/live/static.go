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
func (c *collector) checkTools() {
	var none reply
	for _, t := range c.tools {
		c.sees("tools")
		if toolName().FindString(t.name) == "" {
			c.breaks("tools.name", none, "%s is not named like an MCP-AQL tool", evidence.Quoted(t.name))
		}
		if !strings.Contains(strings.ToLower(t.description), "introspect") {
			c.breaks("tools.description", none, "the description of %s does not mention introspect", t.name)
		}
		props := t.schema.Lookup("properties")
		needed := false
		for _, r := range t.schema.Lookup("required").Elems() {
			needed = needed || r.Text() == "operation"
		}
		if t.schema.Lookup("type").Text() != "object" || props.Lookup("operation", "type").Text() != "string" || !needed || props.Lookup("params", "type").Text() != "object" {
			c.breaks("tools.schema", none, "the inputSchema of %s does not ask for operation (a required string) and params (an object)", t.name)
		}
		c.checkHints(t)
		c.hidden(t)
	}
	c.crossCutting()
}

func (c *collector) checkHints(t toolInfo) {
	category := ""
	for f, name := range c.families {
		if name == t.name {
			category = f
		}
	}
	readOnly, destructive := t.annotations.Lookup("readOnlyHint"), t.annotations.Lookup("destructiveHint")
	wantRead := category == "READ"
	wantDestructive := category != "READ" && category != "CREATE"
	if t.name == c.single {
		wantDestructive = true
	}
	if !slices.Contains(rule.SemanticCategories, category) && t.name != c.single {
		return
	}
	if readOnly.Bool() != wantRead || destructive.Kind() == jsonv.KindBool && destructive.Bool() != wantDestructive || destructive.Kind() != jsonv.KindBool && category == "CREATE" {
		c.breaks("tools.annotations", reply{}, "the annotations of %s: expected readOnlyHint %v and destructiveHint %v", t.name, wantRead, wantDestructive)
	}
}

// hidden finds operations that a tool names and the list does not (MCP 2.1).
func (c *collector) hidden(t toolInfo) {
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
		if len(c.ops) > 0 && c.op(name) == nil {
			c.breaks("consistency.hidden", reply{}, "%s names the operation %s, which is not listed", t.name, evidence.Quoted(display.Truncate(name, 60)))
		}
	}
}

var reservedOperations = map[string]string{
	"introspect": "READ", "execute_agent": "EXECUTE", "complete_execution": "EXECUTE", "abort_execution": "EXECUTE",
	"confirm_operation": "EXECUTE", "record_execution_step": "CREATE", "verify_challenge": "CREATE",
}

// checkOperations holds names, categories and tools of the list and the
// details against each other (D 6.2, 8.5, 10.1).
func (c *collector) checkOperations() {
	var none reply
	c.tests["operation-names"].lacking = "no operation is listed"
	c.tests["consistency"].lacking = "no operation is listed"
	for _, op := range c.ops {
		c.sees("operation-names")
		c.sees("consistency")
		if !evidence.SnakeCase().MatchString(op.name) {
			c.breaks("operation-names.snake", none, "%s is not snake_case", evidence.Quoted(display.Truncate(op.name, 60)))
		}
		if want := reservedOperations[op.name]; want != "" && op.category != want {
			c.breaks("consistency.reserved", none, "%s is reserved for %s and listed as %s", op.name, want, op.category)
		}
		if op.actsByName() > 0 {
			c.breaks("consistency.action", none, "%s is declared READ and named like an action", op.name)
		}
		if op.detail.IsAbsent() || c.bare {
			continue
		}
		for _, key := range []string{"semantic_category", "endpoint"} {
			a, b := op.info.Lookup(key).Text(), op.detail.Lookup(key).Text()
			if !strings.EqualFold(a, b) {
				c.breaks("consistency.category", none, "the %s of %s is %s in the list and %s in its detail", key, op.name, evidence.Quoted(display.Truncate(a, 40)), evidence.Quoted(display.Truncate(b, 40)))
			}
		}
		if tool := op.detail.Lookup("mcpTool").Text(); tool != "" && c.toolNamed(tool) == nil {
			c.breaks("consistency.tool", none, "the detail of %s names the tool %s, which is not listed", op.name, evidence.Quoted(display.Truncate(tool, 60)))
		}
	}
	if len(c.ops) > 0 && c.op("introspect") == nil {
		c.breaks("consistency.introspect", none, "introspect is not in the list")
	}
}

var controlNames = []string{"query", "filter", "sort", "fields", "limit", "offset", "page", "page_size", "first", "after", "last", "before"}

// crossCutting compares the parameters that READ operations have in common
// (S 2.2).
func (c *collector) crossCutting() {
	t := c.tests["cross-cutting"]
	shared := false
	for _, name := range controlNames {
		var first *liveParam
		var firstOp string
		for _, op := range c.ops {
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
				c.breaks("cross-cutting.alike", reply{}, "%s is described differently by %s and %s", evidence.Quoted(name), firstOp, op.name)
			}
		}
	}
	if !shared {
		t.moot = "no two READ operations have such a parameter in common"
	}
}
