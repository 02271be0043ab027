package plan

import (
	"mcptest/internal/assert/expect"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

// examines reports a test that can't fail, because it has no assertions, not even those of
// defaultTest, where only assertions decide.
func (c *compiler) examines(st *suite.Test, out *Case) {
	if st.Node == nil || st.Node.Kind != source.KindMap {
		return
	}
	if n := st.Node.Get("threshold"); n != nil && st.Threshold != nil {
		expect.WarnThreshold(c.dec, n, st.Path+".threshold", *st.Threshold, "test")
	}
	bare := len(out.Tree.Items) == 0 && isItemless(st.Expect)
	n := st.Node.Get("expect")
	if st.Block == "agents" && n != nil && bare {
		diag := c.dec.Errorf(n, st.Path+".expect", "the test examines nothing")
		diag.Hint = "add an assertion: - {target: calls, matcher: {trajectory: {in_order: [TOOL]}}}"
	}
	if !out.Flow {
		if st.Until != nil && bare {
			c.reportUntilNothing(st.Until, st.Path)
		}
		return
	}
	for i, s := range st.Steps {
		last := i == len(st.Steps)-1 && st.Action == nil // the test examines its response
		if s != nil && s.Until != nil && isItemless(s.Expect) && !(last && !bare) {
			c.reportUntilNothing(s.Until, s.Path)
		}
	}
}

func (c *compiler) reportUntilNothing(u *suite.Until, path string) {
	const hint = "such as expect: [{target: text, matcher: {contains: done}}]"
	c.dec.AddNew(source.Diagnostic{
		Pos: u.Pos, Path: path + ".until", Msg: "until: repeats the call until its assertions hold; add expect: with an assertion", Hint: hint,
	})
}

// isItemless reports whether an `expect:` value has no item.
func isItemless(n *source.Node) bool {
	if n != nil && n.Kind == source.KindMap {
		n = n.Get("assertions")
	}
	return n == nil || n.Kind == source.KindNull || n.Kind == source.KindList && len(n.Items) == 0
}
