package secret

import (
	"cmp"
	"slices"
	"strings"
)

// Limits on nested escapes, for any text.
const (
	maxDepth     = 5
	maxDecodings = 16
)

// findPlaces returns the places of secrets in s, in their order. open says that s was
// truncated at its end.
func (t *searcher) findPlaces(s string, open bool) []place {
	places := t.scan(s, open)
	n, left := len(places), maxDecodings
	if places = t.findDeeper(places, s, open, nil, &left); len(places) > n {
		sortPlaces(places)
	}
	return places
}

// scan returns the places of secrets in s without decoding its escapes.
func (t *searcher) scan(s string, open bool) (places []place) {
	done, inside := 0, 0 // inside is the end of an object or list under the name of a credential, where names were judged
	for i := t.findCandidate(s, 0); i >= 0; i = t.findCandidate(s, i) {
		p := t.match(s, i, open)
		if p.end <= max(p.start, done) || (p.nested || p.named) && p.start < inside {
			i++
			continue
		}
		found, end := []place{p}, p.end
		switch {
		case p.nested: // a declared secret and a token are found in it, too
			found, inside = leaves(s, p.start, p.quote)
		case p.coded:
			if found = t.findInBase64(s[p.start:p.end], p.start); len(found) == 0 {
				end = i + 1
			}
		default:
			found[0].start = max(p.start, done)
		}
		for _, p := range found {
			if !p.declared && !p.coded {
				p.value = s[p.start:p.end]
			}
			places = append(places, p)
		}
		i = end
		if len(found) > 0 || p.nested {
			done = end
		}
	}
	if inside > 0 {
		sortPlaces(places)
	}
	return places
}

func sortPlaces(places []place) {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
}

// findInBase64 finds the secrets in the text that s, which is at a position of a longer one,
// encodes. Each place includes the whole groups of four characters.
func (t *searcher) findInBase64(s string, at int) []place {
	if len(s)%4 == 1 { // truncated
		s = s[:len(s)-1]
	}
	plain, ok := decodeBase64(s)
	if !ok {
		return nil
	}
	places := t.findPlaces(plain, true)
	for i := range places {
		p := &places[i]
		p.start, p.end, p.quote, p.coded = at+p.start/3*4, at+min((p.end+2)/3*4, len(s)), "", true
	}
	return places
}

// findDeeper adds the secrets in s with its escapes decoded. back maps a position in s to
// the original text, the last decoding first; left is the number of further decodings
// that are allowed.
func (t *searcher) findDeeper(places []place, s string, open bool, back []*decoding, left *int) []place {
	if len(back) >= maxDepth {
		return places
	}
	look := func(v decoding) {
		if v.text == s || *left == 0 {
			return
		}
		*left--
		path := append([]*decoding{&v}, back...)
		for _, p := range t.scan(v.text, open) {
			if p.quote != "" {
				continue // a number, which is found with its escaped quotes too
			}
			for _, w := range path {
				p.start, p.end = w.mapBack(p.start, p.end)
			}
			places = append(places, p)
		}
		places = t.findDeeper(places, v.text, open, path, left)
	}
	if t.mixed && strings.Contains(s, `\`) || hasEscapes(s) { // no encoding covers a mixed value
		d := decodeEscapes(s, false)
		if latin := decodeEscapes(s, true); latin.text != d.text {
			look(latin)
		}
		look(d)
	}
	if hasURL(s) {
		look(decode(s, "%&", decodeURLEscape))
	}
	return places
}
