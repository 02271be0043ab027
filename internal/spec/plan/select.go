package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// selector selects the cases to run.
type selector struct {
	set     Settings
	match   []func(string) bool
	without []func(string) bool // of filters that begin with !
	hit     []bool              // by filter of match: whether it matched a name
	wanted  []string            // the filters of match
	anyOnly bool
	chosen  map[*template]bool // at the places; nil: all
}

func newSelector(set Settings) (*selector, source.Diagnostics) {
	s := &selector{set: set}
	var diags source.Diagnostics
	for _, written := range set.Filters {
		f, inverse := strings.CutPrefix(written, "!")
		match, err := newMatcher(f)
		switch {
		case err != nil:
			diags = append(diags, source.Diagnostic{
				Path: "--filter", Code: "flag", Msg: fmt.Sprintf("%q is not a regular expression: %v", strings.TrimPrefix(f, "re:"), err),
			})
		case inverse:
			s.without = append(s.without, match)
		default:
			s.match, s.wanted = append(s.match, match), append(s.wanted, f)
		}
	}
	s.hit = make([]bool, len(s.match))
	return s, diags
}

// newMatcher returns what compares names with a filter.
func newMatcher(filter string) (func(string) bool, error) {
	expr, isRE := strings.CutPrefix(filter, "re:")
	if !isRE {
		return func(name string) bool { return strings.Contains(name, filter) }, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	return re.MatchString, nil
}

// choosePlaces finds the tests at or above the chosen lines.
func (s *selector) choosePlaces(files []*File) (diags source.Diagnostics) {
	if s.set.Places == nil {
		return nil
	}
	s.chosen = map[*template]bool{}
	for _, place := range s.set.Places {
		var nearest *template
		for _, f := range files {
			for _, t := range f.templates {
				above := t.pos.File != nil && t.pos.File.Path == place.File && t.pos.Line <= place.Line
				if above && (nearest == nil || t.pos.Line > nearest.pos.Line) {
					nearest = t
				}
			}
		}
		if nearest == nil {
			diags = append(diags, source.Diagnostic{
				Path: place.String(), Code: "flag",
				Msg: "no test begins at or above this line",
			})
			continue
		}
		s.chosen[nearest] = true
	}
	return diags
}

// byName reports whether the selection depends on names.
func (s *selector) byName() bool { return len(s.match)+len(s.without) > 0 || s.set.Names != nil }

// countMaxSelected returns an upper bound of the number of selected cases.
func (s *selector) countMaxSelected(p *Plan) int {
	if s.byName() || s.anyOnly || s.chosen != nil {
		return 0
	}
	return p.written
}

func (s *selector) selectFrom(refs []ref, file int, f *File) []ref {
	for ti, t := range f.templates {
		if s.chosen != nil && !s.chosen[t] {
			continue
		}
		for row := range t.countRows() {
			if s.anyOnly && !t.isOnly(row) || !s.matchesTags(t.listTags(row)) {
				continue
			}
			for si := range t.serverCount(row) {
				if s.isSelected(t, row, si) {
					refs = append(refs, ref{file: int32(file), template: int32(ti), row: int32(row), server: int32(si)})
				}
			}
		}
	}
	return refs
}

func (s *selector) matchesTags(tags []string) bool {
	has := func(t string) bool { return slices.Contains(tags, t) }
	if slices.ContainsFunc(s.set.SkipTags, has) {
		return false
	}
	return len(s.set.Tags) == 0 || slices.ContainsFunc(s.set.Tags, has)
}

func (s *selector) isSelected(t *template, row, server int) bool {
	if len(s.set.Models) > 0 {
		c, ok := t.proto.Ops[0].Action.(*agent.Conversation)
		if !ok || !slices.Contains(s.set.Models, c.Model) {
			return false
		}
	}
	if len(s.set.Servers) > 0 {
		sv := t.getServer(row, server)
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
	if slices.ContainsFunc(s.without, func(match func(string) bool) bool { return match(name) }) {
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

// warnMisspelled warns about tags and filters that match no test of the suites, whether
// selected or not.
func (s *selector) warnMisspelled(p *Plan) source.Diagnostics {
	var diags source.Diagnostics
	warn := func(flag, msg, value string, known []string) {
		diags = append(diags, source.Diagnostic{
			Path: flag, Severity: source.Warning, Code: "no-match", Msg: fmt.Sprintf(msg, value), Hint: source.DidYouMean(value, known),
		})
	}
	if len(s.set.Tags)+len(s.set.SkipTags) > 0 {
		known := p.listTags()
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
		if words, found := p.findWords(match); !found {
			if text, isRE := strings.CutPrefix(s.wanted[i], "re:"); isRE {
				warn("--filter", "no test's name matches %q", text, nil)
			} else {
				warn("--filter", "no test's name contains %q", text, words)
				last := &diags[len(diags)-1]
				if isExpression(text) {
					last.Hint = "a filter is a part of a name, not an expression: --filter 'a' --filter '!b'"
				} else if pattern, ok := findPattern(text); ok && last.Hint == "" {
					last.Hint = "a filter is a part of a name; a regular expression begins with re: --filter " + shellwords.QuoteForShell("re:"+pattern)
				}
			}
		}
	}
	return diags
}

// findPattern returns the regular expression that a filter was meant as: a|b, /a/ or a*.
func findPattern(text string) (pattern string, ok bool) {
	pattern = text
	if inner, isQuoted := strings.CutPrefix(text, "/"); isQuoted && strings.HasSuffix(inner, "/") && len(inner) > 1 {
		pattern = strings.TrimSuffix(inner, "/")
	} else if strings.HasSuffix(text, "*") && !strings.HasSuffix(text, ".*") {
		pattern = "^" + regexp.QuoteMeta(strings.TrimSuffix(text, "*"))
	} else if !strings.ContainsAny(text, "|^$") {
		return "", false
	}
	_, err := regexp.Compile(pattern)
	return pattern, err == nil
}

// isExpression reports whether a filter is one of pytest: a and not b.
func isExpression(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		return word == "and" || word == "or" || word == "not"
	})
}

// listTags returns the tags of all tests, sorted.
func (p *Plan) listTags() []string {
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

// findWords returns the names of all cases and the words in them. It returns
// found instead if a name matches.
func (p *Plan) findWords(match func(string) bool) (words []string, found bool) {
	searched := 0
	for _, f := range p.Files {
		for _, t := range f.templates {
			for row := range t.countRows() {
				for si := range t.serverCount(row) {
					searched++
					if searched > maxSearched {
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
