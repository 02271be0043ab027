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
	Pos              source.Pos
	entryKeys        `yaml:",inline"`
	compat.CheckKeys `yaml:",inline"`
}

func (e *checkEntry) action() Action { return Offer{} }

func (e *checkEntry) common() Common {
	c := e.entryKeys.common("check")
	if e.Name == "" && len(e.For) > 0 {
		c.Name += " for " + strings.Join(e.For, ", ")
	}
	if e.Name == "" && len(e.Only) > 0 {
		c.Name += " (" + strings.Join(e.Only, ", ") + ")"
	}
	return c
}

// expectations returns an assertion with the matcher check, whose argument are the
// other keys of the entry.
func (e *checkEntry) expectations(n *source.Node, _ string, _ *source.Decoder) *source.Node {
	choice := newMapping(n.Pos)
	common := func(f source.Field) bool {
		return slices.Contains([]string{"name", "server", "tags", "skip", "expect_failure"}, f.Key.Text)
	}
	choice.Fields = slices.DeleteFunc(slices.Clone(n.Fields), common)
	return &source.Node{Pos: n.Pos, Kind: source.KindList, Items: []*source.Node{offers("check", choice)}}
}
