package suite

import (
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/offer/compat"
)

// checkEntry is one entry of `check:`: a test without a call that applies the
// matcher check to the target surface.
type checkEntry struct {
	Pos source.Pos
	// The test's name; "check of" the server, the clients and the groups when left out.
	Name string `yaml:"name" example:"clients accept it" schema:"minLength: 1"`
	// The server, a pattern such as api@*, or a list: the test runs once on each.
	Server           Names `yaml:"server" example:"api@*"`
	compat.CheckKeys `yaml:",inline"`
	// Words to select tests by.
	Tags []string `yaml:"tags" example:"[slow]"`
	// The reason why this test is not run.
	Skip *Reason `yaml:"skip" example:"waits for the next release"`
}

// checkTest converts an entry of check: to a test.
func checkTest(t *Test, n *source.Node, d *source.Decoder) {
	e, before := checkEntry{}, d.Count()
	d.Decode(n, t.Path, &e)
	t.Name, t.Server, t.Tags, t.Skip = e.Name, e.Server, e.Tags, e.Skip
	if t.Name == "" {
		t.Name = "check"
		if len(e.Server.Items) == 1 {
			t.Name += " of " + e.Server.Items[0].Text
		}
		if len(e.For) > 0 {
			t.Name += " for " + strings.Join(e.For, ", ")
		}
		if len(e.Only) > 0 {
			t.Name += " (" + strings.Join(e.Only, ", ") + ")"
		}
	}
	checkTags(n, t.Path, t.Tags, d)
	if d.Count() > before {
		return // the matcher would find the same mistakes
	}
	word := func(text string) *source.Node { return &source.Node{Pos: n.Pos, Kind: source.KindString, Text: text} }
	choice := mapping(n.Pos)
	for _, f := range n.Fields {
		if !slices.Contains([]string{"name", "server", "tags", "skip"}, f.Key.Text) {
			choice.Fields = append(choice.Fields, f)
		}
	}
	t.Expect = &source.Node{Pos: n.Pos, Kind: source.KindList, Items: []*source.Node{
		mapping(n.Pos, word("target"), word("surface"), word("matcher"), mapping(n.Pos, word("check"), choice)),
	}}
}
