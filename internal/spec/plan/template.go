package plan

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan/rows"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/interpolate"
	"mcptest/internal/spec/suite/lint"
)

// template is a test as written. It builds a case for each of its rows and servers.
type template struct {
	c     *compiler
	entry entry // its node is nil if nothing is built from it
	pos   source.Pos
	name  string     // as written, for tests whose rows don't change it
	namer source.Pos // position of the name
	only  source.Pos // position of only:, zero if absent

	proto   *Case       // for the first row on the first server
	test    *suite.Test // for the first row; nil if the entry's node is nil
	servers []*Server   // for every row, unless meta is set
	tags    []string

	rows *rows.Rows // nil: no cases
	// asserts are the assertions of single rows.
	asserts map[int]*source.Node
	varies  varies
	expect  *rowExpect // set if the expectations use the row
	meta    []rowMeta  // set if servers, tags or only use the row
	sets    metaSets
}

// varies records which parts of a test use its row.
type varies struct {
	name, expect bool
	// call lists the keys of the invocation that use the row: tool, args and so on.
	call []string
	// all is set if another part uses it: the whole test is then built for each
	// row.
	all bool
}

func (v varies) any() bool { return v.name || v.expect || v.all || len(v.call) > 0 }

// rowMeta is the data for selecting a row without building its case.
type rowMeta struct {
	servers, tags uint32 // indexes in metaSets
	only          bool
}

// metaSets holds each distinct list once.
type metaSets struct {
	servers [][]*Server
	tags    [][]string
	known   map[string]uint32
}

func (t *template) countRows() int {
	if t.rows == nil {
		return 1
	}
	return t.rows.Len()
}

// listServers returns the servers of a row, which can be none.
func (t *template) listServers(row int) []*Server {
	if t.meta != nil {
		return t.sets.servers[t.meta[row].servers]
	}
	return t.servers
}

// serverCount returns the number of cases of a row.
func (t *template) serverCount(row int) int { return max(1, len(t.listServers(row))) }

func (t *template) getServer(row, i int) *Server {
	if list := t.listServers(row); i < len(list) {
		return list[i]
	}
	return nil
}

func (t *template) listTags(row int) []string {
	if t.meta != nil {
		return t.sets.tags[t.meta[row].tags]
	}
	return t.tags
}

func (t *template) isOnly(row int) bool {
	if t.meta != nil {
		return t.meta[row].only
	}
	return !t.only.IsZero()
}

// count returns the number of the template's cases.
func (t *template) count() int {
	if t.meta == nil {
		return t.countRows() * max(1, len(t.servers))
	}
	n := 0
	for row := range t.countRows() {
		n += t.serverCount(row)
	}
	return n
}

// compileTemplate compiles one entry and checks each of its rows, to find mistakes caused
// by their values.
func (c *compiler) compileTemplate(se suite.Entry) *template {
	e := entry{se}
	t := &template{c: c, entry: e, pos: e.Node.Pos, namer: e.Node.Pos}
	if n := e.Node.Get("name"); n != nil {
		t.namer = n.Pos
	}
	lint.Test(c.dec, e.Node, e.Path, c.suite.VarNames)
	before := c.errors()
	var row jsonv.Value
	if n := e.Node.Get("cases"); n != nil {
		e, t.asserts = e.compileRowAsserts(c.dec)
		t.entry = e
		t.rows = c.compileRows(e.Node.Get("cases"), e)
		if t.rows.Len() > 0 {
			row = t.rows.At(0)
		}
		if n.Kind != source.KindList && !row.Lookup("expect").IsAbsent() && !usesExpect(e) {
			c.dec.Warnf(n, e.Path+".cases", unusedExpect).Hint = "write ${case.expect} where it belongs; only rows in the suite itself can have assertions"
		}
		t.findDependence()
		t.varies.all = t.varies.all || len(t.asserts) > 0
	}
	var b built
	if t.rows != nil && t.rows.Len() == 0 {
		// The rows could not be read: check what does not depend on them.
		b = c.compileSample(e, interpolate.Bindings{}, func(b *interpolate.Bindings, n *source.Node) {
			b.AnyCase, b.AnySteps = n, n
		})
	} else {
		if t.rows != nil {
			c.table = t.rows.Table()
		}
		b = c.build(t.makeEntry(0), row)
		c.table = ""
	}
	t.proto = b.out
	t.test = b.test
	t.servers = b.servers
	t.tags = b.out.Tags
	t.name = b.test.Name
	if b.test.Only {
		t.only = e.Node.Get("only").Pos
	}
	if t.varies.expect && !t.varies.all && t.rows.Len() > 0 {
		t.expect = c.compileRowExpect(e, b.test)
	}
	if c.errors() == before && t.rows != nil {
		t.checkRows()
	}
	return t
}

// compileRows reads `cases:`.
func (c *compiler) compileRows(n *source.Node, e entry) *rows.Rows {
	path, before := e.Path+".cases", c.errors()
	expanded := e.Scope.Expand(n, path, interpolate.Bindings{}, c.dec)
	out := rows.Read(expanded, n, path, rows.Options{
		Dec:          c.dec,
		Dir:          c.suite.Dir,
		AllowOutside: c.set.AllowOutside,
		Opened:       c.file.inputs.add,
	})
	if out.Len() == 0 && c.errors() == before {
		c.dec.Errorf(expanded, path, "the list of rows is empty: the test would never run")
	}
	c.suite.Secrets = append(c.suite.Secrets, out.Secrets()...)
	return out
}

// findDependence records which parts of the test use its row.
func (t *template) findDependence() {
	flow := t.entry.Node.Get("steps") != nil
	for _, f := range t.entry.Node.Fields {
		if len(interpolate.Placeholders(f.Value, "case.")) == 0 {
			continue
		}
		switch f.Key.Text {
		case "name":
			t.varies.name = true
		case "tool", "uri", "prompt", "method", "raw", "args", "params":
			t.varies.call = append(t.varies.call, f.Key.Text)
			t.varies.all = t.varies.all || !t.entry.Block.Calls()
		case "expect":
			t.varies.expect = true
			t.varies.all = t.varies.all || flow
		default:
			t.varies.all = true
		}
	}
}

// release drops nodes that are not needed after all mistakes were reported.
func (t *template) release() {
	if !t.varies.any() {
		t.entry.Node, t.test = nil, nil
	} else {
		t.test.Node = nil
	}
}

// caseName returns a case's full name: "name [row] @server". It includes the server
// if there are several, or if it is a variant.
func (t *template) caseName(row, server int) string { return t.makeName(t.row(row), row, server) }

// makeName is caseName for a parsed row.
func (t *template) makeName(v jsonv.Value, row, server int) string {
	name := t.name
	switch {
	case t.varies.name:
		of := t.entry
		n := of.Scope.Expand(of.Node.Get("name"), of.Path+".name", interpolate.Bindings{Case: v}, new(source.Decoder))
		if name, _ = n.AsText(); strings.TrimSpace(name) != name { // the row's value is empty
			name = strings.TrimSpace(name) + " [" + rows.Label(row, v) + "]"
		}
	case t.rows != nil:
		name += " [" + rows.Label(row, v) + "]"
	}
	if list := t.listServers(row); len(list) > 1 || len(list) == 1 && strings.Contains(list[0].Name, "@") {
		name += " @" + list[server].Name
	}
	return name
}

// row parses a row. It returns an absent value if the test has no cases.
func (t *template) row(i int) jsonv.Value { return t.rows.At(i) }

// build builds the case of one row on one server.
func (t *template) build(row, server int) *Case {
	v := t.row(row)
	c := t.buildRow(row, v)
	if sv := t.getServer(row, server); sv != nil && sv != c.Server {
		c.moveTo(sv, t.c)
	}
	c.Name, c.RowPos = t.makeName(v, row, server), t.rows.Pos(row)
	return c
}

// buildRow builds the case of one row on its first server. Mistakes were reported
// when the rows were checked.
func (t *template) buildRow(row int, v jsonv.Value) *Case {
	if !t.varies.any() {
		c := *t.proto
		c.Row = v
		return &c
	}
	cc := t.c.newApart()
	if t.varies.all {
		return cc.build(t.makeEntry(row), v).out
	}
	c := *t.proto
	c.Row = v
	if len(t.varies.call) > 0 {
		call := t.test.Call
		t.entry.call(&call, t.varies.call, interpolate.Bindings{Case: v}, cc.dec)
		op := newOp(t.entry.Block, call, c.Server, t.entry.Node)
		first := t.proto.Ops[0]
		op.CancelAfter, op.Wait, op.Until = first.CancelAfter, first.Wait, first.Until
		c.Ops = []*Op{op}
	}
	if t.varies.expect {
		c.Tree = t.expect.compileTree(cc, v)
	}
	return &c
}

// moveTo moves a case to another server of its test: all operations except those
// whose step names a server.
func (out *Case) moveTo(to *Server, c *compiler) {
	from := out.Server
	out.Ops = slices.Clone(out.Ops)
	for i, op := range out.Ops {
		if op.Server != from || op.pinned {
			continue
		}
		moved := *op
		moved.Server = to
		if op.Fill != nil {
			moved.Fill = func(steps jsonv.Value) (*Op, source.Diagnostics) {
				filled, ds := op.Fill(steps)
				if filled != nil {
					filled.Server = to
				}
				return filled, ds
			}
		}
		out.Ops[i] = &moved
	}
	c.assignServer(out, to)
}

// checkRows checks every row except the first, which template checked.
func (t *template) checkRows() {
	if !t.varies.any() {
		return
	}
	check := t.newRowCheck()
	dec := new(source.Decoder)
	bad, seen := 0, 0
	for i := range t.rows.Len() {
		if bad >= rows.MaxBad {
			break
		}
		check.checkRow(i, t.rows.At(i), dec)
		all := dec.Diagnostics()
		if len(all) == seen {
			continue
		}
		for _, d := range all[seen:] {
			d.Path += fmt.Sprintf(" (row %d of cases)", i+1)
			if pos := t.rows.Pos(i); pos.File != nil {
				d.Related = append(slices.Clip(d.Related), source.Related{Pos: pos, Msg: "the row"})
			}
			if d.Severity == source.Error {
				bad++
			} else if i > 0 {
				continue // reported once, for the first row
			}
			t.c.dec.Add(d)
		}
		seen = len(all)
	}
}
