package aql_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
)

// permissions is an adapter with two defects: it allows what it was instructed
// nothing about, and one operation refuses what its introspection documents.
func permissions() small {
	return small{ops: []smallOp{
		{"evaluate_permission", "READ", `[{"name":"tool_name","type":"string","required":true,"description":"Which tool."}]`, data(`{"decision":"allow"}`)},
		{"query_elements", "READ", `[{"name":"element_type","type":"string","required":true,"description":"Which kind."}]`, func(jsonv.Value) string {
			return failure("VALIDATION_MISSING_PARAM", "elementType is required.")
		}},
		{"get_status", "READ", `[]`, data(`{"status":"ready"}`)},
	}, answer: func(op string, args jsonv.Value, usual func() string) string {
		if op == "evaluate_permission" && args.Lookup("params", "tool_name").IsAbsent() && args.Lookup("params").Len() == 0 {
			return `{"success":true,"data":{"decision":"allow"}}`
		}
		return ""
	}}
}

// Parameters are read however an adapter writes them down, each deviation is
// reported once, and the real defects are found.
func TestDialectsOfDetails(t *testing.T) {
	t.Parallel()
	rewrite := func(use func(detail jsonv.Value, params []jsonv.Value) jsonv.Value) func(string, string) string {
		return func(_, standard string) string {
			d := parsed(standard)
			var params []jsonv.Value
			for _, p := range d.Lookup("parameters").Elems() {
				params = append(params, p)
			}
			return use(d, params).String()
		}
	}
	renamed := func(p jsonv.Value, key string) jsonv.Value {
		return jsonv.Object(append([]jsonv.Member{{Key: key, Value: p.Lookup("name")}}, member(p.Without("name"))...)...)
	}
	byName := func(params []jsonv.Value, value func(jsonv.Value) jsonv.Value) jsonv.Value {
		out := jsonv.Object()
		for _, p := range params {
			out = out.With(p.Lookup("name").Text(), value(p))
		}
		return out
	}
	for name, c := range map[string]struct {
		detail func(string, string) string
		says   string
	}{
		"named by element_name": {rewrite(func(d jsonv.Value, params []jsonv.Value) jsonv.Value {
			for i, p := range params {
				params[i] = renamed(p, "element_name")
			}
			return renamed(d, "element_name").With("parameters", jsonv.Array(params...))
		}), "parameters are named by element_name"},
		"under params, by name": {rewrite(func(d jsonv.Value, params []jsonv.Value) jsonv.Value {
			return d.Without("parameters").With("params", byName(params, func(p jsonv.Value) jsonv.Value { return p.Without("name") }))
		}), "parameters are under params"},
		"a JSON Schema": {rewrite(func(d jsonv.Value, params []jsonv.Value) jsonv.Value {
			var need []jsonv.Value
			for _, p := range params {
				if p.Lookup("required").Bool() {
					need = append(need, p.Lookup("name"))
				}
			}
			return d.With("parameters", jsonv.From(map[string]any{"type": "object"}).
				With("properties", byName(params, func(p jsonv.Value) jsonv.Value { return p.Without("name").Without("required") })).
				With("required", jsonv.Array(need...)))
		}), "parameters are a JSON Schema"},
		"texts": {rewrite(func(d jsonv.Value, params []jsonv.Value) jsonv.Value {
			return d.With("parameters", byName(params, func(p jsonv.Value) jsonv.Value {
				if p.Lookup("required").Bool() {
					return jsonv.String("string (required)")
				}
				return jsonv.String("string (optional)")
			}))
		}), "parameters are texts"},
		"apart": {rewrite(func(d jsonv.Value, params []jsonv.Value) jsonv.Value {
			var need, may []jsonv.Value
			for _, p := range params {
				if p.Lookup("required").Bool() {
					need = append(need, p.Without("required"))
				} else {
					may = append(may, p.Without("required"))
				}
			}
			return d.With("parameters", jsonv.ObjectOf("required", jsonv.Array(need...), "optional", jsonv.Array(may...)))
		}), "parameters are an object"},
	} {
		t.Run(name, func(t *testing.T) {
			s := permissions()
			s.detail = c.detail
			if name == "named by element_name" {
				s.list = func(standard string) string { return strings.ReplaceAll(standard, `"name":`, `"element_name":`) }
			}
			r := s.look(t, guard.Options{})
			rows := rowsByID(r)
			if n := strings.Count(rows["details"].Detail, c.says); n != 1 || rows["details"].Result != verdict.Failed || rows["extensions"].Result != verdict.Pass {
				t.Errorf("reported %d times: %s: %s\n%s", n, rows["details"].Result, rows["details"].Detail, rows["extensions"].Detail)
			}
			if got := rows["required"]; got.Result != verdict.Failed || !strings.Contains(got.Detail, `evaluate_permission without "tool_name" is not refused`) {
				t.Errorf("required is %s: %s", got.Result, got.Detail)
			}
			if got := rows["accuracy"]; got.Result != verdict.Failed || !strings.Contains(got.Detail, "query_elements has every required parameter and demands more") {
				t.Errorf("accuracy is %s: %s", got.Result, got.Detail)
			}
			if strings.Contains(string(r.FormatText()), "undefined") {
				t.Errorf("%s", r.FormatText())
			}
		})
	}
}

func member(v jsonv.Value) (out []jsonv.Member) {
	for k, e := range v.Members() {
		out = append(out, jsonv.Member{Key: k, Value: e})
	}
	return out
}

// Parameters that cannot be read are the first line of the report, and no row
// rests on them.
func TestUnreadableParameters(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{`7`, `"see the manual"`, `[7]`, `[{"label":"tool_name"}]`, `{"tool_name":7}`} {
		var called []string
		s := permissions()
		s.hears = func(args jsonv.Value) { called = append(called, args.Lookup("operation").Text()) }
		s.detail = func(op, standard string) string {
			if op != "evaluate_permission" && op != "query_elements" {
				return standard
			}
			return parsed(standard).With("parameters", parsed(parameters)).String()
		}
		r := s.look(t, guard.Options{})
		first, _, _ := strings.Cut(string(r.FormatText()), "\n")
		if want := "The parameters of 2 of 4 operations cannot be read: evaluate_permission, query_elements."; !strings.HasPrefix(first, want) {
			t.Errorf("%s: the first line is %s", parameters, first)
		}
		if !strings.Contains(string(r.FormatJSON()), `"alerts": [`) || !strings.HasPrefix(string(r.FormatMarkdown()), "The parameters of 2 of 4") {
			t.Errorf("%s: %s", parameters, r.FormatMarkdown())
		}
		rows := rowsByID(r)
		for _, id := range []string{"completeness", "required", "unknown", "snake-case", "accuracy", "values"} {
			if got := strings.Join(rows[id].Missing, " "); rows[id].Result == verdict.Failed || !strings.Contains(got, "evaluate_permission") || !strings.Contains(got, "query_elements") {
				t.Errorf("%s: %s is %s: %s", parameters, id, rows[id].Result, rows[id].Detail)
			}
		}
		if rows["details"].Result != verdict.Failed || r.ExitCode != 1 || r.ConformanceLevel != 0 {
			t.Errorf("%s: details are %s, exit %d", parameters, rows["details"].Result, r.ExitCode)
		}
		for _, op := range called {
			if op == "evaluate_permission" || op == "query_elements" {
				t.Errorf("%s: %s was called", parameters, op)
			}
		}
	}
}

// Operation lists are read in other shapes too.
func TestDialectsOfLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list func(string) string
		says string
	}{
		"grouped by endpoint": {func(standard string) string {
			return `[{"endpoint":"READ","operations":` + strings.ReplaceAll(standard, `"semantic_category":"READ","endpoint":"READ",`, "") + `}]`
		}, "operations are grouped"},
		"an object of lists": {func(standard string) string { return `{"READ":` + standard + `}` }, "operations are grouped"},
		"names only":         {func(string) string { return `["introspect","evaluate_permission","query_elements","get_status"]` }, "operations are texts"},
	} {
		s := permissions()
		s.list = c.list
		rows := rowsByID(s.look(t, guard.Options{}))
		if n := strings.Count(rows["operations"].Detail, c.says); n != 1 || rows["operations"].Result != verdict.Failed {
			t.Errorf("%s: reported %d times: %s: %s", name, n, rows["operations"].Result, rows["operations"].Detail)
		}
		if rows["details"].Result != verdict.Pass || !strings.Contains(rows["required"].Detail, "evaluate_permission") || rows["required"].Result != verdict.Failed {
			t.Errorf("%s: details: %s; required: %s", name, rows["details"].Detail, rows["required"].Detail)
		}
	}
}
