package plan

import (
	"slices"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/interpolate"
)

// rowExpect compiles the expectations of a test for each row. If only matchers use
// the row, the rest is compiled only once.
type rowExpect struct {
	entry entry
	test  *suite.Test
	proto *expect.Tree // of the first row, including the items of defaultTest
	vary  []rowMatcher // nil: other parts use the row as well
}

// rowMatcher is a matcher that uses values of the row.
type rowMatcher struct {
	at   int // index of its item
	node *source.Node
}

func (c *compiler) rowExpect(e entry, test *suite.Test, proto *expect.Tree) *rowExpect {
	r := &rowExpect{entry: e, test: test, proto: proto}
	list := e.Node.Get("expect")
	checked := test.Threshold != nil || c.base.Threshold != nil || test.DerivedMetrics != nil || len(c.base.Metrics) > 0
	if checked || list.Kind != source.KindList { // a merged tree can be invalid although its items are valid
		return r
	}
	var vary []rowMatcher
	for i, item := range list.Items {
		if len(interpolate.Placeholders(item, "case.")) == 0 {
			continue
		}
		if item.Kind != source.KindMap || i >= len(proto.Items) || proto.Items[i].Assertion == nil {
			return r
		}
		for _, f := range item.Fields {
			if f.Key.Text == "matcher" {
				vary = append(vary, rowMatcher{i, f.Value})
			} else if len(interpolate.Placeholders(f.Value, "case.")) > 0 {
				return r
			}
		}
	}
	r.vary = vary
	return r
}

// tree compiles the tree of one row and reports mistakes to the compiler's decoder.
func (r *rowExpect) tree(c *compiler, v jsonv.Value) *expect.Tree {
	b := interpolate.Bindings{Case: v}
	if r.vary == nil {
		test := *r.test
		test.Expect = r.entry.Scope.Expand(r.entry.Node.Get("expect"), r.entry.Path+".expect", b, c.dec)
		return c.tree(&test)
	}
	tree := *r.proto
	tree.Items = slices.Clone(tree.Items)
	for _, m := range r.vary {
		item := &tree.Items[m.at]
		n := r.entry.Scope.Expand(m.node, item.Path+".matcher", b, c.dec)
		item.Assertion = c.expecting(n).WithMatcher(item.Assertion, n, item.Path, c.dec)
	}
	return &tree
}

// checkRow finds mistakes caused by the values of a row and reports them to the
// compiler's decoder. It only compiles the parts of the test that use the row. The
// template checked most of the first row.
func (t *template) checkRow(c *compiler, i int, v jsonv.Value) {
	b := interpolate.Bindings{Case: v}
	if t.varies.name {
		path := t.entry.Path + ".name"
		n := t.entry.Scope.Expand(t.entry.Node.Get("name"), path, b, c.dec)
		if text, ok := n.AsText(); !ok {
			c.dec.WrongType(n, path, "text")
		} else if strings.TrimSpace(text) == "" {
			c.dec.Errorf(n, path, "the name is empty")
		}
	}
	if t.varies.all {
		b := c.build(t.entry, v)
		t.meta[i] = rowMeta{servers: b.servers, tags: b.out.Tags, only: b.test.Only}
		return
	}
	if i == 0 {
		return
	}
	if len(t.varies.call) > 0 {
		call := t.test.Call
		t.entry.call(&call, t.varies.call, b, c.dec)
	}
	if t.varies.expect {
		t.expect.tree(c, v)
	}
}
