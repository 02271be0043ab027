package secret

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// table is the compiled, immutable form of everything a redactor looks for.
// Each head (three bytes with which a secret may begin) belongs to one of 16
// groups; a place in a text is looked at when its first byte and the next one
// share a group, and is a candidate when its three bytes hash to a bit that is
// set in the filter. Clean text costs one load of a table a byte.
type table struct {
	groups [256]uint32 // low half: begins a head of the group, high half: is second in one
	filter [512]uint64
	single [256]bool       // heads of one byte, after which anything may follow
	first  [256][]*pattern // by first byte of the prefix
	short  map[string]bool // declared values too short to be masked inside text
	values []string        // the others
	// forms are the declared values by their first three bytes, the longest
	// first; in several maps, so that values may join at little cost.
	forms []map[uint32][]form
}

// newTable returns a table of patterns, without declared values.
func newTable(patterns []pattern) *table {
	t := &table{}
	for i := range patterns {
		t.enter(&patterns[i])
	}
	return t
}

// with returns a table with more declared values.
func (t *table) with(declared []string) *table {
	next := *t
	t = &next
	t.short = maps.Clone(t.short)
	t.forms = append(slices.Clip(t.forms), map[uint32][]form{})
	for _, v := range declared {
		if len(v) < MinLength {
			t.addShort(v)
			continue
		}
		t.values = append(slices.Clip(t.values), v)
		for _, f := range forms(v) {
			t.addForm(f)
		}
	}
	if len(t.values) > 0 {
		t.set(ellipsis)
	}
	t.settle()
	return t
}

// settle merges the last maps of forms as long as they are of about one size,
// and sorts.
func (t *table) settle() {
	last := len(t.forms) - 1
	for last > 0 && 2*len(t.forms[last]) >= len(t.forms[last-1]) {
		merged := maps.Clone(t.forms[last-1])
		for k, fs := range t.forms[last] {
			merged[k] = append(slices.Clip(merged[k]), fs...)
		}
		t.forms = append(slices.Clone(t.forms[:last-1]), merged)
		last--
	}
	for _, fs := range t.forms[last] {
		slices.SortStableFunc(fs, func(x, y form) int { return len(y.text) - len(x.text) })
	}
}

func (t *table) enter(p *pattern) {
	head := p.prefix[:min(len(p.prefix), 3)]
	for _, v := range variants(head, p.fold) {
		if c := v[0]; !slices.Contains(t.first[c], p) {
			t.first[c] = append(t.first[c], p)
		}
		if len(v) < 3 {
			t.single[v[0]] = true
			t.groups[v[0]] |= 1 << 15
			for c := range t.groups {
				t.groups[c] |= 1 << 31
			}
			continue
		}
		t.set(v)
	}
}

// variants lists the ways to write s when case does not matter.
func variants(s string, fold bool) []string {
	if !fold {
		return []string{s}
	}
	all := []string{""}
	for _, c := range []byte(s) {
		var next []string
		for _, head := range all {
			next = append(next, head+strings.ToLower(string(c)))
			if u := strings.ToUpper(string(c)); u != string(c) {
				next = append(next, head+u)
			}
		}
		all = next
	}
	return all
}

// hash maps the low three bytes of k to a bit of the filter.
func hash(k uint32) uint32 { return k << 8 * 0x9e3779b1 >> 17 }

func (t *table) set(s string) {
	group := uint32(1) << (s[0] * 7 % 15) // the last one is of the single bytes
	t.groups[s[0]] |= group
	t.groups[s[1]] |= group << 16
	h := hash(uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2]))
	t.filter[h>>6] |= 1 << (h & 63)
}

func (t *table) addForm(f form) {
	k := key3(f.text)
	t.set(f.text)
	last := t.forms[len(t.forms)-1]
	last[k] = append(last[k], f)
}

func (t *table) addShort(v string) {
	if t.short == nil {
		t.short = map[string]bool{}
	}
	t.short[v] = true
	if len(v) < 3 {
		return
	}
	inner := jsonInner(v)
	t.addForm(form{`"` + inner + `"`, formQuoted})
	t.addForm(form{`\"` + inner + `\"`, formQuoted})
}

func key3(s string) uint32 { return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 }

// place is where a secret stands in a text.
type place struct {
	start, end int
	value      string // what stands there, escapes undone; empty for a declared value
	named      bool
}

// mask returns s with the secrets replaced, and notes in f what was not
// declared.
func (t *table) mask(s string, f *Found) string {
	if t.short != nil && len(s) < MinLength+2 && t.short[strings.TrimSpace(s)] {
		return Mask
	}
	places := t.scan(nil, s)
	if deep := unusual(s) || encoded(s); deep {
		left := maxViews
		places = t.deeper(places, s, nil, &left)
		slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	}
	if len(places) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	done := 0 // s[:done] is in out
	for i, p := range places {
		if f != nil && p.value != "" {
			f.note(p)
		}
		if p.start > done || i == 0 { // neighbours share one mask
			out = append(out, s[done:max(p.start, done)]...)
			out = append(out, Mask...)
		}
		done = max(done, p.end)
	}
	return string(append(out, s[done:]...))
}

// scan adds the places of secrets in s, as it is written.
func (t *table) scan(places []place, s string) []place {
	done := 0
	for i := 0; ; {
		i = t.candidate(s, i)
		if i < 0 {
			return places
		}
		p := t.match(s, i)
		if p.end <= p.start || p.end <= done {
			i++
			continue
		}
		if p.start = max(p.start, done); p.value != "" {
			p.value = s[p.start:p.end]
		}
		places = append(places, p)
		done, i = p.end, p.end
	}
}

// candidate returns the next place at or after i where a secret may begin,
// or -1.
func (t *table) candidate(s string, i int) int {
	for i+2 < len(s) {
		// Four places at once, as long as no two bytes share a group.
		for rest := s[i:]; len(rest) >= 6; rest = rest[4:] {
			b := t.groups[rest[1]]
			c := t.groups[rest[2]]
			d := t.groups[rest[3]]
			shared := t.groups[rest[0]]&(b>>16) | b&(c>>16) | c&(d>>16) | d&(t.groups[rest[4]]>>16)
			if shared != 0 {
				break
			}
			i += 4
		}
		for stop := min(i+4, len(s)-2); i < stop; i++ {
			h := hash(uint32(s[i])<<16 | uint32(s[i+1])<<8 | uint32(s[i+2]))
			if t.filter[h>>6&511]>>(h&63)&1 != 0 || t.single[s[i]] {
				return i
			}
		}
	}
	return -1
}

// match looks for a secret at the candidate i and returns its place, or an
// empty one. A declared value wins over a pattern.
func (t *table) match(s string, i int) place {
	var p place
	for _, forms := range t.forms {
		if fs := forms[key3(s[i:])]; fs != nil {
			if start, end := matchForms(s, i, fs); end > max(p.end, start) {
				p = place{start: start, end: end}
			}
		}
	}
	if p.end > 0 {
		return p
	}
	if len(t.values) > 0 && strings.HasPrefix(s[i:], ellipsis) {
		if start, end := t.rest(s, i+len(ellipsis)); end > start {
			return place{start: start, end: end}
		}
	}
	for _, pat := range t.first[s[i]] {
		if !pat.at(s, i) {
			continue
		}
		if start, end := pat.find(s, i, i+len(pat.prefix)); end > start {
			return place{start, end, s[start:end], pat.named}
		}
	}
	return place{}
}

const ellipsis = "…"

// rest finds a part of a declared value at i, before which the text was cut:
// up to the value's end, or to where the text was cut again.
func (t *table) rest(s string, i int) (start, end int) {
	const least = MinLength - 2
	if len(s)-i < least {
		return i, 0
	}
	for _, v := range t.values {
		for from := 1; ; from++ {
			k := strings.Index(v[from:], s[i:i+least])
			if k < 0 {
				break
			}
			from += k
			n := commonPrefix(s[i:], v[from:])
			if (from+n == len(v) || cut(s, i+n)) && i+n > end {
				end = i + n
			}
		}
	}
	return i, end
}

func matchForms(s string, i int, fs []form) (start, end int) {
	for _, f := range fs {
		n := commonPrefix(s[i:], f.text)
		switch {
		case n == len(f.text) && f.kind == formQuoted:
			q := len(f.text) - len(strings.TrimRight(f.text, `\"`))
			if rest := strings.TrimLeft(s[i+n:], " "); strings.HasPrefix(rest, ":") {
				continue // a member's name
			}
			return i + q, i + n - q
		case n == len(f.text) && f.kind == formBase64:
			start, end = i, i+n
			if start > 0 && base64Char(s[start-1]) {
				start--
			}
			if end < len(s) && base64Char(s[end]) {
				end++
			}
			return start, end
		case n == len(f.text):
			return i, i + n
		case n >= MinLength-2 && f.kind != formQuoted && cut(s, i+n):
			return i, i + n
		}
	}
	return 0, 0
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// cut reports whether the text was shortened at i: it ends there or an
// ellipsis follows.
func cut(s string, i int) bool {
	rest := s[i:]
	return rest == "" || strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...")
}
