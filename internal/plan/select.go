package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// selector selects the cases to run.
type selector struct {
	set     Settings
	match   []func(string) bool
	hit     []bool // by filter: whether it matched a name
	anyOnly bool
}

func newSelector(set Settings) (*selector, source.Diagnostics) {
	s := &selector{set: set}
	var diags source.Diagnostics
	for _, f := range set.Filters {
		expr, isRE := strings.CutPrefix(f, "re:")
		if !isRE {
			s.match = append(s.match, func(name string) bool { return strings.Contains(name, f) })
			continue
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			diags = append(diags, source.Diagnostic{
				Path: "--filter", Code: "flag", Msg: fmt.Sprintf("%q is not a regular expression: %v", expr, err),
			})
			continue
		}
		s.match = append(s.match, re.MatchString)
	}
	s.hit = make([]bool, len(s.match))
	return s, diags
}

// byName reports whether the selection depends on names.
func (s *selector) byName() bool { return len(s.match) > 0 || s.set.Names != nil }

// most returns an upper bound of the number of selected cases.
func (s *selector) most(p *Plan) int {
	if s.byName() || s.anyOnly {
		return 0
	}
	return p.written
}

func (s *selector) selectFrom(refs []ref, file int, f *File) []ref {
	for ti, t := range f.templates {
		for row := range t.rowCount() {
			if s.anyOnly && !t.onlyAt(row) || !s.tags(t.tagsAt(row)) {
				continue
			}
			for si := range t.serverCount(row) {
				if s.want(t, row, si) {
					refs = append(refs, ref{file: int32(file), template: int32(ti), row: int32(row), server: int32(si)})
				}
			}
		}
	}
	return refs
}

func (s *selector) tags(tags []string) bool {
	has := func(t string) bool { return slices.Contains(tags, t) }
	if slices.ContainsFunc(s.set.SkipTags, has) {
		return false
	}
	return len(s.set.Tags) == 0 || slices.ContainsFunc(s.set.Tags, has)
}

func (s *selector) want(t *template, row, server int) bool {
	if len(s.set.Servers) > 0 {
		sv := t.serverAt(row, server)
		if sv == nil || !slices.ContainsFunc(s.set.Servers, func(name string) bool { return suite.MatchName(name, sv.Name) }) {
			return false
		}
	}
	if !s.byName() {
		return true
	}
	name := t.caseName(row, server)
	if s.set.Names != nil && !s.set.Names[name] && !s.set.Names[NameHash(name)] {
		return false
	}
	matched := len(s.match) == 0
	for i, match := range s.match {
		if match(name) {
			s.hit[i], matched = true, true
		}
	}
	return matched
}
