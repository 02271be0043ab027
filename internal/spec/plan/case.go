package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/interpolate"
	"mcptest/internal/spec/suite/lint"
)

// entry is a suite.Entry with the methods of this package.
type entry struct{ suite.Entry }

// built is one entry compiled for one row.
type built struct {
	out     *Case // on the first of the servers
	test    *suite.Test
	servers []*Server
}

// build compiles an entry for one row, which is absent if the test has no cases. In
// a flow, the values of earlier steps are not known yet: see flow.go.
func (c *compiler) build(e entry, row jsonv.Value) built {
	b := interpolate.Bindings{Case: row, Table: c.table}
	if steps, _ := suite.StepsOf(e.Node); steps != nil && len(interpolate.Placeholders(e.Node, "steps.")) > 0 {
		return c.compileSample(e, b, func(b *interpolate.Bindings, n *source.Node) { b.AnySteps = n })
	}
	return c.buildWith(e, b)
}

func (c *compiler) buildWith(e entry, b interpolate.Bindings) built {
	before := c.errors()
	n := e.expand(b, c.dec)
	steps, _ := suite.StepsOf(n)
	st := suite.DecodeTest(e.Block, n, e.Path, c.dec)
	out := &Case{
		Name:        st.Name,
		Pos:         e.Node.Pos,
		About:       st.About,
		Block:       e.Block,
		Tags:        c.tags(st),
		Skip:        skipReason(st),
		Respond:     st.Respond,
		TestKeys:    st.TestKeys,
		InvalidArgs: st.InvalidArgs,
		Flow:        steps != nil,
		File:        c.file,
		Row:         b.Case,
	}
	servers := c.resolveServers(st, n)
	c.compileTraffic(st, servers, out)
	c.resolveSameCall(st, servers, out)
	c.compileLimits(st, out)
	out.Repeat, out.Trials = st.Repeat, st.Trials
	if len(servers) > 0 {
		out.Server = servers[0]
	}
	c.compileOps(st, servers, out, e, b)
	if len(servers) == 0 && out.Flow && len(out.Ops) > 0 && out.Ops[0].Server != nil {
		// Every step names its server; the case is assigned to the first.
		servers, out.Server = []*Server{out.Ops[0].Server}, out.Ops[0].Server
	}
	out.Tree = c.compileTree(st)
	c.resolveSameOffer(st, servers, out)
	c.examines(st, out)
	out.listens = c.needsExclusive(out)
	c.assignServer(out, out.Server)
	for _, sv := range servers {
		c.warnUnasked(sv, out.Respond, e.Path+".respond")
	}
	for _, op := range out.Ops {
		c.warnUnasked(op.Server, op.Respond, e.Path+".respond")
	}
	if c.errors() == before && len(out.Ops) == 0 {
		c.dec.ErrorAt(n.Pos, e.Path, "nothing to invoke", "")
	}
	return built{out: out, test: st, servers: servers}
}

// errors returns the number of mistakes found so far.
func (c *compiler) errors() int { return c.dec.Count() }

// expand replaces the entry's placeholders. Only the steps and the expectations of
// a flow may use the values of steps.
func (e entry) expand(b interpolate.Bindings, d *source.Decoder) *source.Node {
	if e.Node.Kind != source.KindMap {
		return e.Node
	}
	out := *e.Node
	out.Fields = make([]source.Field, len(e.Node.Fields))
	for i, f := range e.Node.Fields {
		path := source.PathKey(e.Path, f.Key.Text)
		fb := b
		switch f.Key.Text {
		case "steps", "then", "expect":
		case "cases":
			f.Value = &source.Node{Pos: f.Value.Pos, Kind: source.KindList} // read already
		default:
			fb.AnySteps = nil
		}
		out.Fields[i] = source.Field{Key: f.Key, Value: e.Scope.Expand(f.Value, path, fb, d)}
	}
	return &out
}

// call replaces the placeholders in the parts of an invocation, for a test that is
// not a flow. keys are the parts that contain placeholders.
func (e entry) call(call *suite.Invocation, keys []string, b interpolate.Bindings, d *source.Decoder) {
	for _, key := range keys {
		path := source.PathKey(e.Path, key)
		n := e.Scope.Expand(e.Node.Get(key), path, b, d)
		switch key {
		case "args":
			call.Args = n
			if n.Kind != source.KindMap {
				d.ReportWrongType(n, path, "a map of arguments")
			}
			if wrong := e.Node.Get("invalid_args"); e.Block == suite.Prompts && (wrong == nil || wrong.Text != "true") {
				suite.CheckPromptArguments(n, path, d)
			}
		case "params":
			call.Params = n
		case "raw":
			call.Raw = n
			if !n.IsScalar() {
				d.ReportWrongType(n, path, "text, the bytes to send")
			}
		default:
			text, ok := n.AsText()
			switch key {
			case "tool":
				call.Tool = text
			case "uri":
				call.URI = text
			case "prompt":
				call.Prompt = text
			case "method":
				call.Method = text
			}
			switch {
			case !ok:
				d.ReportWrongType(n, path, "text")
			case text == "":
				d.Errorf(n, path, "%s is empty", key)
			}
		}
	}
}

func (c *compiler) tags(st *suite.Test) []string {
	tags := st.Tags
	if dt := c.suite.DefaultTest; dt != nil && st.UsesDefaults() {
		for _, t := range dt.Tags {
			if !slices.Contains(tags, t) {
				tags = append(slices.Clip(tags), t)
			}
		}
	}
	return tags
}

func skipReason(st *suite.Test) string {
	if st.Skip == nil || !st.Skip.Set {
		return ""
	}
	return cmp.Or(st.Skip.Text, "skipped by the suite")
}

// resolveServers resolves the servers that a test runs on.
func (c *compiler) resolveServers(st *suite.Test, n *source.Node) (out []*Server) {
	names := st.Server
	path := st.Path + ".server"
	if _, ok := st.Action.(*agent.Calibration); ok && len(c.file.Servers) > 0 {
		return c.file.Servers[:1] // no server takes part
	}
	if len(names.Items) == 0 && c.suite.DefaultTest != nil && st.UsesDefaults() {
		names = c.suite.DefaultTest.Server
		path = "defaultTest.server"
	}
	if len(names.Items) == 0 {
		if c.file.Default != nil {
			return []*Server{c.file.Default}
		}
		isAmbiguous := len(c.file.Servers) > 1 && c.suite.DefaultServer == "" && !c.suite.Partial
		if isAmbiguous && n.Kind == source.KindMap && !haveStepsServers(st) {
			c.dec.ErrorAt(n.Pos, st.Path, "names no server, and the suite has no default_server",
				fmt.Sprintf("add server: to the test (%s), or default_server: to the suite", c.joinServerNames()))
		}
		return nil
	}
	seen := map[string]bool{}
	for i, name := range names.Items {
		at := path
		if names.List {
			at = source.PathIndex(path, i)
		}
		found := c.file.Matching(name.Text)
		switch {
		case name.Text == "": // reported by the decoder
		case len(found) == 0:
			c.reportUnknownServer(name.Pos, at, name.Text)
		case seen[name.Text]:
			c.dec.ErrorAt(name.Pos, at, fmt.Sprintf("%q is in the list twice", name.Text), "")
		}
		seen[name.Text] = true
		for _, sv := range found {
			if !slices.Contains(out, sv) {
				out = append(out, sv)
			}
		}
	}
	return out
}

func (c *compiler) joinServerNames() string {
	return display.List(lists.Map(c.file.Servers, func(s *Server) string { return s.Name }), 12)
}

func haveStepsServers(st *suite.Test) bool {
	return len(st.Steps) > 0 && !slices.ContainsFunc(st.Steps, func(s *suite.FlowStep) bool {
		return s == nil || s.Server == ""
	})
}

// resolveSameOffer checks the servers of the matchers same-as.
func (c *compiler) resolveSameOffer(st *suite.Test, servers []*Server, out *Case) {
	for _, same := range out.Tree.SameAs() {
		if same.Server != "" {
			c.resolveOtherServer(same.Pos, st.Path+".same_as", same.Server, servers)
		}
	}
}

// resolveOtherServer reports that a server with which others are compared is not there, or is one of
// them.
func (c *compiler) resolveOtherServer(pos source.Pos, path, name string, servers []*Server) {
	for _, s := range servers {
		switch c.file.Counterpart(name, s) {
		case nil:
			c.reportUnknownServer(pos, path, name)
		case s:
			c.dec.ErrorAt(pos, path, "it would compare "+s.Name+" with itself", "")
		}
	}
}

// resolveSameCall checks the server of same_as, and compiles what may differ.
func (c *compiler) resolveSameCall(st *suite.Test, servers []*Server, out *Case) {
	if st.SameAs == nil {
		return
	}
	c.resolveOtherServer(st.SameAs.Pos, st.Path+".same_as", st.SameAs.Server, servers)
	n := &source.Node{Pos: st.SameAs.Pos, Kind: source.KindMap}
	if st.SameAs.Ignore != nil {
		n.Fields = []source.Field{{Key: &source.Node{Kind: source.KindString, Text: "ignore"}, Value: st.SameAs.Ignore}}
	}
	out.Masks = snapshot.Compile(c.dec, n, st.Path+".same_as")
}

// compileLimits sets timeout, idle_timeout and retries. The order of precedence is: flag, test,
// defaultTest and, for the timeout (see place), server, run_options.
func (c *compiler) compileLimits(st *suite.Test, out *Case) {
	dt := c.suite.DefaultTest
	if dt != nil && !st.UsesDefaults() {
		dt = nil
	}
	switch {
	case c.set.Timeout > 0:
		out.limit = c.set.Timeout
	case st.Timeout != nil:
		out.limit = *st.Timeout
	case dt != nil && dt.Timeout != nil:
		out.limit = *dt.Timeout
	}
	switch {
	case st.IdleTimeout != nil:
		out.idleLimit = *st.IdleTimeout
	case dt != nil && dt.IdleTimeout != nil:
		out.idleLimit = *dt.IdleTimeout
	}
	switch {
	case c.set.Retries != nil:
		out.Retries = *c.set.Retries
	case st.Retries != nil:
		out.Retries = *st.Retries
	case dt != nil && dt.Retries != nil:
		out.Retries = *dt.Retries
	case c.suite.Options.Retries != nil:
		out.Retries = *c.suite.Options.Retries
	}
	if st.Repeat != nil || st.Trials != nil {
		out.Retries = 0
	}
}

// assignServer assigns a case to a server (nil if each of its steps names one) and sets
// the fields that depend on it.
func (c *compiler) assignServer(out *Case, sv *Server) {
	out.Server = sv
	switch {
	case out.limit > 0:
		out.Timeout = out.limit
	case sv != nil && sv.Timeout > 0:
		out.Timeout = sv.Timeout
	default:
		out.Timeout = defaultDuration(c.suite.Options.Timeout, DefaultTimeout)
	}
	switch {
	case out.idleLimit > 0:
		out.Idle = out.idleLimit
	case sv != nil && sv.IdleTimeout > 0:
		out.Idle = sv.IdleTimeout
	default:
		out.Idle = defaultDuration(c.suite.Options.IdleTimeout, 0)
	}
	out.Exclusive = out.listens || sv != nil && sv.Respond != nil
	for _, op := range out.Ops {
		out.Exclusive = out.Exclusive || op.Server != nil && op.Server.Respond != nil
	}
	out.Alone = out.Exclusive || c.file.Options.Whole
}

// compileExpectations compiles an `expect:` value. A schema in it may refer to files below
// the suite's directory by a relative path; other files are never read.
func (c *compiler) compileExpectations(n *source.Node, path string, list suite.Block) expect.Expect {
	lint.Expectations(c.dec, n, path)
	return c.compileExpecting(n, list).Expect(n, path, c.dec)
}

// compileTree merges the test's items with those of defaultTest.
func (c *compiler) compileTree(st *suite.Test) *expect.Tree {
	own := expect.Parts{Threshold: st.Threshold}
	if st.Expect != nil {
		own.Expect = c.compileExpectations(st.Expect, st.Path+".expect", st.Block)
	}
	return c.mergeItems(st, own, true)
}

// mergeItems is tree for compiled items.
func (c *compiler) mergeItems(st *suite.Test, own expect.Parts, check bool) *expect.Tree {
	if st.DerivedMetrics != nil {
		own.Metrics = expect.CompileMetrics(st.DerivedMetrics, st.Path+".derivedMetrics", c.dec)
	}
	var base expect.Parts
	if st.UsesDefaults() && st.Action == nil { // these expectations examine the response
		base = c.base
	}
	tree := expect.Merge(own, base)
	if check {
		tree.Check(st.Path, c.dec)
		for _, choice := range tree.Checks() {
			for _, name := range choice.InstalledWith {
				if !slices.ContainsFunc(c.file.Servers, func(s *Server) bool { return s.Name == name }) {
					c.reportUnknownServer(choice.Pos, st.Path, name)
				}
			}
		}
	}
	return tree
}

// needsExclusive reports whether a case must not share its sessions on any server: it has
// per-test hooks or fixtures, scripts the client's side, or examines messages that
// cannot be attributed to one of several concurrent calls.
func (c *compiler) needsExclusive(out *Case) bool {
	if c.file.Serial || c.set.Alone || c.file.Options.RestartPolicy == PerTest {
		return true
	}
	if out.Respond != nil || out.Routes != nil || out.LogLevel != "" {
		return true
	}
	if out.Tree.Uses().Exclusive() || out.SameAs.Compares("notifications") {
		return true
	}
	for _, op := range out.Ops {
		if op.Action != nil && op.Action.Name() == "probe" {
			return true
		}
		if op.Wait != nil || op.CancelAfter > 0 || op.Respond != nil || op.Raw != nil {
			return true
		}
		if op.Tree != nil && op.Tree.Uses().Exclusive() {
			return true
		}
		for _, cp := range op.Capture {
			if cp.Target != nil && cp.Target.Uses().Exclusive() {
				return true
			}
		}
	}
	return false
}

// Examines reports whether a case has routes for an upstream, or examines its requests.
func (c *Case) Examines(upstream string) bool {
	return c.Routes[upstream] != nil || c.Tree.Examines(upstream) || slices.ContainsFunc(c.Ops, func(op *Op) bool {
		return op.Tree.Examines(upstream) ||
			slices.ContainsFunc(op.Capture, func(cp Capture) bool { return cp.Target != nil && cp.Target.Examines(upstream) })
	})
}

func defaultDuration(d *time.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return *d
}
