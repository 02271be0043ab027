package keep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/keep"
)

// In a random suite, no byte outside of the insertion changes, the list has one more test,
// and so does a second insertion.
func TestInsertIntoRandomSuites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomSuite().Draw(t, "suite")
		before := &source.File{Name: "s.yml", Data: []byte(text)}
		root, diags := source.Parse(before)
		if root == nil || diags.HasErrors() {
			t.Skip("not a suite")
		}
		items := 0
		if list := root.Get("tools"); list != nil {
			items = len(list.Items)
		}
		data := before.Data
		for n := range 2 {
			e := entry()
			e.Name = fmt.Sprintf("kept %d", n)
			edit, err := keep.Insert(&source.File{Name: "s.yml", Data: data}, e, draft.EscapePlaceholders)
			if err != nil && strings.Contains(err.Error(), "end the file with a line end first") && !strings.HasSuffix(text, "\n") {
				return
			}
			if err != nil {
				t.Fatalf("%v\n%q", err, data)
			}
			after := edit.Apply(data)
			if !slices.Equal(slices.Delete(slices.Clone(after), edit.Offset, edit.Offset+len(edit.Text)), data) {
				t.Fatalf("other bytes changed")
			}
			parsed, diags := source.Parse(&source.File{Name: "s.yml", Data: after})
			if diags.HasErrors() || len(parsed.Get("tools").Items) != items+n+1 {
				t.Fatalf("%v\n%q", diags, after)
			}
			if got := parsed.Get("tools").Items[items+n].Get("name").Text; got != e.Name {
				t.Fatalf("the last test is %q\n%q", got, after)
			}
			data = after
		}
	})
}

// randomSuite builds suites from pieces: lists in several styles, comments and blank lines
// anywhere, several line ends, with and without a line end at the end.
func randomSuite() *rapid.Generator[string] {
	item := rapid.SampledFrom([]string{
		"- name: a\n  tool: x\n", "- {name: a, tool: x}\n", "-   name: 'it''s'\n    tool: x\n", "- name: a # c\n\n  tool: x\n",
		"- name: a\n  args:\n    t: |\n      one\n      # two\n", "- name: a\n  args:\n    t: |+\n      one\n\n\n", "- name: a\n  args: {t: >-\n", "-\n  name: a\n",
		"- name: \"one\n\n    two\"\n", "- name: a\n  args: {\n    x: [1,\n    2]\n  }\n", "- &x\n  name: a\n", "- !!map\n  name: a\n",
	})
	flow := rapid.SampledFrom([]string{
		"[]", "[ ]", "[{name: a}]", "[{name: a},]", "[\n  {name: a},\n  {name: b}\n  ]", "[\n  {name: a}, # one\n  {name: b} # two\n  ]",
		"[{name: 'a]', x: \"\\\"]\"}]", "[{name: it's, x: a#b}]", "[ # none\n  ]", "&l [{name: a}]", "[{name: http://x/}]",
	})
	filler := rapid.SampledFrom([]string{"", "", "", "\n", "# comment\n", "  # deeper\n", "\n# above\n", "    # deepest\n\n"})
	other := rapid.SampledFrom([]string{"name: n\n", "hooks: {}\n", "variables:\n  a: |\n    text\n", "resources:\n  - name: r\n    uri: x:y\n", "prompts: []\n"})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "", "\ufeff", "---\n", "# head\n"}).Draw(t, "head"))
		keys := map[string]bool{}
		write := func(text string) {
			key, _, _ := strings.Cut(text, ":")
			if !keys[key] {
				keys[key] = true
				b.WriteString(text)
			}
		}
		write(other.Draw(t, "first"))
		b.WriteString(filler.Draw(t, "filler"))
		switch rapid.IntRange(0, 2).Draw(t, "list") {
		case 0:
			b.WriteString("tools: " + flow.Draw(t, "flow") + "\n")
		case 1:
			b.WriteString("tools:\n")
			indent := strings.Repeat(" ", rapid.IntRange(0, 4).Draw(t, "indent"))
			for range rapid.IntRange(1, 3).Draw(t, "items") {
				for line := range strings.Lines(item.Draw(t, "item")) {
					if line != "\n" {
						line = indent + line
					}
					b.WriteString(line)
				}
				b.WriteString(filler.Draw(t, "filler"))
			}
		}
		b.WriteString(filler.Draw(t, "filler"))
		for range rapid.IntRange(0, 2).Draw(t, "others") {
			write(other.Draw(t, "other"))
			b.WriteString(filler.Draw(t, "filler"))
		}
		b.WriteString(rapid.SampledFrom([]string{"", "", "...\n", "...\n# bye\n"}).Draw(t, "tail"))
		text := b.String()
		if rapid.Bool().Draw(t, "no line end") {
			text = strings.TrimRight(text, "\n")
		}
		return strings.ReplaceAll(text, "\n", rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"}).Draw(t, "line end"))
	})
}
