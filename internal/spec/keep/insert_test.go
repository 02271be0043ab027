package keep_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/keep"
)

func entry() draft.Entry {
	return draft.Entry{
		Block: "tools", Name: "kept", Subject: [2]string{"tool", "echo"}, ArgsKey: "args", Args: jsonv.ObjectOf("text", "a: b"),
		Expect: []draft.Expectation{
			{Target: "text", Matcher: "exact", Argument: jsonv.String("it's ${x}")},
			{Target: "structured.at", Matcher: "length", Argument: jsonv.ObjectOf("min", 1), Note: "it changes"},
		},
	}
}

const (
	inBlock = "- name: kept\n  tool: echo\n  args: {text: \"a: b\"}\n  expect:\n    - {target: text, matcher: {exact: \"it's $${x}\"}}\n" +
		"    # review: it changes\n    - {target: structured.at, matcher: {length: {min: 1}}}\n"
	inFlow = `{name: kept, tool: echo, args: {text: "a: b"}, expect: [{target: text, matcher: {exact: "it's $${x}"}}, {target: structured.at, matcher: {length: {min: 1}}}]}`
	inJSON = `{"name": "kept", "tool": "echo", "args": {"text": "a: b"}, "expect": [{"target": "text", "matcher": {"exact": "it's $${x}"}}, {"target": "structured.at", "matcher": {"length": {"min": 1}}}]}`
)

// indented returns the test in block style with an indentation.
func indented(n int) string {
	var b strings.Builder
	for line := range strings.Lines(inBlock) {
		b.WriteString(strings.Repeat(" ", n) + line)
	}
	return b.String()
}

const servers = "servers:\n  s: {command: [x]}\n"

// Each suite has the mark ‸ where the text is expected.
func TestInsert(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for name, c := range map[string]struct{ suite, text string }{
		"block":                        {servers + "tools:\n  - name: a\n    tool: x\n‸", indented(2)},
		"no line end at the end":       {servers + "tools:\n  - name: a\n    tool: x‸", "\n" + strings.TrimSuffix(indented(2), "\n")},
		"dashes at the margin":         {servers + "tools:\n- name: a\n  tool: x\n‸", inBlock},
		"another list follows":         {servers + "tools:\n  - name: a\n    tool: x\n‸\n# About resources.\nresources:\n  - name: r\n    uri: x:y\n", indented(2)},
		"another key follows at once":  {servers + "tools:\n  - name: a\n    tool: x\n‸hooks: {}\n", indented(2)},
		"a comment of the item":        {servers + "tools:\n  - name: a\n    tool: x\n    # expect: []\n‸\n# end\n", indented(2)},
		"a comment of the list":        {servers + "tools:\n  - name: a\n    tool: x\n‸  # - name: b\n", indented(2)},
		"a comment in the item":        {servers + "tools:\n  - name: a\n# here\n    tool: x\n‸", indented(2)},
		"a text of several lines":      {servers + "tools:\n  - name: a\n    args:\n      t: |\n        one\n\n        # two\n‸\nname: n\n", indented(2)},
		"a text that keeps its end":    {servers + "tools:\n  - name: a\n    args:\n      t: |+\n        one\n\n‸name: n\n", indented(2)},
		"a folded text":                {servers + "tools:\n  - name: a\n    args:\n      t: >-\n        one\n\n        two\n‸", indented(2)},
		"a quoted text over lines":     {servers + "tools:\n  - name: a\n    args: {t: \"one\n\n      # two\"}\n‸", indented(2)},
		"the document ends":            {servers + "tools:\n  - name: a\n    tool: x\n‸...\n", indented(2)},
		"the document begins and ends": {"---\n" + servers + "tools:\n  - name: a\n    tool: x\n‸...\n# bye\n", indented(2)},
		"an item under its dash":       {servers + "tools:\n  -\n    name: a\n    tool: x\n‸", indented(2)},
		"an item with an anchor":       {servers + "tools:\n  - &a\n    name: a\n    tool: x\n‸", indented(2)},
		"a list with an anchor":        {servers + "tools: &l\n  - name: a\n    tool: x\n‸", indented(2)},
		"the last item is an alias":    {servers + "tools:\n  - &a {name: a, tool: x}\n  - *a\n‸name: n\n", indented(2)},
		"a merge in the last item":     {servers + "tools:\n  - &a {name: a, tool: x}\n  - <<: *a\n    name: b\n‸", indented(2)},
		"a quoted key":                 {servers + "\"tools\":\n  - name: a\n    tool: x\n‸", indented(2)},
		"an explicit key":              {servers + "? tools\n:\n  - name: a\n    tool: x\n‸", indented(2)},
		"an indicator of indentation":  {servers + "tools:\n  - name: a\n    args:\n      t: |2\n          x\n‸", indented(2)},
		"a tagged empty list":          {servers + "tools: !!seq [‸ ]\n", inFlow},
		"deep indentation":             {servers + "tools:\n      -   name: a\n          tool: x\n‸", indented(6)},
		"carriage returns":             {crlf(servers + "tools:\n  - name: a\n    tool: x\n‸name: n\n"), crlf(indented(2))},
		"a byte order mark":            {"\ufeff" + servers + "tools:\n  - name: a\n    tool: x\n‸", indented(2)},
		"blank lines between":          {servers + "tools:\n  - name: a\n    tool: x\n\n  - name: b\n    tool: x\n‸\nname: n\n", "\n" + indented(2)},
		"tabs in texts":                {servers + "tools:\n  - name: \"a\tb\"\n    tool: x # \t\n‸", indented(2)},
		"no list":                      {servers + "‸", "\ntools:\n" + indented(2)},
		"no list, no line end":         {"servers: {s: {command: [x]}}‸", "\n\ntools:\n" + strings.TrimSuffix(indented(2), "\n")},
		"no list, a comment":           {servers + "# the end\n‸", "\ntools:\n" + indented(2)},
		"no list, the document ends":   {servers + "‸...\n", "\ntools:\n" + indented(2)},
		"no list, an indented suite":   {"  servers:\n    s: {command: [x]}\n‸", "\n  tools:\n" + indented(4)},
		"an empty list":                {servers + "tools: [‸]\n", inFlow},
		"an empty list with a comment": {servers + "tools: [‸ # none yet\n  ]\nname: n\n", inFlow},
		"flow style":                   {servers + "tools: [{name: a, tool: \"]\"}‸]\nname: n\n", ", " + inFlow},
		"flow style over lines":        {servers + "tools: [\n  {name: a, tool: x}‸\n]\n", ",\n  " + inFlow},
		"flow style, a last comma":     {servers + "tools: [{name: 'it''s ]', tool: x},‸]\n", " " + inFlow + ","},
		"flow style, lines and comma":  {servers + "tools: [\n  {name: a, tool: x},‸ # a\n]\n", "\n  " + inFlow + ","},
		"flow style, quotes inside":    {servers + "tools: [{name: it's \"so, tool: x}‸ ]\n", ", " + inFlow},
		"flow style, comment behind":   {servers + "tools: [\n  {name: a, tool: x} # the ] first‸\n]\n", "\n  , " + inFlow},
		"flow style with an anchor":    {servers + "tools: &l [{name: a, tool: !!str x}‸]\n", ", " + inFlow},
		"a suite in flow style":        {"{servers: {s: {command: [x]}}, tools: [{name: a, tool: x}‸]}\n", ", " + inFlow},
		"a flow suite without a list":  {"{servers: {s: {command: [x]}}‸}\n", ", tools: [" + inFlow + "]"},
		"JSON":                         {`{"servers": {"s": {"command": ["x"]}}, "tools": [{"name": "a", "tool": "x"}‸]}`, ", " + inJSON},
		"JSON, empty":                  {`{"servers": {"s": {"command": ["x"]}}, "tools": [‸]}`, inJSON},
		"JSON without a list":          {`{"servers": {"s": {"command": ["x"]}}‸}`, `, "tools": [` + inJSON + "]"},
		"JSON that YAML does not read": {`{"name": "\ud83d\ude00", "tools": [{"name": "a", "tool": "x"}‸]}`, ", " + inJSON},
		"JSON over lines":              {"{\n\t\"tools\": [\n\t\t{\"name\": \"a\", \"tool\": \"x\"}‸\n\t]\n}\n", ",\n\t\t" + inJSON},
		"JSON with an item over lines": {"{\n  \"tools\": [\n    {\n      \"name\": \"a\"\n    }‸\n  ]\n}\n", ",\n    " + overLines("    ", "  ")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := []byte(strings.Replace(c.suite, "‸", "", 1))
			want := strings.Replace(c.suite, "‸", c.text, 1)
			edit, err := keep.Insert(&source.File{Name: "s.yml", Data: before}, entry(), draft.EscapePlaceholders)
			if err != nil {
				t.Fatalf("%v\n%s", err, before)
			}
			if got := string(edit.Apply(before)); got != want {
				t.Errorf("got:\n%q\nwant:\n%q", got, want)
			}
		})
	}
}

// overLines is the test as JSON with a line for each member.
func overLines(indent, unit string) string {
	members := []string{`"name": "kept"`, `"tool": "echo"`, `"args": {"text": "a: b"}`, inJSON[strings.Index(inJSON, `"expect"`) : len(inJSON)-1]}
	return "{\n" + indent + unit + strings.Join(members, ",\n"+indent+unit) + "\n" + indent + "}"
}

// A list that is not written in its place is refused, and so is what is not a suite.
func TestInsertRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"an alias":      {"variables: {}\nresources: &l [{name: r, uri: x}]\ntools: *l\n", "alias"},
		"a merge key":   {"x-base: &b {tools: [{name: a, tool: x}]}\n<<: *b\nname: n\n", "merge key"},
		"no list":       {"tools: 5\n", "not a list"},
		"nothing":       {"tools:\nname: n\n", "not a list"},
		"not YAML":      {"tools: [\n", "not a valid suite"},
		"an empty file": {"", "not a valid suite"},
		"a list":        {"- a\n", "not a valid suite"},
	} {
		_, err := keep.Insert(&source.File{Name: "s.yml", Data: []byte(c[0])}, entry(), draft.EscapePlaceholders)
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}

// Any arguments can be written, in each style.
func TestInsertWritesAnyValue(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		`{"a": 1.0}`, `{"a": 1e5}`, `{"a": 1E+5}`, `{"a": -0}`, `{"a": -0.0}`, `{"a": 12345678901234567890}`, `{"a": 1e400}`, `{"a": 0.1}`, `{"a": 100}`,
		`{"a": "\u2028 \u0007 \ud83d\ude00 \ufeff"}`, `{"a: b": 1}`, `{"": 1}`, `{"#": 1}`, `{"<<": {"b": 1}}`, `{"true": true}`, `{"a": "yes"}`, `{"a": "012"}`,
		`{"a": null}`, `{"a": []}`, `{"a": {}}`, `{"a": "- x"}`, `{"a": "x: y"}`, `{"a": "x #y"}`, `{"a": "'"}`, `{"a": "\""}`, `{"a": "\\"}`, `{"a": "x\ny\n"}`,
		`{"a": " x "}`, `{"a": "*x"}`, `{"a": "&x"}`, `{"a": "!x"}`, `{"a": "%x"}`, `{"a": "@x"}`, `{"a": "[x"}`, `{"a": "{x"}`, `{"a": "2026-11-29"}`, `{"a": "0x1f"}`,
		`{"a": "1_000"}`, `{"a": "${x}"}`, `{"a": ".inf"}`, `{"a": "~"}`, `{"a": ""}`, `{"a": [[1, [2]], {"b": [null]}]}`,
	} {
		v, err := jsonv.Parse([]byte(args))
		if err != nil {
			t.Fatal(err)
		}
		for _, suite := range []string{servers + "tools:\n  - name: a\n", servers + "tools: [{name: a}]\n", `{"tools": [{"name": "a"}]}`} {
			e := entry()
			e.Args = v
			if _, err := keep.Insert(&source.File{Name: "s.yml", Data: []byte(suite)}, e, draft.EscapePlaceholders); err != nil {
				t.Errorf("%s: %v", args, err)
			}
		}
	}
}
