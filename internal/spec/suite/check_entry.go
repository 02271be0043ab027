package suite

import (
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/offer/compat"
)

// checkEntry is one entry of `check`: a test without a call, which predicts what
// `mcptest check` predicts.
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
	// Why the test is expected to fail. A failure then counts as skipped, and the test fails if it passes.
	ExpectFailure string `yaml:"expect_failure" example:"the search ignores accents" schema:"pattern: '\\S'"`
}

func (e *checkEntry) action() Action { return Offer{} }

func (e *checkEntry) common() Common {
	name := e.Name
	if name == "" {
		name = "check" + of(e.Server)
		if len(e.For) > 0 {
			name += " for " + strings.Join(e.For, ", ")
		}
		if len(e.Only) > 0 {
			name += " (" + strings.Join(e.Only, ", ") + ")"
		}
	}
	return Common{Name: name, Server: e.Server, Tags: e.Tags, Skip: e.Skip, TestKeys: TestKeys{ExpectFailure: e.ExpectFailure}}
}

// expectations returns an assertion with the matcher check, whose argument are the
// other keys of the entry.
func (e *checkEntry) expectations(n *source.Node, _ string, _ *source.Decoder) *source.Node {
	choice := mapping(n.Pos)
	for _, f := range n.Fields {
		if !slices.Contains([]string{"name", "server", "tags", "skip", "expect_failure"}, f.Key.Text) {
			choice.Fields = append(choice.Fields, f)
		}
	}
	return &source.Node{Pos: n.Pos, Kind: source.KindList, Items: []*source.Node{offers("check", choice)}}
}
