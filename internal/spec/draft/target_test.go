package draft_test

import (
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/spec/draft"
)

// What is expected of a part of a result that a person chose.
func TestChosenParts(t *testing.T) {
	t.Parallel()
	structured := `{"content":[{"type":"text","text":"ok"}],"structuredContent":{"sum":5,"at":"2026-03-09T10:00:00Z","id":7,"list":[1,2],"odd key":{"a~b":true},"who":{"name":"x","age":3},"token":"s3cret-s3cret","rows":[[0],[1],[2],[3,4]]}}`
	plain := `{"content":[{"type":"text","text":"the sum is 5"}]}`
	two := `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`
	for _, c := range []struct{ result, at, text, want string }{
		{structured, "/structuredContent/sum", "", `structured.sum exact 5`},
		{structured, "/structuredContent/at", "", `structured.at length {"min":1}`},
		{structured, "/structuredContent/id", "", `structured.id type "number"`},
		{structured, "/structuredContent/list", "", `structured.list exact [1,2]`},
		{structured, "/structuredContent/rows/3", "", `structured.rows[3] length 2`},
		{structured, "/structuredContent/list/1", "", `structured.list[1] exact 2`},
		{structured, "/structuredContent/odd key/a~0b", "", `structured["odd key"]["a~b"] exact true`},
		{structured, "/structuredContent/who", "", `structured.who schema {"type":"object","required":["name","age"],"properties":{"name":{"type":"string"},"age":{"type":"number"}}}`},
		{structured, "/structuredContent/at", "2026", `structured.at contains "2026"`},
		{structured, "/structuredContent/at", "2027", ``},
		{structured, "/structuredContent/sum", "5", ``},
		{structured, "/structuredContent/token", "", `structured.token length {"min":1}`},
		{structured, "/structuredContent/token", "s3cret-s3cret", ``},
		{structured, "/structuredContent/none", "", ``},
		{structured, "/structuredContent/list/2", "", ``},
		{structured, "/structuredContent/list/x", "", ``},
		{structured, "structuredContent", "", ``},
		{structured, "/content/0/text", "", `text exact "ok"`},
		{plain, "/content/0/text", "", `text exact "the sum is 5"`},
		{plain, "/content/0/text", "sum is", `text contains "sum is"`},
		{two, "/content/1/text", "", `result.content[1].text exact "two"`},
		{`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, "/content/0/text", "such", `text contains "such"`},
	} {
		result, err := jsonv.Parse([]byte(c.result))
		if err != nil {
			t.Fatal(err)
		}
		test := &draft.Test{Block: "tools", Subject: "t", Answers: []draft.Answer{{Result: result}}}
		part := draft.Part{At: c.at, Text: c.text}
		test.Chosen = []draft.Part{part, part} // twice is once
		mask := func(s string) string {
			if s == "s3cret-s3cret" {
				return "[redacted]"
			}
			return s
		}
		su := &draft.Suite{Recorded: true, Tests: []*draft.Test{test}, Mask: mask}
		expect := su.Entry(test, "n").Expect
		got := ""
		if i := test.FindPart(expect, part); i >= 0 {
			x := expect[i]
			got = x.Target + " " + x.Matcher + " " + x.Argument.String()
		}
		testkit.Equal(t, c.at+" "+c.text, got, c.want)
		for i, x := range expect {
			for _, y := range expect[:i] {
				if x.Target == y.Target && x.Matcher == y.Matcher && jsonv.Equal(x.Argument, y.Argument) {
					t.Errorf("%s: %s %s is expected twice", c.at, x.Target, x.Matcher)
				}
			}
		}
	}
}
