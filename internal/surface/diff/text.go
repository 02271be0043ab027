package diff

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

var address = sync.OnceValue(func() *regexp.Regexp {
	const rest = "[^\\s\"'`<>\\])}|]+"
	return regexp.MustCompile("[a-zA-Z][a-zA-Z0-9+.-]*://" + rest + "|\\bwww\\.[a-zA-Z0-9-]+\\." + rest + "|\\bdata:[a-z]+/" + rest + "|<!--(?s:.*?)-->")
})

// noProse are members whose texts are no prose that a model reads.
var noProse = []string{"$schema", "$id", "$ref", "uri", "uriTemplate", "src", "websiteUrl"}

// texts reports what new texts of a definition bring in: hidden characters, and
// addresses that the old definition does not mention. It returns the pointers
// of these texts. A definition without predecessor may mention addresses.
func (c *comparer) texts(old, new jsonv.Value) map[string]bool {
	known, urls := map[string]bool{}, map[string]bool{}
	each(old, "", func(_, s string) {
		known[s] = true
		for _, u := range addresses(s) {
			urls[u] = true
		}
	})
	flagged := map[string]bool{}
	each(new, "", func(ptr, s string) {
		if known[s] {
			return
		}
		known[s] = true
		if chars := hidden(s); len(chars) > 0 {
			flagged[ptr] = true
			c.add(Trust, ptr, "", "%s has hidden characters that a person does not see: %s", label(ptr), strings.Join(chars, ", "))
		}
		if old.IsAbsent() {
			return
		}
		for _, u := range addresses(s) {
			if !urls[u] {
				urls[u], flagged[ptr] = true, true
				what := "mentions an address that was not there before"
				if strings.HasPrefix(u, "<!--") {
					what = "has a comment that a rendered text does not show"
				}
				c.add(Trust, ptr, "", "%s %s: %s", label(ptr), what, jsonv.String(u).Short(200))
			}
		}
	})
	return flagged
}

// each calls fn for every text of a value and for every key.
func each(v jsonv.Value, ptr string, fn func(ptr, s string)) {
	if v.Kind() == jsonv.KindString {
		fn(ptr, v.Text())
	}
	for k, e := range v.Members() {
		at := jsonv.AppendPointer(ptr, k)
		if len(hidden(k)) > 0 {
			fn(at, k)
		}
		if !slices.Contains(noProse, k) || e.Kind() != jsonv.KindString {
			each(e, at, fn)
		}
	}
	for i, e := range v.Elems() {
		each(e, jsonv.AppendPointer(ptr, fmt.Sprint(i)), fn)
	}
}

func addresses(s string) []string {
	var out []string
	for _, u := range address().FindAllString(s, -1) {
		out = append(out, strings.TrimRight(u, ".,;:!?*_"))
	}
	return out
}

// hidden lists the hidden characters of a text, other than white space and the
// joiners of scripts and emoji.
func hidden(s string) []string {
	var out []string
	before := rune(0)
	for i, r := range s {
		if display.Hidden(r) && !strings.ContainsRune("\n\r\t", r) && !display.Joins(before, r, s[i+utf8.RuneLen(r):]) {
			if name := fmt.Sprintf("U+%04X", r); !slices.Contains(out, name) && len(out) < 8 {
				out = append(out, name)
			}
		}
		before = r
	}
	return out
}
