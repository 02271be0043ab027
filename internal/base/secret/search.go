package secret

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// searcher finds the places where a secret may begin. Secrets are identified by their
// first three bytes: these are hashed to bits of a filter, and heads contains the
// secrets that begin with them. Most bytes of a text do not reach the filter, because
// their pairs are in different groups. With the filter alone, BenchmarkRedactClean is
// slower: 500 instead of 725 MB/s in alternating runs.
type searcher struct {
	groups [256]uint32 // low half: groups of the first byte; high half: of the second
	filter [512]uint64
	heads  map[uint32]*head
	short  map[string]bool // declared values too short to be masked inside text
	values []string        // all others
	mixed  bool            // a value with characters that some styles escape and others do not
}

// head contains the secrets that begin with the same three bytes, or with one byte.
type head struct {
	encodings []encoding // of values, the longest first
	patterns  []start
}

// newSearcher returns a searcher for patterns, without declared values.
func newSearcher(patterns []pattern) *searcher {
	t := &searcher{short: map[string]bool{}, heads: map[uint32]*head{}}
	for i := range patterns {
		for _, prefix := range patterns[i].prefixes {
			for _, s := range listSpellings(prefix[:min(len(prefix), 3)], patterns[i].fold) {
				h := t.findHead(s)
				h.patterns = append(h.patterns, start{&patterns[i], prefix})
			}
		}
	}
	return t
}

// declare adds a value.
func (t *searcher) declare(v string) {
	if len(v) >= MinLength {
		t.values = append(t.values, v)
		t.mixed = t.mixed || strings.Contains(v, `\`) || strings.Contains(v, `"`) && strings.ContainsFunc(v, unicode.IsControl)
		t.findHead(ellipsis)
		for _, e := range listEncodings(v) {
			t.enter(e)
		}
		return
	}
	t.short[v] = true
	if len(v) >= 3 {
		inner := encodeJSONInner(v)
		t.enter(encoding{`"` + inner + `"`, inQuotes})
		t.enter(encoding{`\"` + inner + `\"`, inQuotes})
	}
}

func (t *searcher) enter(e encoding) {
	h := t.findHead(e.text)
	i, _ := slices.BinarySearchFunc(h.encodings, e, func(x, y encoding) int {
		return cmp.Compare(len(y.text), len(x.text)+1)
	})
	h.encodings = slices.Insert(h.encodings, i, e)
}

// listSpellings lists the ways to write s in upper and lower case.
func listSpellings(s string, fold bool) []string {
	if !fold {
		return []string{s}
	}
	all := []string{""}
	for _, c := range strings.ToLower(s) {
		var next []string
		for _, head := range all {
			next = append(next, head+string(c))
			if u := strings.ToUpper(string(c)); u != string(c) {
				next = append(next, head+u)
			}
		}
		all = next
	}
	return all
}

// key is the first three bytes of s.
func key(s string) uint32 { return uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2]) }

// hash maps the low three bytes of k to a bit of the filter.
func hash(k uint32) uint32 { return k << 8 * 0x9e3779b1 >> 17 }

// findHead returns the secrets that begin with the first three bytes of s, or with its
// only byte, and makes such places candidates.
func (t *searcher) findHead(s string) *head {
	const anyPair = 1 << 15
	k := uint32(s[0]) << 16
	h := t.heads[k]
	if len(s) < 3 {
		t.groups[s[0]] |= anyPair
		for c := range t.groups {
			t.groups[c] |= anyPair << 16
		}
	} else {
		group := uint32(1) << (s[0] * 7 % 15)
		t.groups[s[0]] |= group
		t.groups[s[1]] |= group << 16
		k = key(s)
		t.filter[hash(k)>>6] |= 1 << (hash(k) & 63)
	}
	if t.heads[k] == nil {
		t.heads[k] = &head{}
		if h != nil {
			t.heads[k].patterns = slices.Clone(h.patterns)
		}
	}
	return t.heads[k]
}

// findCandidate returns the next position at or after i where a secret may begin, or -1.
func (t *searcher) findCandidate(s string, i int) int {
	if i+2 >= len(s) {
		return -1
	}
	first := t.groups[s[i]]
	for ; i+2 < len(s); i++ {
		second := t.groups[s[i+1]]
		if first&(second>>16) != 0 {
			h := hash(uint32(s[i])<<16 | uint32(s[i+1])<<8 | uint32(s[i+2]))
			if t.filter[h>>6&511]>>(h&63)&1 != 0 || first>>15&1 != 0 {
				return i
			}
		}
		first = second
	}
	return -1
}

// match looks for a secret at the candidate i and returns its place, or an
// empty one. A declared value wins over a pattern. open says that s was truncated at its
// end.
func (t *searcher) match(s string, i int, open bool) place {
	h := t.heads[key(s[i:])]
	if h == nil {
		if h = t.heads[uint32(s[i])<<16]; h == nil {
			return place{}
		}
	}
	if start, end := matchEncodings(s, i, h.encodings, open); end > start {
		return place{start: start, end: end, declared: true}
	}
	if len(t.values) > 0 && strings.HasPrefix(s[i:], ellipsis) {
		if start, end := t.findRest(s, i+len(ellipsis)); end > start {
			return place{start: start, end: end, declared: true}
		}
	}
	for _, pat := range h.patterns {
		if !pat.matchesAt(s, i) {
			continue
		}
		j := i + len(pat.prefix)
		if pat.find == nil {
			if p := findNamed(s, i, j); !p.empty() {
				return p
			}
		} else if start, end := pat.find(s, i, j); end > start {
			return place{start: start, end: end, named: pat.named, coded: pat.coded}
		}
	}
	return place{}
}

// findRest finds a part of a declared value at i, before which the text was truncated: up
// to the value's end, or to the next truncation.
func (t *searcher) findRest(s string, i int) (start, end int) {
	const least = MinLength - 2
	if len(s)-i < least {
		return i, 0
	}
	for _, v := range t.values {
		for from := 0; ; from++ {
			k := strings.Index(v[from:], s[i:i+least])
			if k < 0 {
				break
			}
			from += k
			n := findCommonPrefix(s[i:], v[from:])
			if (from+n == len(v) || cut(s, i+n)) && i+n > end {
				end = i + n
			}
		}
	}
	return i, end
}

func matchEncodings(s string, i int, list []encoding, open bool) (start, end int) {
	for _, e := range list {
		n := findCommonPrefix(s[i:], e.text)
		switch {
		case n == len(e.text) && e.kind == inQuotes:
			q := len(e.text) - len(strings.TrimRight(e.text, `\"`))
			if rest := strings.TrimLeft(s[i+n:], " "); strings.HasPrefix(rest, ":") {
				continue // a member's name
			}
			return i + q, i + n - q
		case n == len(e.text) && e.kind == inBase64:
			start, end = i, i+n
			if start > 0 && base64Char(s[start-1]) {
				start--
			}
			if end < len(s) && base64Char(s[end]) {
				end++
			}
			return start, end
		case n == len(e.text):
			return i, i + n
		case n >= MinLength-2 && e.kind != inQuotes && cut(s, i+n) && (open || i+n < len(s)) &&
			!hasLeadingWord(e.text, n):
			return i, i + n
		}
	}
	return 0, 0
}

func findCommonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
