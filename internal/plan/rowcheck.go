package plan

import (
	"slices"
	"strings"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// rowCheck finds the mistakes that a row's values make, at no more cost than
// the parts of the test that mention the row.
type rowCheck struct {
	t *template
	c compiler // a copy whose mistakes go elsewhere
	// needs are the members that args and params take from a row.
	needs []suite.Placeholder
}

func (t *template) newRowCheck() *rowCheck {
	r := &rowCheck{t: t, c: *t.c}
	for _, key := range []string{"args", "params"} {
		r.needs = append(r.needs, suite.Placeholders(t.entry.Node.Get(key), "case.")...)
	}
	if t.varies.all {
		t.meta = make([]rowMeta, t.rows.len())
	}
	return r
}

// row checks one row; mistakes go to dec. The first one is known to be right
// but for what the template could not tell.
func (r *rowCheck) row(i int, v jsonv.Value, dec *source.Decoder) {
	t := r.t
	r.c.dec = dec
	if t.varies.name {
		r.name(v)
	}
	if t.varies.all {
		b := r.c.build(t.entry, v)
		t.meta[i] = t.sets.add(b)
		return
	}
	if i == 0 {
		return
	}
	if t.varies.subject || t.varies.args && r.lacks(v) {
		call := t.test.Call
		t.entry.call(&call, suite.Bindings{Case: v}, dec)
	}
	if t.varies.expect {
		t.expect.tree(&r.c, v)
	}
}

// lacks reports whether a row has not all that args and params need.
func (r *rowCheck) lacks(v jsonv.Value) bool {
	return slices.ContainsFunc(r.needs, func(p suite.Placeholder) bool {
		_, ok := p.Lookup(v)
		return !ok
	})
}

func (r *rowCheck) name(v jsonv.Value) {
	e, path := r.t.entry, r.t.entry.Path+".name"
	n := e.Scope.Expand(e.Node.Get("name"), path, suite.Bindings{Case: v}, r.c.dec)
	if text, ok := n.AsText(); !ok {
		r.c.dec.WrongType(n, path, "text")
	} else if strings.TrimSpace(text) == "" {
		r.c.dec.Errorf(n, path, "the name is empty")
	}
}

// add notes what a row's case is selected by. Each different list is kept once.
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
	if m.servers, isNew = s.index("s"+key.String(), len(s.servers)); isNew {
		s.servers = append(s.servers, b.servers)
	}
	if m.tags, isNew = s.index("t"+strings.Join(b.out.Tags, "\x00"), len(s.tags)); isNew {
		s.tags = append(s.tags, b.out.Tags)
	}
	return m
}

func (s *metaSets) index(key string, next int) (at uint32, isNew bool) {
	if at, known := s.known[key]; known {
		return at, false
	}
	s.known[key] = uint32(next)
	return uint32(next), true
}

// rowExpect compiles what a test expects of one row: what does not mention
// the row is compiled once.
type rowExpect struct {
	c     *compiler
	entry entry
	test  *suite.Test
	node  *source.Node // as written
	path  string
	list  *source.Node // of the assertions
	fixed []expect.Item
	vary  []int // in list, those that mention the row
	gate  *expect.Gate
	// whole: more than single items mention the row.
	whole bool
	// check: the merged tree can be wrong although its items are right.
	check bool
}

func (c *compiler) rowExpect(e entry, test *suite.Test) *rowExpect {
	r := &rowExpect{c: c, entry: e, test: test, node: e.Node.Get("expect"), path: e.Path + ".expect"}
	r.list = r.node
	if r.node.Kind == source.KindMap {
		r.list = r.node.Get("assertions")
	}
	own := expect.Parts{Expect: c.expectations(test.Expect, r.path), Threshold: test.Threshold}
	r.fixed, r.gate = own.Expect.Items, own.Expect.MaxDuration
	r.check = test.Threshold != nil || c.base.Threshold != nil || test.DerivedMetrics != nil || len(c.base.Metrics) > 0
	if r.list == nil || r.list.Kind != source.KindList || len(r.fixed) != len(r.list.Items) {
		r.whole = true
		return r
	}
	for i, item := range r.list.Items {
		if len(suite.Placeholders(item, "case.")) > 0 {
			r.vary = append(r.vary, i)
		}
	}
	if r.node != r.list {
		for _, f := range r.node.Fields {
			r.whole = r.whole || f.Key.Text != "assertions" && len(suite.Placeholders(f.Value, "case.")) > 0
		}
	}
	return r
}

// tree compiles the tree of one row; mistakes go to the compiler's decoder.
func (r *rowExpect) tree(c *compiler, v jsonv.Value) *expect.Tree {
	test := *r.test
	b := suite.Bindings{Case: v}
	if !r.whole {
		if items, ok := r.items(c, b); ok {
			own := expect.Parts{Expect: expect.Expect{Items: items, MaxDuration: r.gate}, Threshold: test.Threshold}
			return c.merged(&test, own, r.check)
		}
	}
	test.Expect = r.entry.Scope.Expand(r.node, r.path, b, c.dec)
	return c.tree(&test)
}

// items compiles the items that mention the row. It fails when one of them
// has a mistake, without reporting it.
func (r *rowExpect) items(c *compiler, b suite.Bindings) ([]expect.Item, bool) {
	cc := *c
	cc.dec = new(source.Decoder)
	items := slices.Clone(r.fixed)
	for _, i := range r.vary {
		item := r.entry.Scope.Expand(r.list.Items[i], r.path, b, cc.dec)
		one := source.Node{Pos: r.list.Pos, Kind: source.KindList, Items: []*source.Node{item}}
		ex := cc.expectations(&one, r.path)
		if len(cc.dec.Diagnostics()) > 0 || len(ex.Items) != 1 {
			return nil, false
		}
		ex.Items[0].Path = r.fixed[i].Path
		items[i] = ex.Items[0]
	}
	return items, true
}
