package secret

import (
	"slices"
	"strings"
	"sync"
)

// maxLearned is the maximum number of values that are added to a redactor because
// they were found by their names. Later ones are still masked where they are found.
const maxLearned = 4096

// Redactor masks secrets in text: declared values, values whose form identifies them
// (see patterns.go), and values under the name of a credential (see names.go).
// It is safe for concurrent use, and secrets can be added at any time.
//
// Escapes do not hide a secret: a text is also searched with its backslash escapes,
// percent escapes and HTML entities decoded, several levels deep. Declared values are
// also found inside longer base64 text, at each of the three alignments, and as
// hexadecimal digits. The remaining part of a truncated one is masked next to an
// ellipsis, at the end of a text, and by Cut at its beginning.
type Redactor struct {
	base *Redactor // masks first; may be nil

	mu       sync.RWMutex
	declared map[string]bool
	learned  int
	search   *searcher
}

// NewRedactor returns a redactor that knows no declared secrets.
func NewRedactor() *Redactor {
	return &Redactor{declared: map[string]bool{}, search: newSearcher(patterns)}
}

// With returns a redactor that masks the given values in addition to those that r
// masks, now and later.
func (r *Redactor) With(values ...string) *Redactor {
	w := &Redactor{declared: map[string]bool{}, search: newSearcher(nil), base: r}
	w.Add(values...)
	return w
}

// Add declares secrets. A value of fewer than MinLength bytes is masked only if it is
// the whole value of a field or of a string in JSON. Each long line of a value of
// several lines is a secret as well.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		r.add(v)
	}
}

func (r *Redactor) add(v string) {
	for _, v := range splitParts(v) {
		if !r.declared[v] {
			r.declared[v] = true
			r.search.declare(v)
		}
	}
}

// Learn adds values that were found in the run and look random; other values
// would be masked in ordinary text. It stops after a few thousand.
func (r *Redactor) Learn(values ...string) {
	for _, v := range values {
		if isLearnable(v) {
			r.learn(v)
		}
	}
}

func (r *Redactor) learn(v string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.declared[v] && r.learned < maxLearned {
		r.learned++
		r.add(v)
	}
}

// splitParts returns the texts to search for: a declared value and its long lines.
func splitParts(v string) []string {
	trimmed := strings.TrimSpace(v)
	if trimmed == "" || trimmed == Mask {
		return nil
	}
	out := []string{trimmed}
	if !strings.Contains(trimmed, "\n") {
		return out
	}
	for line := range strings.Lines(trimmed) {
		if line = strings.TrimSpace(line); len(line) >= 2*MinLength && !strings.HasPrefix(line, "-----") {
			out = append(out, line)
		}
	}
	return out
}

// String returns s with every secret replaced by Mask, also one whose end is missing at
// the end of s: any text may be truncated. Text without secrets is returned without a
// copy.
func (r *Redactor) String(s string) string { return r.mask(s, nil, ends{after: true}) }

// Collect is String that also records in f the values that were recognized without a
// declaration. f may be nil.
func (r *Redactor) Collect(s string, f *Found) string { return r.mask(s, f, ends{after: true}) }

// Whole is Collect for a complete value, such as a segment of a path or a key: a word
// with which a secret begins is not masked at its end.
func (r *Redactor) Whole(s string, f *Found) string { return r.mask(s, f, ends{}) }

// Cut is String for a text that may also begin in the middle of a secret, because it
// was truncated.
func (r *Redactor) Cut(s string) string { return r.mask(s, nil, ends{before: true, after: true}) }

// ends tells where a text may have been truncated.
type ends struct{ before, after bool }

// mask returns s with the secrets replaced, and records undeclared ones in f.
func (r *Redactor) mask(s string, f *Found, cut ends) string {
	if r.base != nil {
		s = r.base.mask(s, f, cut)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if cut.before {
		if _, end := r.search.findRest(s, 0); end > 0 {
			s = Mask + s[end:]
		}
	}
	if len(s) < MinLength+2 && r.search.short[strings.TrimSpace(s)] {
		return Mask
	}
	places := r.search.findPlaces(s, cut.after)
	if len(places) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	done := 0 // s[:done] is in out
	for i, p := range places {
		if f != nil && !p.declared {
			if p.named {
				f.Name(p.value)
			} else {
				f.see(p.value)
			}
		}
		if p.start > done || i == 0 { // adjacent ones share one mask
			out = append(out, s[done:max(p.start, done)]...)
			out = append(append(append(out, p.quote...), Mask...), p.quote...)
		}
		done = max(done, p.end)
	}
	return string(append(out, s[done:]...))
}

// Bytes is String for bytes; b is not changed.
func (r *Redactor) Bytes(b []byte) []byte {
	s := string(b)
	if out := r.String(s); out != s {
		return []byte(out)
	}
	return b
}

// Lines is String for consecutive lines: a private key is masked in each of its
// lines, and a value that follows its name on another line. A mark of a diff before a line
// ("+", "-", " ") stays. The argument is not changed; without secrets it is returned.
func (r *Redactor) Lines(lines []string) []string {
	bodies := make([]string, len(lines))
	for i, line := range lines {
		bodies[i] = line
		if line != "" && strings.IndexByte("+- ", line[0]) >= 0 {
			bodies[i] = line[1:]
		}
	}
	together := strings.Split(r.String(strings.Join(bodies, "\n")), "\n")
	out, changed := lines, false
	var key KeyLines
	for i, line := range lines {
		body := bodies[i]
		clean := r.String(line)
		mark := line[:len(line)-len(body)]
		if key.HidesLine(body) {
			clean = mark + Mask
		} else if clean == line && len(together) == len(lines) {
			clean = mark + together[i]
		}
		if clean == line {
			continue
		}
		if !changed {
			out, changed = slices.Clone(lines), true
		}
		out[i] = clean
	}
	return out
}
