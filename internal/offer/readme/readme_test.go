package readme_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/readme"
	"mcptest/internal/offer/surface"
)

func offers(t *testing.T, tools string) *surface.Surface {
	t.Helper()
	v, err := jsonv.Parse([]byte(tools))
	if err != nil {
		t.Fatal(err)
	}
	var list []jsonv.Value
	for _, e := range v.Elems() {
		list = append(list, e)
	}
	return surface.New("api", jsonv.Value{}, map[surface.Kind][]jsonv.Value{surface.Tool: list}, nil, nil)
}

func TestTable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ tools, want string }{
		"none": {`[]`, "The server has no tools.\n"},
		"sorted by name": {
			`[{"name":"b","description":"B"},{"name":"a","title":"A"}]`,
			"| Tool | Description | Arguments |\n| --- | --- | --- |\n| `a` | A | |\n| `b` | B | |\n",
		},
		"required arguments first": {
			`[{"name":"t","description":"x","inputSchema":{"properties":{"a":{},"b":{},"c":{}},"required":["c","b"]}}]`,
			"| `t` | x | **`b`**, **`c`**, `a` |\n",
		},
		"first paragraph": {
			`[{"name":"t","description":"Makes\r\n  a thing.\r\n\r\nUse it well."}]`,
			"| `t` | Makes a thing. | |\n",
		},
		"hints": {
			`[{"name":"t","description":"x","annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":true,"idempotentHint":"yes"}}]`,
			"| Tool | Description | Arguments | Hints |\n| --- | --- | --- | --- |\n| `t` | x | | not destructive, open world |\n",
		},
		"escaped": {
			"[{\"name\":\"a|`b\",\"description\":\"<b>x</b> | *y* @me [z](https://x.example) `c`\\u202e\"}]",
			"| `` a\\|`b `` | &lt;b>x&lt;/b> \\| \\*y\\* &#64;me \\[z\\](https:&#47;&#47;x.example) \\`c\\`\\\\u202e | |\n",
		},
	} {
		if got := readme.FormatTable(offers(t, tc.tools)); !strings.HasSuffix(got, tc.want) {
			t.Errorf("%s:\n%s\nexpected\n%s", name, got, tc.want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const open, end = "<!-- mcptest:tools -->\n", "<!-- /mcptest:tools -->\n"
	for name, tc := range map[string]struct{ text, want string }{
		"in place":     {"# T\n" + open + "old\n" + end + "rest", "# T\n" + open + "\nNEW\n\n" + end + "rest"},
		"no line feed": {open + strings.TrimSuffix(end, "\n"), open + "\nNEW\n\n" + strings.TrimSuffix(end, "\n")},
		"CRLF": {
			"\xef\xbb\xbf" + strings.ReplaceAll(open+"old\n"+end, "\n", "\r\n") + "x\n",
			"\xef\xbb\xbf" + strings.ReplaceAll(open+"\nNEW\n\n"+end, "\n", "\r\n") + "x\n",
		},
		"named": {
			open + end + "<!-- mcptest:tools server=api -->\n" + end,
			open + end + "<!-- mcptest:tools server=api -->\n\nNEW\n\n" + end,
		},
		"quoted":          {"<!--mcptest:tools server=\"api\"-->\n" + end, "<!--mcptest:tools server=\"api\"-->\n\nNEW\n\n" + end},
		"example in code": {"````md\n" + open + "```\n" + end + "````\n" + open + end, "````md\n" + open + "```\n" + end + "````\n" + open + "\nNEW\n\n" + end},
		"none":            {"# T\n", "f.md: error: no markers for the table of tools"},
		"of others":       {"\n<!-- mcptest:tools server=apis -->\n" + end, `f.md:2:1: error: no markers for the table of the server "api"`},
		"twice":           {open + end + open + end, "f.md:3:1: error: these are the second markers for the table: the first ones begin in line 1"},
		"nested":          {open + "x\n" + open + end, "f.md:3:1: error: this table begins inside the one of line 1: <!-- /mcptest:tools --> is missing before it"},
		"no end":          {"x\n" + open, "f.md:2:1: error: this table has no end: <!-- /mcptest:tools --> is missing after it"},
		"no beginning":    {"x\n" + end, "f.md:2:1: error: this marker ends a table that has no beginning: <!-- mcptest:tools --> is missing before it"},
		"attribute":       {"<!-- mcptest:tools srv=1 -->\n" + end, "f.md:1:1: error: this marker can't be read: "},
	} {
		f := &source.File{Name: "f.md", Data: []byte(tc.text)}
		b, diags := readme.Find(f, "api")
		if diags.HasErrors() {
			if got := diags[0].String(); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s: %s\nexpected %s", name, got, tc.want)
			}
			continue
		}
		got := string(b.With("NEW\n"))
		if got != tc.want {
			t.Errorf("%s: %q\nexpected %q", name, got, tc.want)
			continue
		}
		again, _ := readme.Find(&source.File{Name: "f.md", Data: []byte(got)}, "api")
		if string(again.With("NEW\n")) != got {
			t.Errorf("%s: the second update changes the file again: %q", name, again.With("NEW\n"))
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	const open, end = "<!-- mcptest:tools -->\r\n", "<!-- /mcptest:tools -->\r\n"
	for _, tc := range []struct{ had, has, want string }{
		{"a\r\nb\r\n", "b\nc\n", "-a\n+c\n"},
		{"b\r\na\r\n", "a\nb\n", "the order of the lines, or blank lines, differ\n"},
	} {
		b, diags := readme.Find(&source.File{Name: "f.md", Data: []byte(open + tc.had + end)}, "")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := b.Diff(tc.has); got != tc.want {
			t.Errorf("%q", got)
		}
	}
}
