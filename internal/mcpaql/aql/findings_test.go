package aql_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// An operation that cannot be called at all is named, however many others
// fail alike.
func TestUncallableOperationsAreNamed(t *testing.T) {
	t.Parallel()
	s := shelf()
	fails := func(jsonv.Value) string { return failure("INTERNAL_ERROR", "It went wrong.") }
	for i := range 5 {
		s.ops = append(s.ops, smallOp{fmt.Sprintf("list_part_%d", i), "READ", `[{"name":"limit","type":"integer","required":false,"description":"How many."}]`, func(params jsonv.Value) string {
			if params.Len() > 0 {
				return fails(params)
			}
			return `{"items":[]}`
		}})
	}
	s.ops = append(s.ops, smallOp{"get_weather", "READ", `[]`, fails}, smallOp{"get_season", "READ", `[]`, fails})
	row := rowsByID(s.look(t, guard.Options{}))["accuracy"]
	for _, want := range []string{"get_weather cannot be called", "get_season", "[accuracy.uncallable]", "list_part_0 fails", "list_part_3, list_part_4"} {
		if !strings.Contains(row.Detail, want) {
			t.Errorf("%s is not in %s", want, row.Detail)
		}
	}
}

// What a report says of messages and parameters is true.
func TestReportedReasons(t *testing.T) {
	t.Parallel()
	texts := shelf()
	texts.answer = func(op string, args jsonv.Value, usual func() string) string {
		if op == "get_book" && args.Lookup("params", "book_id").IsAbsent() {
			return `{"success":false,"error":"Missing required parameter: book_id"}`
		}
		return ""
	}
	rows := rowsByID(texts.look(t, guard.Options{}))
	if d := rows["required"].Detail; strings.Contains(d, "does not name") || rows["required"].Result == verdict.Pass {
		t.Errorf("an error that is a text: %s: %s", rows["required"].Result, d)
	}
	for _, says := range []string{"bookId is required", "Book ID is required", "BOOK-ID: missing"} {
		spelled := shelf()
		spelled.answer = func(op string, args jsonv.Value, usual func() string) string {
			if op == "get_book" && args.Lookup("params", "book_id").IsAbsent() {
				return failure("VALIDATION_MISSING_PARAM", "%s", says)
			}
			return ""
		}
		rows := rowsByID(spelled.look(t, guard.Options{}))
		if rows["required"].Result != verdict.Pass || rows["actionable"].Result != verdict.Pass {
			t.Errorf("%s: required %s, actionable %s", says, rows["required"].Detail, rows["actionable"].Detail)
		}
	}
	bare := small{ops: []smallOp{{"list_books", "READ", `[]`, data(`[]`)}, {"get_book", "READ", bookID, data(`{}`)}}}
	bare.detail = func(op, standard string) string {
		if op == "list_books" {
			return standard
		}
		return "null"
	}
	if row := rowsByID(bare.look(t, guard.Options{}))["required"]; strings.Contains(row.Detail, "no operation has a required parameter") {
		t.Errorf("without details: %s", row.Detail)
	}
}

// Routing is looked at where operations have no details too.
func TestRoutingWithoutDetails(t *testing.T) {
	t.Parallel()
	for _, anywhere := range []bool{false, true} {
		s := shelf()
		s.tools = []string{"mcp_aql_read", "mcp_aql_create", "mcp_aql_update", "mcp_aql_delete"}
		s.detail = func(op, standard string) string { return "null" }
		if anywhere {
			s.answer = func(op string, _ jsonv.Value, _ func() string) string {
				if op == "list_books" {
					return `{"success":true,"data":{"items":[]}}`
				}
				return ""
			}
		}
		want := verdict.Pass
		if anywhere {
			want = verdict.Failed
		}
		if row := rowsByID(s.look(t, guard.Options{}))["routing"]; row.Result != want {
			t.Errorf("%v: %s: %s", anywhere, row.Result, row.Detail)
		}
	}
}

// A line that repeats a call is printed only when it has the whole call.
func TestIncompleteCallsAreNotRepeated(t *testing.T) {
	t.Parallel()
	for defect, o := range map[string]guard.Options{
		"limits-open":    {Mode: guard.ModeWrite, Stress: true},
		"confirm-reused": {Mode: guard.ModeWrite, Confirm: true},
		"leaks-sql":      {Mode: guard.ModeWrite},
	} {
		o.Dial, o.Repeat = library(t, demo.Options{Defects: []string{defect}}), "repeat-with"
		text := string(aql.Evaluate(collect(t, o), aql.Options{Level: 2, Rules: rule.Strict}).FormatText())
		if !strings.Contains(text, " [") || strings.Contains(text, "x_bytes") || strings.Contains(text, "redacted") {
			t.Errorf("%s:\n%s", defect, text)
		}
		if strings.Contains(text, "repeat: repeat-with") != (defect == "leaks-sql") {
			t.Errorf("%s: repeat lines in\n%s", defect, text)
		}
	}
}
