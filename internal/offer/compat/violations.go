package compat

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// apply returns the places that violate the rule.
func (r *Rule) apply(ctx context.Context, l List, p Profile, chosen map[string][]place) ([]place, error) {
	if r.Detect == "" {
		return r.findViolations(ctx, l, p, chosen)
	}
	found := detectors[r.Detect](l)
	if r.On == "" {
		return found, nil
	}
	more, err := r.findViolations(ctx, l, p, chosen)
	for _, at := range more {
		seen := func(other place) bool { return other.tool == at.tool && other.pointer == at.pointer }
		if !slices.ContainsFunc(found, seen) {
			found = append(found, at)
		}
	}
	return found, err
}

// findViolations returns the places that violate Must.
func (r *Rule) findViolations(ctx context.Context, l List, p Profile, chosen map[string][]place) ([]place, error) {
	places, ok := chosen[r.On]
	if !ok {
		places = selectors[r.On](l, p)
		chosen[r.On] = places
	}
	if len(r.Words) > 0 {
		places = r.selectWithWords(places)
	}
	if r.forbids() {
		places = splitLong(places)
	}
	fits, err := r.matchPlaces(ctx, places)
	if err != nil {
		return nil, err
	}
	var hits []place
	for i, at := range places {
		if fits[i] {
			continue
		}
		isAnotherPart := r.forbids() && len(hits) > 0 && hits[len(hits)-1].isSameText(at)
		if !isAnotherPart {
			hits = append(hits, at)
		}
	}
	return hits, nil
}

// selectWithWords returns the places whose text has one of the rule's words: only they can
// violate it, and a search for words is cheaper than a pattern.
func (r *Rule) selectWithWords(places []place) []place {
	var out []place
	for _, at := range places {
		hasWord := func(w string) bool { return strings.Contains(at.value.Text(), w) }
		if slices.ContainsFunc(r.Words, hasWord) {
			out = append(out, at)
		}
	}
	return out
}

// matchPlaces reports for each place whether its value matches Must. Texts that occur more than
// once, as many do, are examined once.
func (r *Rule) matchPlaces(ctx context.Context, places []place) ([]bool, error) {
	var values []jsonv.Value
	index := make([]int, len(places)) // of the value of a place
	known := map[string]int{}         // text → index of its value
	for i, at := range places {
		index[i] = len(values)
		if at.value.Kind() == jsonv.KindString {
			if j, ok := known[at.value.Text()]; ok {
				index[i] = j
				continue
			}
			known[at.value.Text()] = len(values)
		}
		values = append(values, at.value)
	}
	if len(values) == 0 {
		return nil, nil
	}
	schema, err := r.schema()
	if err != nil {
		return nil, err
	}
	matches := make([]bool, 0, len(values))
	for some := range slices.Chunk(values, 500) {
		more, err := schema.Matches(ctx, some)
		if err != nil {
			return nil, err
		}
		matches = append(matches, more...)
	}
	fits := make([]bool, len(places))
	for i := range places {
		fits[i] = matches[index[i]]
	}
	return fits, nil
}

// isSameText reports whether two places are parts of one text.
func (at place) isSameText(other place) bool {
	return at.pointer == other.pointer && at.tool == other.tool && at.subject == other.subject
}

// forbids reports whether the rule is about texts, and a text breaks it if a part does.
func (r *Rule) forbids() bool {
	_, not := r.Must.Get("not")
	return not && r.Must.Len() == 1 && (r.On == "texts" || r.On == "lower_texts")
}

// A text is examined in parts of maxPart bytes, which share up to commonPart bytes,
// because the time for some patterns grows with the square of the length.
const maxPart, commonPart = 16 << 10, 2 << 10

// splitLong divides long texts, after a sentence if possible: words such as "never"
// before a phrase are looked for in the same sentence.
func splitLong(places []place) []place {
	var out []place
	for _, at := range places {
		text := at.value.Text()
		for len(text) > maxPart {
			end := maxPart
			for end > 0 && !utf8.RuneStart(text[end]) {
				end--
			}
			out = append(out, place{at.tool, at.subject, at.pointer, jsonv.String(text[:end]), at.line})
			common := text[end-commonPart : end]
			text = text[end-commonPart+findStart(common):]
		}
		at.value = jsonv.String(text)
		out = append(out, at)
	}
	return out
}

// findStart returns where the next part begins in the end of a part: after a sentence, or else
// after a word, or else at a character.
func findStart(common string) int {
	if i := strings.Index(common, ". "); i >= 0 {
		return i + 2
	}
	if i := strings.IndexByte(common, ' '); i >= 0 {
		return i + 1
	}
	i := 0
	for !utf8.RuneStart(common[i]) {
		i++
	}
	return i
}
