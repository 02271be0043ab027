package explain

import (
	"slices"
	"strings"

	"mcptest/internal/report/result"
)

// Section is a run of cases that belong to one suite, in plan order, with its totals.
type Section struct {
	name, File string
	result.Summary
	MS      float64
	Scores  []named // of cases that have one
	Metrics []named
}

type named struct {
	Name  string
	Value float64
}

// ListSections reads the cases once and returns their suites.
func ListSections(r *result.Run) ([]*Section, error) {
	var out []*Section
	metric := map[string]*[]float64{}
	var order []string
	closeOne := func() {
		if len(out) == 0 {
			return
		}
		s := out[len(out)-1]
		for _, name := range order {
			values, sum := *metric[name], 0.0
			for _, v := range values {
				sum += v
			}
			s.Metrics = append(s.Metrics, named{name, sum / float64(len(values))})
		}
		clear(metric)
		order = nil
	}
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		file := FindSuiteFile(c, r.Suites)
		if len(out) == 0 || out[len(out)-1].name != c.Suite || out[len(out)-1].File != file {
			closeOne()
			out = append(out, &Section{name: c.Suite, File: file})
		}
		s := out[len(out)-1]
		s.add(c)
		for _, m := range c.DerivedMetrics {
			if metric[m.Name] == nil {
				metric[m.Name] = &[]float64{}
				order = append(order, m.Name)
			}
			*metric[m.Name] = append(*metric[m.Name], m.Value)
		}
	}
	closeOne()
	return out, nil
}

// Status returns the worst status of the cases.
func (s *Section) Status() result.Status {
	switch {
	case s.Errored > 0:
		return result.Error
	case s.Failed > 0:
		return result.Fail
	case s.Inconclusive > 0:
		return result.Inconclusive
	case s.Skipped == s.Total:
		return result.Skip
	}
	return result.Pass
}

func (s *Section) add(c *result.Case) {
	s.Summary.Add(c)
	s.MS += c.DurationMS
	if c.Score != nil {
		s.Scores = append(s.Scores, named{c.Name, *c.Score})
	}
}

// Title returns the title of a section.
func (s *Section) Title() string {
	switch {
	case s.name != "":
		return s.name
	case s.File != "":
		return s.File
	}
	return "tests"
}

// WalkSections calls fn for each case with its section; all must be the result of
// Sections for the same record.
func WalkSections(r *result.Run, all []*Section, fn func(s *Section, first bool, c *result.Case) error) error {
	at, n := 0, 0
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		for n == all[at].Total {
			at, n = at+1, 0
		}
		if err := fn(all[at], n == 0, c); err != nil {
			return err
		}
		n++
	}
	return nil
}

// FindSuiteFile returns the file of the suite of a case. The case may be in a file that
// the suite imports, and suites in different folders may have the same name.
func FindSuiteFile(c *result.Case, suites []result.Suite) string {
	of := func(s result.Suite) bool { return s.Name == c.Suite }
	own := func(s result.Suite) bool { return s.File == c.File }
	if i := slices.IndexFunc(suites, of); i >= 0 && !slices.ContainsFunc(suites, own) {
		return suites[i].File
	}
	return c.File
}

// Variant holds the totals of one variant of a server.
type Variant struct {
	Server, Name string
	Totals       Section
}

// ListVariants returns the totals of each variant, grouped by server, in plan order. It
// is empty for runs without variants, whose cases are not read.
func ListVariants(r *result.Run) ([]*Variant, error) {
	if !slices.ContainsFunc(r.Servers, func(s result.Server) bool { return strings.Contains(s.Name, "@") }) {
		return nil, nil
	}
	var servers []string
	of := map[string][]*Variant{}
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		server, name := SplitVariant(c.Server)
		if name == "" {
			continue
		}
		i := slices.IndexFunc(of[server], func(v *Variant) bool { return v.Name == name })
		if i < 0 {
			if len(of[server]) == 0 {
				servers = append(servers, server)
			}
			i = len(of[server])
			of[server] = append(of[server], &Variant{Server: server, Name: name})
		}
		of[server][i].Totals.add(c)
	}
	var out []*Variant
	for _, server := range servers {
		out = append(out, of[server]...)
	}
	return out, nil
}

// SplitVariant splits the name of a variant of a server; variant is empty for other
// servers.
func SplitVariant(name string) (server, variant string) {
	server, variant, _ = strings.Cut(name, "@")
	return server, variant
}

// SplitModel returns the name of a test without those of its model and server, and its model
// if it has one of several; otherwise model is empty.
func SplitModel(c *result.Case) (name, model string) {
	name = strings.TrimSuffix(c.Name, " @"+c.Server)
	model, ok := strings.CutPrefix(c.Call, "model ")
	short, several := strings.CutSuffix(name, " ("+model+")")
	if ok && several && c.Block == "agents" {
		return short, model
	}
	return name, ""
}
