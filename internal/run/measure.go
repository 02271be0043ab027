package run

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/surface"
	"mcptest/internal/report/result"
	"mcptest/internal/run/coverage"
	"mcptest/internal/spec/plan"
)

// measurement is the coverage of a run. A nil measurement measures nothing.
type measurement struct {
	mu      sync.Mutex
	servers map[string]*measured // by plan.Server.Key
}

// measured is the coverage of one server.
type measured struct {
	coverage.Use
	def     *plan.Server
	minimum map[string]*int
	offer   *surface.Offer
	unknown string // why offer is nil
}

// newMeasurement returns nil unless coverage is measured.
func newMeasurement(p *plan.Plan, wanted bool) *measurement {
	hasCoverage := func(f *plan.File) bool {
		return f.Suite != nil && f.Suite.Coverage != nil
	}
	if !wanted && !slices.ContainsFunc(p.Files, hasCoverage) {
		return nil
	}
	m := &measurement{servers: map[string]*measured{}}
	for i := range p.Len() { // including tests that will be skipped
		if s := p.ServerOf(i); s != nil {
			m.server(s, p.Files[p.FileOf(i)])
		}
	}
	return m
}

// server returns a server that a case of a file uses.
func (m *measurement) server(def *plan.Server, file *plan.File) *measured {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.servers[def.Key]
	if s == nil {
		s = &measured{def: def, minimum: map[string]*int{}, unknown: "the server was not started"}
		m.servers[def.Key] = s
	}
	if file.Suite != nil && file.Suite.Coverage != nil {
		for of, least := range file.Suite.Coverage.Minimums() {
			have := s.minimum[of]
			if least != nil && (have == nil || *have < *least) {
				s.minimum[of] = least
			}
		}
	}
	return s
}

// survey requests what the servers that end with a file offer.
func (m *measurement) survey(ctx context.Context, f *fileRun) {
	if m == nil || ctx.Err() != nil {
		return
	}
	for _, s := range f.run.pool.Ending(f.file, f.pending()) {
		m.mu.Lock()
		known := m.servers[s.Def.Key]
		m.mu.Unlock()
		if known == nil || known.offer != nil {
			continue
		}
		offer, err := s.Survey(ctx)
		if err == nil {
			for _, l := range surface.Lists() {
				err = cmp.Or(err, offer.Failed[l.Kind])
			}
		}
		if err != nil {
			known.unknown = oneLine(err.Error())
			continue
		}
		known.offer, known.unknown = offer, ""
	}
}

// record compares the used items with the offered ones.
func (m *measurement) record(partial string) *result.Coverage {
	out := &result.Coverage{Partial: partial, Servers: []result.ServerCoverage{}}
	for _, s := range m.servers {
		r := result.ServerCoverage{Server: s.def.Name, File: s.def.Pos.File.Name, Unknown: s.unknown}
		if s.offer != nil {
			for _, def := range s.offer.Lists[surface.Tool] {
				r.Tokens += surface.Tokens(def)
			}
			r.Parts, r.Unasserted, r.Skeletons = coverage.Measure(s.offer, &s.Use)
		} else {
			for _, of := range result.Measured() {
				r.Parts = append(r.Parts, result.Covered{Of: of})
			}
		}
		for i := range r.Parts {
			r.Parts[i].Minimum = s.minimum[r.Parts[i].Of]
		}
		out.Servers = append(out.Servers, r)
	}
	slices.SortFunc(out.Servers, func(a, b result.ServerCoverage) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Server, b.Server))
	})
	return out
}

// reportCoverage sends the coverage at the end of a run, and findings for minimums
// that were not reached. Minimums are not checked in a shard, because it is only a
// part of the run.
func (r *runner) reportCoverage(ctx context.Context) {
	if r.coverage == nil || r.opts.Phase != All {
		return
	}
	state := r.exit.update(func(*exitState) {})
	partial := cmp.Or(r.opts.CoveragePartial, state.halted)
	switch {
	case ctx.Err() != nil:
		partial = "the run was interrupted"
	case state.setupFailed:
		partial = "the setup failed"
	}
	c := r.coverage.record(partial)
	findings := c.Findings()
	r.deps.Send(result.CoverageMeasured{Coverage: c})
	if r.opts.Shard != nil {
		return
	}
	for _, f := range findings {
		r.exit.update(func(s *exitState) { s.gate = true })
		r.deps.Send(result.FindingSeen{Finding: f})
	}
}

// examined is the coverage data of one operation of an attempt.
type examined struct {
	server *measured
	method string
	params jsonv.Value
	result bool // an assertion examined the result
	lists  []coverage.Assertion
}

// measure records an operation that got a response, and the assertions on it. count
// adds it when the attempt ends.
func (a *attempt) measure(op *plan.Op, x *mcp.Exchange, items []result.Assertion) {
	m := a.file.run.coverage
	if m == nil {
		return
	}
	e := examined{server: m.server(a.server(op).Def, a.file.file)}
	if x != nil {
		frame, _ := jsonv.Parse(x.Request)
		e.method, e.params = frame.Lookup("method").Text(), frame.Lookup("params")
	}
	for _, cp := range op.Capture {
		e.target(cp.Target.String(), "")
	}
	e.assertions(items)
	a.examined = append(a.examined, e)
}

func (e *examined) assertions(items []result.Assertion) {
	for i := range items {
		if items[i].Set {
			e.assertions(items[i].Assertions)
		} else {
			e.target(items[i].Target, items[i].Matcher)
		}
	}
}

func (e *examined) target(text, matcher string) {
	t, err := target.Parse(text)
	if err != nil {
		return
	}
	switch root := t.Root(); root {
	case "result", "error", "refusal", "text", "structured":
		e.result = true
		if e.method == "tools/list" && root == "result" {
			e.lists = append(e.lists, coverage.Assertion{Target: text, Matcher: matcher})
		}
	case "surface":
		e.lists = append(e.lists, coverage.Assertion{Target: text, Matcher: matcher})
	}
}

// count adds the coverage of the attempt, unless it got no response.
func (a *attempt) count() {
	if s := a.out.c.Status; s != result.Pass && s != result.Fail {
		return
	}
	for _, e := range a.examined {
		e.server.Call(e.method, e.params, e.result)
		for _, l := range e.lists {
			e.server.Assert(l)
		}
	}
}
