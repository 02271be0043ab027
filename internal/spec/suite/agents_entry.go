package suite

import (
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
)

// agentsEntry is one entry of `agents`: a conversation of a model with the tools.
type agentsEntry struct {
	Pos        source.Pos
	Common     `yaml:",inline"`
	agent.Keys `yaml:",inline"`
	// Steps after the conversation, in the same session: they examine its effect.
	Then []*FlowStep `yaml:"then"`

	does agent.Conversation
}

// agentTimeout is the default of timeout: several answers of a model, and calls.
const agentTimeout = 5 * time.Minute

func (e *agentsEntry) common() Common {
	c, limit := e.Common, agentTimeout
	if c.Timeout == nil {
		c.Timeout = &limit
	}
	return c
}

func (e *agentsEntry) action() Action { return &e.does }

var _ stepLister = (*agentsEntry)(nil)

func (e *agentsEntry) listSteps() []*FlowStep { return e.Then }

func (e *agentsEntry) expectations(n *source.Node, path string, d *source.Decoder) *source.Node {
	e.does = e.Keys.Action(n, path, d)
	for _, key := range []string{"wait", "until", "cancel_after", "log_level", "respond"} {
		if v := n.Get(key); v != nil {
			d.Errorf(v, path+"."+key, "%s: belongs to a call, and the model decides which calls are made", key)
		}
	}
	checker{d: d}.checkCommon(&Test{Path: path, Common: e.Common}, n)
	checker{d: d}.checkSteps(e.Then, listItems(n.Get("then")), path+".then")
	if e.Expect == nil && len(e.Then) == 0 && e.does.Model != agent.Script {
		d.Errorf(n, path+".expect", "the test examines nothing").Hint = "add an assertion: expect: [{target: calls, matcher: {trajectory: {in_order: [TOOL]}}}]"
	}
	return e.Expect
}
