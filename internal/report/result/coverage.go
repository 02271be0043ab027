package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Measured parts of a surface, in the order of reports.
const (
	Tools           = "tools"
	Arguments       = "arguments"
	NestedArguments = "nested_arguments" // in objects and lists
	EnumValues      = "enum_values"
	Resources       = "resources"
	Prompts         = "prompts"
	Annotations     = "annotations"
)

// ListMeasured returns the parts of a surface that coverage measures.
func ListMeasured() []string {
	return []string{Tools, Arguments, NestedArguments, EnumValues, Resources, Prompts, Annotations}
}

// CoverageFinding is the kind of a finding about insufficient coverage.
const CoverageFinding = "coverage"

// Coverage is the share of what the servers of a run offer that its tests examined.
type Coverage struct {
	// Partial is the reason why not all tests count; minimums are then not checked.
	Partial string           `json:"partial,omitempty"`
	Servers []ServerCoverage `json:"servers"`
}

// ServerCoverage is the coverage of one server.
type ServerCoverage struct {
	Server string `json:"server"`
	File   string `json:"file,omitempty"` // the file that declares the server
	// Unknown is the reason why it is unknown what the server offers.
	Unknown string `json:"unknown,omitempty"`
	// Tokens is an estimate of the tokens of all tools' definitions in the context of
	// a model.
	Tokens int       `json:"tokens,omitempty"`
	Parts  []Covered `json:"parts,omitempty"`
	// Unasserted are tools, resources and prompts that tests used without an
	// assertion on the result. They count as missing.
	Unasserted []string   `json:"unasserted,omitempty"`
	Skeletons  []Skeleton `json:"skeletons,omitempty"`
}

// Covered is the coverage of one part of a surface.
type Covered struct {
	Of      string `json:"of"` // tools, arguments, nested_arguments, enum_values, resources, prompts, annotations
	Covered int    `json:"covered"`
	Total   int    `json:"total"`
	// Minimum is the share in percent below which the run fails.
	Minimum *int     `json:"minimum,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// Skeleton is the draft of a test for an untested item.
type Skeleton struct {
	Of   string `json:"of"`
	Name string `json:"name"`
	YAML string `json:"yaml"` // an entry of the block Of
}

// computePercent returns the covered share; an empty part is fully covered.
func (c *Covered) computePercent() float64 {
	if c.Total == 0 {
		return 100
	}
	return 100 * float64(c.Covered) / float64(c.Total)
}

// Findings returns a finding for each minimum that is not reached.
func (c *Coverage) Findings() (out []Finding) {
	if c == nil || c.Partial != "" {
		return nil
	}
	for i := range c.Servers {
		s := &c.Servers[i]
		for _, p := range s.Parts {
			why := ""
			switch {
			case p.Minimum == nil || *p.Minimum == 0:
			case s.Unknown != "":
				why = "unknown, because " + s.Unknown
			case p.computePercent() < float64(*p.Minimum):
				tenths := float64(int(10*p.computePercent())) / 10
				why = fmt.Sprintf("%d of %d (%s %%)", p.Covered, p.Total, strconv.FormatFloat(tenths, 'f', -1, 64))
			}
			if why != "" {
				out = append(out, Finding{
					Kind: CoverageFinding, Severity: "error", Server: s.Server, File: s.File,
					Message: fmt.Sprintf("%s: the minimum is %d %%, and the coverage is %s", strings.ReplaceAll(p.Of, "_", " "), *p.Minimum, why),
				})
			}
		}
	}
	return out
}

// mergeCoverage merges the coverage of the shards of a run; nil if none of them
// measured it.
func mergeCoverage(parts []Part) *Coverage {
	var out *Coverage
	for _, p := range parts {
		if p.Run.Coverage == nil {
			continue
		}
		if out == nil {
			out = &Coverage{}
		}
		out.Partial = cmp.Or(out.Partial, p.Run.Coverage.Partial)
		for _, s := range p.Run.Coverage.Servers {
			i := slices.IndexFunc(out.Servers, func(o ServerCoverage) bool { return o.Server == s.Server && o.File == s.File })
			if i < 0 {
				out.Servers = append(out.Servers, s)
			} else {
				out.Servers[i] = out.Servers[i].add(&s)
			}
		}
	}
	if out != nil {
		slices.SortFunc(out.Servers, func(a, b ServerCoverage) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Server, b.Server))
		})
	}
	return out
}

// add adds what another shard covered of the same kind.
func (c Covered) add(other Covered) Covered {
	var missing []string
	for _, name := range c.Missing {
		if slices.Contains(other.Missing, name) {
			missing = append(missing, name)
		}
	}
	c.Missing = missing
	c.Covered = c.Total - len(c.Missing)
	c.Minimum = cmp.Or(c.Minimum, other.Minimum)
	return c
}

// add adds the coverage of another shard. If it is unknown in one shard, the sum is
// unknown.
func (s ServerCoverage) add(o *ServerCoverage) ServerCoverage {
	out := ServerCoverage{
		Server:  s.Server,
		File:    s.File,
		Unknown: cmp.Or(s.Unknown, o.Unknown),
		Tokens:  max(s.Tokens, o.Tokens),
	}
	missing := map[[2]string]bool{}
	for _, p := range s.Parts {
		if i := slices.IndexFunc(o.Parts, func(q Covered) bool { return q.Of == p.Of }); i >= 0 {
			q := o.Parts[i]
			if p.Total != q.Total && out.Unknown == "" {
				what := strings.ReplaceAll(p.Of, "_", " ")
				out.Unknown = fmt.Sprintf("the server offered %d %s to one shard and %d to another", p.Total, what, q.Total)
			}
			p = p.add(q)
		}
		for _, name := range p.Missing {
			missing[[2]string{p.Of, name}] = true
		}
		out.Parts = append(out.Parts, p)
	}
	for _, name := range slices.Concat(s.Unasserted, o.Unasserted) {
		for _, of := range []string{Tools, Resources, Prompts} {
			if missing[[2]string{of, name}] && !slices.Contains(out.Unasserted, name) {
				out.Unasserted = append(out.Unasserted, name)
			}
		}
	}
	for _, k := range s.Skeletons {
		if missing[[2]string{k.Of, k.Name}] {
			out.Skeletons = append(out.Skeletons, k)
		}
	}
	return out
}
