package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan/rows"
	"mcptest/internal/spec/plan/traffic"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/interpolate"
)

// The value of ${steps.…} is only known during the run. Until then, a flow is
// compiled with samples of every type. A mistake is reported only if every sample
// causes it, so that `timeout: ${steps.t}` is valid and a misspelled key next to it
// is not.

// listSamples returns a value of each type that a captured value may have.
func listSamples() []*source.Node {
	return []*source.Node{
		{Kind: source.KindString, Text: "1s", Quoted: true},
		{Kind: source.KindInt, Text: "1"},
		{Kind: source.KindBool, Text: "true"},
		{Kind: source.KindMap},
		{Kind: source.KindList},
		{
			Kind:  source.KindList,
			Items: []*source.Node{{Kind: source.KindInt, Text: "1"}, {Kind: source.KindInt, Text: "2"}},
		},
		{Text: "null"},
	}
}

// compileSample compiles a test with unknown values; put replaces them with a sample.
func (c *compiler) compileSample(e entry, b interpolate.Bindings, put func(*interpolate.Bindings, *source.Node)) built {
	var best built
	var found source.Diagnostics // for the best sample
	common := map[source.Pos]int{}
	listens := false
	list := listSamples()
	for i, sample := range list {
		cc := *c
		cc.dec, c.probe = cmp.Or(c.probe, new(source.Decoder)), nil
		put(&b, sample)
		got := cc.buildWith(e, b)
		ds := cc.dec.Diagnostics()
		if len(ds) == 0 {
			c.probe = cc.dec
		}
		for pos := range listErrorPlaces(ds) {
			common[pos]++
		}
		if i == 0 || len(listErrorPlaces(ds)) < len(listErrorPlaces(found)) {
			best, found = got, ds
		}
		listens = listens || got.out.listens
		if !ds.HasErrors() {
			break
		}
	}
	if listens {
		best.out.listens = true
		c.assignServer(best.out, best.out.Server)
	}
	for _, d := range found {
		if d.Severity != source.Error || common[d.Pos] == len(list) {
			c.dec.Add(d)
		}
	}
	return best
}

func listErrorPlaces(ds source.Diagnostics) map[source.Pos]bool {
	out := map[source.Pos]bool{}
	for _, d := range ds {
		if d.Severity == source.Error {
			out[d.Pos] = true
		}
	}
	return out
}

// compileOps compiles the operations of a test.
func (c *compiler) compileOps(st *suite.Test, servers []*Server, out *Case, e entry, b interpolate.Bindings) {
	switch {
	case st.Action != nil:
		op := &Op{Server: out.Server, Pos: st.Node.Pos, Action: st.Action}
		out.Ops = []*Op{op}
		if out.Flow {
			c.compileFlowOps(st, out, e, b)
		}
		if a, ok := st.Action.(interface{ Files() []string }); ok {
			for _, name := range a.Files() {
				c.file.inputs.add(name)
			}
		}
		for _, name := range traffic.CompileConversation(st, c.suite, c.dec) {
			op.With = append(op.With, c.file.Server(name))
		}
		traffic.CompileCalibration(st, e.Node, c.suite, rows.Options{
			Dec:          c.dec,
			Dir:          c.suite.Dir,
			AllowOutside: c.set.AllowOutside,
			Opened:       c.file.inputs.add,
		})
		for _, sv := range servers {
			if why, hint := st.Action.Refuses(sv.URL != ""); why != "" {
				at := cmp.Or(st.Server.Pos, st.Node.Pos)
				c.dec.ErrorAt(at, st.Path+".server", why+", and "+sv.Name+" has none", hint)
			}
		}
		return
	case out.Flow:
		c.compileFlowOps(st, out, e, b)
		return
	}
	op := newOp(st.Block, st.Call, out.Server, st.Node)
	op.CancelAfter, op.Wait, op.Until = defaultDuration(st.CancelAfter, 0), wait(st.Wait), st.Until
	out.Ops = []*Op{op}
}

// compileFlowOps compiles the steps of a flow.
func (c *compiler) compileFlowOps(st *suite.Test, out *Case, e entry, b interpolate.Bindings) {
	decoded, key := suite.StepsOf(st.Node)
	written, _ := suite.StepsOf(e.Node)
	captured := map[string]bool{}
	for i, s := range st.Steps {
		if i >= len(written.Items) { // the list would be the value of a placeholder
			c.dec.ReportWrongType(written, st.Path+"."+key, "a list of steps")
			return
		}
		if s == nil {
			continue
		}
		c.checkCaptured(written.Items[i], s.Path, captured)
		op := c.step(s, decoded.Items[i], out.Server)
		if len(interpolate.Placeholders(written.Items[i], "steps.")) > 0 {
			op.Fill = c.fillStep(e, s.Path, written.Items[i], b.Case, out.Server)
		}
		for _, cp := range s.Capture.Entries {
			captured[cp.Key] = true
		}
		out.Ops = append(out.Ops, op)
	}
	if key == "then" {
		captured = nil // the conversation is examined before its steps
	}
	if ex := e.Node.Get("expect"); len(interpolate.Placeholders(ex, "steps.")) > 0 {
		c.checkCaptured(ex, st.Path+".expect", captured)
		out.FillTree = c.fillTree(e, st, ex, b.Case)
	}
}

// checkCaptured reports placeholders for values that no earlier step captures.
func (c *compiler) checkCaptured(n *source.Node, path string, captured map[string]bool) {
	for _, p := range interpolate.Placeholders(n, "steps.") {
		name := cutFirstName(p.Member)
		if captured[name] || captured[p.Member] {
			continue
		}
		hint := cmp.Or(source.Known(name, slices.Sorted(maps.Keys(captured))), "store it in the step that returns it, as in capture: {id: structured.id}, and write ${steps.id}")
		c.dec.ErrorAt(p.Node.In(p.Offset), path, fmt.Sprintf("no earlier step captures %q", name), hint)
	}
}

// step compiles one step of a flow.
func (c *compiler) step(s *suite.FlowStep, n *source.Node, server *Server) *Op {
	if s.Server != "" {
		if server = c.file.Server(s.Server); server == nil {
			pos := n.Pos
			if k := n.Get("server"); k != nil {
				pos = k.Pos
			}
			c.reportUnknownServer(pos, s.Path+".server", s.Server)
		}
	}
	op := newOp(findBlock(s.Invocation), s.Invocation, server, n)
	op.pinned = s.Server != ""
	op.Name = s.Name
	op.Timeout = defaultDuration(s.Timeout, 0)
	op.CancelAfter, op.Wait, op.Until = defaultDuration(s.CancelAfter, 0), wait(s.Wait), s.Until
	op.Respond, op.InvalidArgs = s.Respond, s.InvalidArgs
	if s.Expect != nil {
		ex := c.compileExpectations(s.Expect, s.Path+".expect", "")
		op.Tree = expect.Merge(expect.Parts{Expect: ex}, expect.Parts{})
		op.Tree.Check(s.Path, c.dec)
	}
	for _, cp := range s.Capture.Entries {
		path := source.PathKey(s.Path+".capture", cp.Key)
		from := cp.Value.Target
		if from == nil {
			continue // reported by the decoder
		}
		op.Capture = append(op.Capture, Capture{
			Name: cp.Key, Pos: from.Pos, Target: c.compileExpecting(from, "").Target(from, path, c.dec),
			Regex: c.compileExpecting(from, "").Pattern(cp.Value.Regex, path+".regex", c.dec),
		})
	}
	return op
}

// fillStep returns a function that completes a step from its source, so that every
// placeholder in it is replaced once, even if values contain placeholders.
func (c *compiler) fillStep(
	e entry, path string, written *source.Node, row jsonv.Value, server *Server,
) func(jsonv.Value) (*Op, source.Diagnostics) {
	return func(steps jsonv.Value) (*Op, source.Diagnostics) {
		cc := c.newApart()
		filled := e.Scope.Expand(written, path, interpolate.Bindings{Case: row, Steps: steps}, cc.dec)
		s := suite.DecodeStep(filled, path, cc.dec)
		out := cc.step(s, filled, server)
		if ds := cc.dec.Diagnostics(); ds.HasErrors() {
			return nil, ds
		}
		return out, nil
	}
}

// fillTree returns a function that completes the expectations of a flow.
func (c *compiler) fillTree(
	e entry, st *suite.Test, written *source.Node, row jsonv.Value,
) func(jsonv.Value) (*expect.Tree, source.Diagnostics) {
	test := *st
	test.Node = nil
	return func(steps jsonv.Value) (*expect.Tree, source.Diagnostics) {
		cc := c.newApart()
		test := test
		test.Expect = e.Scope.Expand(written, st.Path+".expect", interpolate.Bindings{Case: row, Steps: steps}, cc.dec)
		tree := cc.compileTree(&test)
		if ds := cc.dec.Diagnostics(); ds.HasErrors() {
			return nil, ds
		}
		return tree, nil
	}
}
