package plan

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/source"
)

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
			text, isRE := strings.CutPrefix(s.set.Filters[i], "re:")
			if isRE {
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
