package aql_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
)

// A conformant adapter is not failed for what the run itself made up, or for
// what the specification leaves open.
func TestNoFalseFailures(t *testing.T) {
	t.Parallel()
	foreign := func(params jsonv.Value, refuse func(jsonv.Value) string) string {
		if why := refuse(params); why != "" {
			return why
		}
		return `{"done":true}`
	}
	busy := false
	for name, s := range map[string]small{
		"ignores the members next to params": {ops: shelf().ops, answer: func(op string, args jsonv.Value, usual func() string) string {
			for k := range args.Members() {
				if k != "operation" && k != "params" && !strings.HasPrefix(k, "_") {
					if op == "introspect" && args.Lookup("params").IsAbsent() {
						return failure("VALIDATION_MISSING_PARAM", "Missing required parameter 'query'.")
					}
					return small{ops: shelf().ops}.usual("mcp_aql", args.Without(k))
				}
			}
			return ""
		}},
		"fails now and then": {ops: shelf().ops, answer: func(op string, args jsonv.Value, usual func() string) string {
			if !busy && !args.Lookup("_meta").IsAbsent() {
				busy = true
				return failure("BUSY", "Try again.")
			}
			return ""
		}},
		"lists the members of an object": {ops: []smallOp{{"plan_work", "READ", `[{"name":"project","type":"object","required":false,"description":"The project: name (string) and owner (string), both required."}]`, func(params jsonv.Value) string {
			return foreign(params, func(p jsonv.Value) string {
				if project, given := p.Get("project"); given && project.Lookup("name").IsAbsent() {
					return failure("VALIDATION_MISSING_PARAM", "Missing required parameter 'project.name'.")
				}
				return ""
			})
		}}}},
		"asks for a token that it gave": {ops: []smallOp{{"show_plan", "READ", `[{"name":"confirmation_token","type":"string","required":false,"description":"The token of the confirmation."}]`, func(params jsonv.Value) string {
			return foreign(params, func(p jsonv.Value) string {
				if _, given := p.Get("confirmation_token"); given {
					return failure("NO_SUCH_TOKEN", "The token was never given.")
				}
				return ""
			})
		}}}},
		"counts pages": {ops: []smallOp{{"list_books", "READ", `[{"name":"page","type":"number","required":false,"description":"Which page."}]`, func(params jsonv.Value) string {
			return foreign(params, func(p jsonv.Value) string {
				if _, whole := p.Lookup("page").Int64(); !p.Lookup("page").IsAbsent() && !whole {
					return failure("BAD_PAGE", "There is no such page.")
				}
				return ""
			})
		}}}},
		"lists values in the description": {ops: []smallOp{{"list_books", "READ", `[{"name":"state","type":"string","required":false,"description":"Which books: one of lent, shelved or lost."},{"name":"order","type":"string","required":false,"description":"Sort order (asc, desc)."},{"name":"kind","type":"string","required":false,"description":"'paper' or 'audio'"},{"name":"tone","type":"string","required":false,"description":"loud | soft"}]`, func(params jsonv.Value) string {
			return foreign(params, func(p jsonv.Value) string {
				for name, allowed := range map[string]string{"state": "lent shelved lost", "order": "asc desc", "kind": "paper audio", "tone": "loud soft"} {
					if v, given := p.Get(name); given && (v.Text() == "" || !strings.Contains(" "+allowed+" ", " "+v.Text()+" ")) {
						return failure("BAD_WORD", "No such value.")
					}
				}
				return ""
			})
		}}}},
		"knows its own words only": {ops: []smallOp{{"list_books", "READ", `[{"name":"region","type":"string","required":false,"description":"The region."}]`, func(params jsonv.Value) string {
			return foreign(params, func(p jsonv.Value) string {
				if v, given := p.Get("region"); given && v.Text() != "north" {
					return failure("UNKNOWN_REGION", "The region '%s' does not exist.", v.Text())
				}
				return ""
			})
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.look(t, guard.Options{})
			for _, c := range r.Categories {
				for _, row := range c.Tests {
					if row.Result == verdict.Failed {
						t.Errorf("%s: %s", row.Name, row.Detail)
					}
				}
			}
		})
	}
}
