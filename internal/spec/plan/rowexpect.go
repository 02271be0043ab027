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

// rowExpect compiles the expectations of a test for each row. Parts without values
// of the row are compiled only once.
type rowExpect struct {
	entry entry
	test  *suite.Test
	node  *source.Node // as written
	path  string
	list  *source.Node // of assertions
	fixed []expect.Item
	vary  []rowItem
	gate  *expect.Gate
	// proto is the tree of the first row, including the items of defaultTest.
	proto *expect.Tree
	// whole is set if the row occurs outside single items.
	whole bool
	// check is set if the merged tree can be invalid although its items are valid.
	check bool
}

// rowItem is an item that uses values of the row.
type rowItem struct {
	at int // index in the list
	// matcher is set if only the matcher uses the row.
	matcher *source.Node
	// exact is the value of that matcher if it is `exact:` with a scalar, and needs
	// are the values of the row that it uses.
	exact *source.Node
	needs []interpolate.Placeholder
}

func (c *compiler) compileRowExpect(e entry, test *suite.Test) *rowExpect {
	r := &rowExpect{entry: e, test: test, node: e.Node.Get("expect"), path: e.Path + ".expect"}
	r.list = r.node
	if r.node.Kind == source.KindMap {
		r.list = r.node.Get("assertions")
	}
	own := expect.Parts{Expect: c.compileExpectations(test.Expect, r.path, test.Block), Threshold: test.Threshold}
	r.fixed, r.gate = own.Expect.Items, own.Expect.MaxDuration
	r.check = test.Threshold != nil || c.base.Threshold != nil || test.DerivedMetrics != nil || len(c.base.Metrics) > 0
	if r.list == nil || r.list.Kind != source.KindList || len(r.fixed) != len(r.list.Items) {
		r.whole = true
		return r
	}
	for i, item := range r.list.Items {
		if len(interpolate.Placeholders(item, "case.")) > 0 {
			r.vary = append(r.vary, newRowItem(i, item, &r.fixed[i]))
		}
	}
	r.proto = expect.Merge(own, c.base)
	if r.node != r.list {
		for _, f := range r.node.Fields {
			r.whole = r.whole || f.Key.Text != "assertions" && len(interpolate.Placeholders(f.Value, "case.")) > 0
		}
	}
	return r
}

func newRowItem(at int, n *source.Node, first *expect.Item) rowItem {
	r := rowItem{at: at}
	if first.Assertion == nil {
		return r
	}
	for _, f := range n.Fields {
		if f.Key.Text == "matcher" {
			r.matcher = f.Value
		} else if len(interpolate.Placeholders(f.Value, "case.")) > 0 {
			return rowItem{at: at}
		}
	}
	if r.matcher == nil || r.matcher.Kind != source.KindMap || len(r.matcher.Fields) != 1 {
		return r
	}
	if r.matcher.Fields[0].Key.Text != "exact" {
		return r
	}
	if n := r.matcher.Fields[0].Value; n.IsScalar() {
		r.exact, r.needs = n, interpolate.Placeholders(n, "case.")
	}
	return r
}

// fits reports whether a row is certainly valid, without compiling anything.
func (r *rowExpect) fits(v jsonv.Value) bool {
	return !r.whole && !r.check && !slices.ContainsFunc(r.vary, func(i rowItem) bool {
		return i.exact == nil || lacksValue(i.needs, v)
	})
}

// compileTree compiles the tree of one row and reports mistakes to the compiler's decoder.
func (r *rowExpect) compileTree(c *compiler, v jsonv.Value) *expect.Tree {
	test := *r.test
	b := interpolate.Bindings{Case: v}
	if !r.whole {
		if items, ok := r.compileItems(c, b); ok {
			if !r.check {
				tree := *r.proto
				tree.Items = items
				return &tree
			}
			own := expect.Parts{Expect: expect.Expect{Items: items[:len(r.fixed)], MaxDuration: r.gate}, Threshold: test.Threshold}
			return c.mergeItems(&test, own, true)
		}
	}
	test.Expect = r.entry.Scope.Expand(r.node, r.path, b, c.dec)
	return c.compileTree(&test)
}

// compileItems returns the items of one row's tree, ending with those of defaultTest. It
// returns false, without reporting a mistake, if an item that uses the row has one.
func (r *rowExpect) compileItems(c *compiler, b interpolate.Bindings) ([]expect.Item, bool) {
	items := slices.Clone(r.proto.Items)
	for i := range r.vary {
		at := r.vary[i].at
		item, ok := r.compileItem(c, &r.vary[i], b)
		if !ok {
			return nil, false
		}
		item.Path = r.fixed[at].Path
		items[at] = item
	}
	return items, true
}

// compileItem compiles one item for a row.
func (r *rowExpect) compileItem(c *compiler, vary *rowItem, b interpolate.Bindings) (expect.Item, bool) {
	item := r.fixed[vary.at]
	if vary.exact != nil {
		dec := new(source.Decoder)
		n := r.entry.Scope.Expand(vary.exact, item.Path, b, dec)
		item.Assertion = item.Assertion.Exactly(n.JSON())
		return item, dec.Count() == 0 && item.Assertion != nil
	}
	cc := c.newApart()
	if vary.matcher != nil {
		n := r.entry.Scope.Expand(vary.matcher, item.Path, b, cc.dec)
		item.Assertion = cc.compileExpecting(n, "").WithMatcher(item.Assertion, n, item.Path, cc.dec)
		return item, item.Assertion != nil && len(cc.dec.Diagnostics()) == 0
	}
	n := r.entry.Scope.Expand(r.list.Items[vary.at], r.path, b, cc.dec)
	ex := cc.compileExpectations(&source.Node{
		Pos:   r.list.Pos,
		Kind:  source.KindList,
		Items: []*source.Node{n},
	}, r.path, r.test.Block)
	if len(cc.dec.Diagnostics()) > 0 || len(ex.Items) != 1 {
		return item, false
	}
	return ex.Items[0], true
}

// rowCheck finds mistakes caused by a row's values. It only compiles the parts of
// the test that use the row.
type rowCheck struct {
	t *template
	c compiler // a copy with a different decoder
	// needs are the members of the row that args and params use.
	needs []interpolate.Placeholder
}

func (t *template) newRowCheck() *rowCheck {
	r := &rowCheck{t: t, c: *t.c}
	for _, key := range t.varies.call {
		n := t.entry.Node.Get(key)
		nested := key == "args" && t.entry.Block != suite.Prompts || key == "params"
		if !nested || interpolate.Whole(n) {
			r.needs = nil // the type of a value matters
			break
		}
		r.needs = append(r.needs, interpolate.Placeholders(n, "case.")...)
	}
	if t.varies.all {
		t.meta = make([]rowMeta, t.rows.Len())
	}
	return r
}

// checkRow checks one row and reports mistakes to dec. The template checked most of the
// first row.
func (r *rowCheck) checkRow(i int, v jsonv.Value, dec *source.Decoder) {
	t := r.t
	r.c.dec = dec
	if t.varies.name {
		r.checkName(v)
	}
	if t.varies.all {
		b := r.c.build(t.makeEntry(i), v)
		t.meta[i] = t.sets.add(b)
		return
	}
	if i == 0 {
		return
	}
	if len(t.varies.call) > 0 && (r.needs == nil || lacksValue(r.needs, v)) {
		call := t.test.Call
		t.entry.call(&call, t.varies.call, interpolate.Bindings{Case: v}, dec)
	}
	if t.varies.expect && !t.expect.fits(v) {
		t.expect.compileTree(&r.c, v)
	}
}

// lacksValue reports whether a row lacks a required value.
func lacksValue(needs []interpolate.Placeholder, row jsonv.Value) bool {
	return slices.ContainsFunc(needs, func(p interpolate.Placeholder) bool {
		_, ok := p.Lookup(row)
		return !ok
	})
}

func (r *rowCheck) checkName(v jsonv.Value) {
	e, path := r.t.entry, r.t.entry.Path+".name"
	n := e.Scope.Expand(e.Node.Get("name"), path, interpolate.Bindings{Case: v}, r.c.dec)
	if text, ok := n.AsText(); !ok {
		r.c.dec.ReportWrongType(n, path, "text")
	} else if strings.TrimSpace(text) == "" {
		r.c.dec.Errorf(n, path, "the name is empty")
	}
}

// add returns the data for selecting a row's case. Each distinct list is stored
// once.
func (s *metaSets) add(b built) rowMeta {
	if s.known == nil {
		s.known = map[string]uint32{}
	}
	m := rowMeta{only: b.test.Only}
	var key strings.Builder
	for _, sv := range b.servers {
		key.WriteString(sv.Name + "\x00")
	}
	var isNew bool
	if m.servers, isNew = s.addSet("s"+key.String(), len(s.servers)); isNew {
		s.servers = append(s.servers, b.servers)
	}
	if m.tags, isNew = s.addSet("t"+strings.Join(b.out.Tags, "\x00"), len(s.tags)); isNew {
		s.tags = append(s.tags, b.out.Tags)
	}
	return m
}

func (s *metaSets) addSet(key string, next int) (at uint32, isNew bool) {
	if at, known := s.known[key]; known {
		return at, false
	}
	s.known[key] = uint32(next)
	return uint32(next), true
}
