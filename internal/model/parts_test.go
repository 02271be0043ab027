package model_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/model"
)

// What changed is named, in both forms, and the recorded request that is most like the one
// that was sent is the one it is compared with.
func TestDifference(t *testing.T) {
	t.Parallel()
	for _, api := range []string{model.OpenAI, model.Anthropic} {
		// conversation returns the requests of a conversation, one after each turn.
		conversation := func(change func(system *string, turns []model.Message, tools *[]model.Tool)) (out []jsonv.Value) {
			args, _ := jsonv.Parse([]byte(`{"number":42}`))
			system := "You maintain repositories."
			turns := []model.Message{
				{Role: "user", Text: "Show me the newest open issue of acme/web, and say what it is about."},
				{Role: "assistant", Calls: []model.Call{{ID: "a", Name: "search", Arguments: args}, {ID: "b", Name: "me", Arguments: args}}},
				{Role: "tool", ID: "a", Text: "#42"},
				{Role: "tool", ID: "b", Text: "ada"},
				{Role: "assistant", Text: "I read it.", Calls: []model.Call{{ID: "c", Name: "read", Arguments: args}}},
				{Role: "tool", ID: "c", Text: "The kettle leaks since Tuesday."},
			}
			tools := []model.Tool{{Name: "search", Description: "finds issues", Schema: jsonv.ObjectOf("type", "object")}, {Name: "me", Schema: jsonv.ObjectOf("type", "object")}}
			change(&system, turns, &tools)
			c, e := serve(t, model.Options{API: api}, func(_ int, w http.ResponseWriter, _ jsonv.Value) {
				if _, err := w.Write([]byte(`{"content":[],"choices":[{"message":{"content":"x"}}]}`)); err != nil {
					t.Error(err)
				}
			})
			for _, n := range []int{1, 4, 6} {
				if _, err := c.Answer(context.Background(), system, turns[:n], tools); err != nil {
					t.Fatal(err)
				}
			}
			return e.bodies
		}
		recorded := conversation(func(*string, []model.Message, *[]model.Tool) {})
		for _, c := range []struct {
			want   string
			at     int // the request that differs
			change func(system *string, turns []model.Message, tools *[]model.Tool)
		}{
			{"", 2, func(*string, []model.Message, *[]model.Tool) {}},
			{`the system prompt changed: "You are terse.", recorded: "You maintain`, 0, func(s *string, _ []model.Message, _ *[]model.Tool) { *s = "You are terse." }},
			{`the system prompt changed: `, 2, func(s *string, _ []model.Message, _ *[]model.Tool) { *s = "" }},
			{`the prompt changed: "… issue of acme/web, or say what it is about.", recorded: "… issue of acme/web, and say what`, 0, func(_ *string, turns []model.Message, _ *[]model.Tool) {
				turns[0].Text = strings.Replace(turns[0].Text, "and", "or", 1)
			}},
			{`the definition of the tool search changed at description: "lists issues", recorded: "finds issues"`, 1, func(_ *string, _ []model.Message, tools *[]model.Tool) { (*tools)[0].Description = "lists issues" }},
			{`the definition of the tool extra changed: {`, 0, func(_ *string, _ []model.Message, tools *[]model.Tool) {
				*tools = append(*tools, model.Tool{Name: "extra", Schema: jsonv.ObjectOf("type", "object")})
			}},
			{`the list of tools changed at [1]: absent, recorded: "me"`, 0, func(_ *string, _ []model.Message, tools *[]model.Tool) { *tools = (*tools)[:1] }},
			{`the result of call 2 changed: "bob", recorded: "ada"`, 1, func(_ *string, turns []model.Message, _ *[]model.Tool) { turns[3].Text = "bob" }},
			{`the result of call 3 changed: "… kettle leaks since Monday.", recorded: "… kettle leaks since Tuesday."`, 2, func(_ *string, turns []model.Message, _ *[]model.Tool) {
				turns[5].Text = "The kettle leaks since Monday."
			}},
			{`answer 1 of the model changed`, 1, func(_ *string, turns []model.Message, _ *[]model.Tool) { turns[1].Calls = turns[1].Calls[:1] }},
		} {
			if got := model.Difference(conversation(c.change)[c.at], recorded); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%s: got %s\nwant %s", api, got, c.want)
			}
		}
	}
	odd, _ := jsonv.Parse([]byte(`{"messages":[1,{"role":"user","content":null},{"role":"tool"},{"role":"user","content":[2,{}]}],"tools":[3],"system":[]}`))
	for _, v := range []jsonv.Value{{}, jsonv.Null(), odd} {
		for _, r := range []jsonv.Value{{}, odd} {
			_ = model.Difference(v, []jsonv.Value{r}) // does not panic
		}
	}
}

// Only what tools returned is replaced.
func TestWithResults(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`,
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"<r>"}]}`,
		},
		{
			`{"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{"content":"c"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r","is_error":true}]}]}`,
			`{"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{"content":"c"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"<r>","is_error":true}]}]}`,
		},
	} {
		body, err := jsonv.Parse([]byte(c[0]))
		if err != nil {
			t.Fatal(err)
		}
		if got := model.WithResults(body, func(s string) string { return "<" + s + ">" }).String(); got != c[1] {
			t.Errorf("got  %s\nwant %s", got, c[1])
		}
	}
}
