package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
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

// maxSelected returns an upper bound of the number of selected cases.
func (s *selector) maxSelected(p *Plan) int {
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
				if s.selected(t, row, si) {
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

func (s *selector) selected(t *template, row, server int) bool {
	if len(s.set.Models) > 0 {
		c, ok := t.proto.Ops[0].Action.(*agent.Conversation)
		if !ok || !slices.Contains(s.set.Models, c.Model) {
			return false
		}
	}
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

// maxSearched is the largest number of cases whose names are searched for
// suggestions.
const maxSearched = 10_000

// misspelled warns about tags and filters that match no test of the suites, whether
// selected or not.
func (s *selector) misspelled(p *Plan) source.Diagnostics {
	var diags source.Diagnostics
	warn := func(flag, msg, value string, known []string) {
		diags = append(diags, source.Diagnostic{
			Path: flag, Severity: source.Warning, Code: "no-match", Msg: fmt.Sprintf(msg, value), Hint: source.DidYouMean(value, known),
		})
	}
	if len(s.set.Tags)+len(s.set.SkipTags) > 0 {
		known := p.tags()
		for _, tag := range s.set.Tags {
			if !slices.Contains(known, tag) {
				warn("--tag", "no test has the tag %q", tag, known)
			}
		}
		for _, tag := range s.set.SkipTags {
			if !slices.Contains(known, tag) {
				warn("--skip-tag", "no test has the tag %q", tag, known)
			}
		}
	}
	for i, match := range s.match {
		if s.hit[i] {
			continue
		}
		if words, found := p.wordsUnless(match); !found {
			if text, isRE := strings.CutPrefix(s.set.Filters[i], "re:"); isRE {
				warn("--filter", "no test's name matches %q", text, nil)
			} else {
				warn("--filter", "no test's name contains %q", text, words)
			}
		}
	}
	return diags
}

// tags returns the tags of all tests, sorted.
func (p *Plan) tags() []string {
	var out []string
	for _, f := range p.Files {
		for _, t := range f.templates {
			if t.meta == nil {
				out = append(out, t.tags...)
				continue
			}
			for _, tags := range t.sets.tags {
				out = append(out, tags...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wordsUnless returns the names of all cases and the words in them. It returns
// found instead if a name matches.
func (p *Plan) wordsUnless(match func(string) bool) (words []string, found bool) {
	searched := 0
	for _, f := range p.Files {
		for _, t := range f.templates {
			for row := range t.rowCount() {
				for si := range t.serverCount(row) {
					if searched++; searched > maxSearched {
						return nil, true
					}
					name := t.caseName(row, si)
					if match(name) {
						return nil, true
					}
					words = append(append(words, name), strings.Fields(name)...)
				}
			}
		}
	}
	return words, false
}
