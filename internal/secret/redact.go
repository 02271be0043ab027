package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mcptest/internal/jsonv"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// MinLength is the length in bytes from which a declared secret is masked
// anywhere in a text. A shorter one would tear holes into innocent words.
const MinLength = 8

// Redactor masks secrets in text: values that were declared, and values whose
// form gives them away (see patterns.go). It is safe for concurrent use, and
// secrets may join at any time.
//
// Declared values are also found in their JSON-escaped form (once and twice),
// URL-encoded, and inside longer base64 text at each of the three alignments.
// Where text was cut before it came here, the beginning of a declared value
// is masked too if it stands at the end or before an ellipsis.
type Redactor struct {
	mu       sync.Mutex
	declared map[string]bool
	table    atomic.Pointer[table]
}

// NewRedactor returns a redactor that knows no declared secrets.
func NewRedactor() *Redactor {
	r := &Redactor{declared: map[string]bool{}}
	r.table.Store(compile(nil))
	return r
}

// Add declares secrets. A value of fewer than MinLength bytes is masked only
// where it is the whole value: the whole of a field, or of a string in JSON.
// Of a value of several lines, each long line counts as a secret as well.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.declared)
	for _, v := range values {
		r.add(v)
	}
	if len(r.declared) == before {
		return
	}
	all := make([]string, 0, len(r.declared))
	for v := range r.declared {
		all = append(all, v)
	}
	slices.Sort(all)
	r.table.Store(compile(all))
}

func (r *Redactor) add(v string) {
	if trimmed := strings.TrimSpace(v); trimmed != "" && trimmed != Mask {
		r.declared[trimmed] = true
	}
	if !strings.Contains(strings.TrimSpace(v), "\n") {
		return
	}
	for line := range strings.Lines(v) {
		if line = strings.TrimSpace(line); len(line) >= 2*MinLength && !strings.HasPrefix(line, "-----") {
			r.declared[line] = true
		}
	}
}

// String returns s with every secret replaced by Mask. Text without secrets
// is returned as it is, without a copy.
func (r *Redactor) String(s string) string { return r.table.Load().mask(s) }

// Bytes is String for bytes; b is not changed.
func (r *Redactor) Bytes(b []byte) []byte {
	s := string(b)
	if out := r.String(s); out != s {
		return []byte(out)
	}
	return b
}

// table is the compiled, immutable form of everything a redactor looks for.
// Each head (three bytes with which a secret may begin) belongs to one of 16
// groups; a place in a text is looked at when its first byte and the next one
// share a group, and is a candidate when its three bytes hash to a bit that is
// set in the filter. Clean text costs one load of a table a byte.
type table struct {
	groups [256]uint32 // low half: begins a head of the group, high half: is second in one
	filter [512]uint64
	single [256]bool         // heads of one byte, after which anything may follow
	first  [256][]*pattern   // by first byte of the prefix
	forms  map[uint32][]form // declared values by their first three bytes, the longest first
	short  map[string]bool   // declared values too short to be masked inside text
}

// form is one way in which a declared value is written.
type form struct {
	text string
	kind formKind
}

type formKind uint8

const (
	formPlain  formKind = iota
	formBase64          // part of a base64 text: the neighbours hold bits of it as well
	formQuoted          // a short value with the quotes around it
)

func compile(declared []string) *table {
	t := &table{}
	for i := range patterns {
		p := &patterns[i]
		t.enter(p)
	}
	for _, v := range declared {
		if len(v) < MinLength {
			t.addShort(v)
			continue
		}
		for _, f := range forms(v) {
			t.addForm(f)
		}
	}
	for k := range t.forms {
		slices.SortStableFunc(t.forms[k], func(x, y form) int { return len(y.text) - len(x.text) })
	}
	return t
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
	if t.forms == nil {
		t.forms = map[uint32][]form{}
	}
	k := key3(f.text)
	t.set(f.text)
	t.forms[k] = append(t.forms[k], f)
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

// forms lists the ways in which a declared value of at least MinLength bytes
// may be written.
func forms(v string) []form {
	once := jsonInner(v)
	plain := []string{
		v, once, jsonInner(once), htmlInner(v),
		regexp.QuoteMeta(v), // in the filter of a line that repeats a test
		url.QueryEscape(v), url.PathEscape(v), jsonInner(htmlInner(v)), lowerHex(url.QueryEscape(v)), lowerHex(url.PathEscape(v)),
	}
	var out []form
	seen := map[string]bool{}
	add := func(s string, k formKind) {
		if len(s) >= MinLength && !seen[s] {
			seen[s] = true
			out = append(out, form{s, k})
		}
	}
	for _, s := range plain {
		add(s, formPlain)
	}
	for shift := range 3 {
		add(base64Core(base64.RawStdEncoding, v, shift), formBase64)
		add(base64Core(base64.RawURLEncoding, v, shift), formBase64)
	}
	return out
}

// base64Core returns the characters that v always has when it is encoded
// after shift (mod 3) other bytes and before any others: those at the edges
// that share bits with a neighbour are left out.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	s := enc.EncodeToString(append(make([]byte, shift, shift+len(v)), v...))
	head := []int{0, 2, 3}[shift]
	tail := len(s)
	if (shift+len(v))%3 != 0 {
		tail--
	}
	return s[head:max(tail, head)]
}

// jsonInner returns v as it is inside a JSON string, with the characters of
// HTML left as they are.
func jsonInner(v string) string {
	s := string(jsonv.AppendString(nil, v))
	return s[1 : len(s)-1]
}

// htmlInner is jsonInner as encoding/json writes it by default, with <, > and
// & escaped.
func htmlInner(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return string(b[1 : len(b)-1])
}

// lowerHex writes the digits of percent escapes in lower case.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// mask returns s with the secrets replaced.
func (t *table) mask(s string) string {
	if t.short != nil && len(s) < MinLength+2 && t.short[strings.TrimSpace(s)] {
		return Mask
	}
	var out []byte
	done := 0 // s[:done] is in out
	for i := 0; ; {
		i = t.candidate(s, i)
		if i < 0 {
			break
		}
		start, end := t.match(s, i)
		if end <= start || end <= done {
			i++
			continue
		}
		start = max(start, done)
		out = append(out, s[done:start]...)
		if done == 0 || start > done { // neighbours share one mask
			out = append(out, Mask...)
		}
		done, i = end, end
	}
	if done == 0 {
		return s
	}
	return string(append(out, s[done:]...))
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
func (t *table) match(s string, i int) (start, end int) {
	if t.forms != nil {
		if fs := t.forms[key3(s[i:])]; fs != nil {
			if start, end := matchForms(s, i, fs); end > start {
				return start, end
			}
		}
	}
	for _, p := range t.first[s[i]] {
		if !p.at(s, i) {
			continue
		}
		if start, end := p.find(s, i, i+len(p.prefix)); end > start {
			return start, end
		}
	}
	return 0, 0
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
