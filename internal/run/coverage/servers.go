package coverage

import (
	"cmp"
	"slices"
	"sync"

	"mcptest/internal/offer/surface"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
)

// Servers are the servers of a run whose coverage is measured. It is safe for concurrent
// use; a nil one measures nothing.
type Servers struct {
	mu    sync.Mutex
	byKey map[string]*Server // by plan.Server.Key
}

// Server is the coverage of one server.
type Server struct {
	Use
	def     *plan.Server
	minimum map[string]*int
	offer   *surface.Offer
	unknown string // why offer is nil
}

// NewServers returns nil unless coverage is measured: it is wanted, or a suite demands it.
func NewServers(p *plan.Plan, wanted bool) *Servers {
	demands := func(f *plan.File) bool { return f.Suite != nil && f.Suite.Coverage != nil }
	if !wanted && !slices.ContainsFunc(p.Files, demands) {
		return nil
	}
	m := &Servers{byKey: map[string]*Server{}}
	for i := range p.Len() { // including tests that will be skipped
		if s := p.ServerOf(i); s != nil {
			m.Server(s, p.Files[p.FileOf(i)])
		}
	}
	return m
}

// Server returns a server that a test of a file uses; nil if nothing is measured.
func (m *Servers) Server(def *plan.Server, file *plan.File) *Server {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byKey[def.Key]
	if s == nil {
		s = &Server{def: def, minimum: map[string]*int{}, unknown: "the server was not started"}
		m.byKey[def.Key] = s
	}
	if file.Suite == nil || file.Suite.Coverage == nil {
		return s
	}
	for of, least := range file.Suite.Coverage.Minimums() {
		have := s.minimum[of]
		if least != nil && (have == nil || *have < *least) {
			s.minimum[of] = least
		}
	}
	return s
}

// AddUnsurveyed returns a server whose offer is not known; nil if it is, or if the server is
// not measured.
func (m *Servers) AddUnsurveyed(def *plan.Server) *Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byKey[def.Key]
	if s == nil || s.offer != nil {
		return nil
	}
	return s
}

// SetOffer sets what a server offers.
func (s *Server) SetOffer(offer *surface.Offer) { s.offer, s.unknown = offer, "" }

// SetUnknown says why it is not known what a server offers.
func (s *Server) SetUnknown(why string) { s.unknown = why }

// Record compares the used items with the offered ones. Partial says why the run was not
// the whole one; "" if it was.
func (m *Servers) Record(partial string) *result.Coverage {
	out := &result.Coverage{Partial: partial, Servers: []result.ServerCoverage{}}
	for _, s := range m.byKey {
		r := result.ServerCoverage{Server: s.def.Name, File: s.def.Pos.File.Name, Unknown: s.unknown}
		if s.offer != nil {
			for _, def := range s.offer.Lists[surface.Tool] {
				r.Tokens += surface.Tokens(def)
			}
			r.Parts, r.Unasserted, r.Skeletons = Measure(s.offer, &s.Use)
		} else {
			for _, of := range result.ListMeasured() {
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
