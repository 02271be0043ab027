package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/spec/plan"
)

// rowTemplates are the ways in which a scalar can mention a row.
var rowTemplates = []string{
	"${case.a}", "${case.b}", "x${case.a}y", "${case.a}${case.b}", "${case.a} and ${case.b}!", "$${no} ${case.a}",
	"${case.none:-dflt}", "${case.a} ${CONFIG_DIR}", "${fixed}", "plain \\\"quoted\\\"", "${case.deep.c}", "${case.a.b.c}",
	"${case.list[1]}", "é ${case.a} \\t",
}

var rowValues = []string{
	`"text"`, `""`, `"7"`, `7`, `-0.50`, `1e400`, `12345678901234567890`, `true`, `null`, `{}`, `[]`, `{"k":1,"k":[2]}`, `[1,{"x":null}]`,
	`"${case.a}"`, `"a\"b\\c"`, `"\ud83d\ude00 é \u0007"`, `"\ud800"`, `" spaced "`, `"isError"`, `{"isError":true}`,
}

// Compiling only the assertions that mention a row gives the same result as compiling all
// of them.
func TestAssertionsOfARow(t *testing.T) {
	dir := t.TempDir()
	single := 0
	rapid.Check(t, func(t *rapid.T) {
		scalar := func(what string) string { return rapid.SampledFrom(rowTemplates).Draw(t, what) }
		value := func(what string) string { return rapid.SampledFrom(rowValues).Draw(t, what) }
		call := rapid.SampledFrom([]string{
			"tools:\n  - tool: echo\n    args: %s\n", "tools:\n  - tool: some/method\n    args: %s\n",
			"prompts:\n  - prompt: p\n    args: %s\n", "protocol:\n  - method: m\n    params: %s\n",
		}).Draw(t, "call")
		args := fmt.Sprintf(`{a: "%s", 'odd "key"': [1, "%s", {b: "%s"}], n: null, f: 1.50}`, scalar("1"), scalar("2"), scalar("3"))
		matcher := rapid.SampledFrom([]string{
			`{exact: "%s"}`, `{exact: {x: "%s"}}`, `{contains: "%s"}`, `{any-of: [{exact: "%s"}, {type: number}]}`, `{not: {exact: "%s"}}`,
		}).Draw(t, "matcher")
		suiteText := "servers:\n  s: {command: [x]}\nvariables: {fixed: 5}\n" + fmt.Sprintf(call, args) +
			fmt.Sprintf("    name: \"n %s\"\n    cases: rows.jsonl\n    expect:\n      - {target: result.isError, matcher: {exact: false}}\n      - {target: text, matcher: %s}\n",
				scalar("name"), fmt.Sprintf(matcher, scalar("want")))
		var rows strings.Builder
		for i := range 3 {
			what := fmt.Sprint("row ", i)
			fmt.Fprintf(&rows, `{"id":%d,"a":%s,"b":%s,"deep":{"c":%s},"list":[1,%s]}`+"\n", i,
				value(what+"a"), value(what+"b"), value(what+"c"), value(what+"l"))
		}
		for name, text := range map[string]string{"suite.yaml": suiteText, "rows.jsonl": rows.String()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, diags := compile(dir)
		if diags.HasErrors() {
			return
		}
		single += plan.ItemsByRow(p)
		for i := range p.Len() {
			got, want := p.Case(i), plan.WholeCase(p, i)
			if g, w := summary(got), summary(want); g != w {
				t.Fatalf("%s\nrows:\n%s\nrow %d:\none by one %s\nas a whole %s", suiteText, &rows, i, g, w)
			}
		}
	})
	if single == 0 {
		t.Error("no assertion was compiled for its row alone")
	}
}

// summary describes a case, and the result of its assertions on an unrelated response.
func summary(c *plan.Case) string {
	op := c.Ops[0]
	o := &target.Observation{Result: jsonv.Object(jsonv.Member{Key: "nothing", Value: jsonv.Int(1)})}
	v := c.Tree.Evaluate(nil, o, nil) //nolint:staticcheck // no matcher here uses it
	out := fmt.Sprintf("%q %s %s %q %s %v", c.Name, op.Method, op.Params, op.Args, op.Subject, op.MaybeMethod)
	for _, it := range v.Items {
		out += fmt.Sprintf("\n  %v %s %v %s %s | %s", it.Pos.Line, it.Matcher, it.Pass, it.Expected, it.Actual, it.Message)
	}
	return out + "\n  " + v.Message
}
