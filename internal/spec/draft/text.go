package draft

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// volatile matches texts that will differ the next time or on another machine, even if
// two calls in a row returned the same: times, dates, ids, digests, numbers of seconds.
var volatile = lazy.Regexp(strings.Join(append([]string{
	`\d{4}-\d{2}-\d{2}`,
	`(?i:\b(` + days + `,? )?(\d{1,2} )?` + months + `\.? \d{1,2}(,? \d{4})?\b)`,
	`(?i:\b` + days + `,? (\d{1,2} )?` + months + `\b( \d{4})?)`,
	`\b\d{1,2}:\d{2}(:\d{2})?(?i: ?[ap]m)?\b`,
	`GMT[+-]\d{4}( \([^)]*\))?`,
	`(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-)`,
	`(?i:\b[0-9a-f]{16,}\b)`,
	`\b1[0-9]{9}([0-9]{3})?\b`,
	`\b\d+(\.\d+)? ?(ms|µs|ns|secs?|seconds|milliseconds)\b`,
}, machine...), "|"))

const (
	days   = `(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?`
	months = `(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)`
)

// epoch matches a number of seconds or milliseconds since 1970.
var epoch = lazy.Regexp(`^1[0-9]{9}([0-9]{3})?(\.[0-9]+)?$`)

// maxPattern bounds the length of a text that is matched word by word.
const maxPattern = 300

// expectText expects texts: exactly when they are equal and short, by a pattern when some
// of their words differ, otherwise by their beginning.
func (l *loosener) expectText(target string, texts []string) {
	first := texts[0]
	stable := isSameTexts(texts)
	switch {
	case stable && first == "":
		l.add(target, "exact", jsonv.String(""), "")
		return
	case slices.Contains(texts, ""):
		l.add(target, "type", jsonv.String("string"), "it changes")
		return
	}
	if slices.ContainsFunc(texts, environment().MatchString) {
		l.add(target, "length", jsonv.ObjectOf("min", 1), "it lists environment variables")
		return
	}
	if stable && len(first) <= maxExact && l.isSteady(jsonv.String(first), "") {
		l.add(target, "exact", jsonv.String(first), "")
		return
	}
	if p, ok := l.makePattern(texts); ok {
		l.add(target, "regex", jsonv.String(p), "words that vary or refer to this machine match anything")
		return
	}
	note := "it changes"
	if stable {
		note = "it is long"
	}
	if begin := l.findBeginning(texts); begin != "" {
		l.add(target, "starts-with", jsonv.String(begin), note)
		return
	}
	if stable {
		note = "it looks like a time, an id or a description of this machine"
		if !l.isWritable(jsonv.String(first)) {
			note = "it is not stored: it refers to this machine or contains a secret"
		}
	}
	l.add(target, "length", jsonv.ObjectOf("min", 1), note)
}

func isSameTexts(texts []string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool { return t != texts[0] })
}

// findVolatile returns the parts of a text that will differ the next time, except for those
// that repeat the request.
func (l *loosener) findVolatile(text string) [][]int {
	return slices.DeleteFunc(volatile().FindAllStringIndex(text, -1), func(span []int) bool {
		return slices.ContainsFunc(l.own, func(own string) bool { return strings.Contains(own, text[span[0]:span[1]]) })
	})
}

// listTexts adds the texts and numbers in a value.
func listTexts(v jsonv.Value, to []string) []string {
	switch v.Kind() {
	case jsonv.KindString:
		return append(to, v.Text())
	case jsonv.KindNumber:
		return append(to, v.Literal())
	}
	for _, e := range v.Children() {
		to = listTexts(e, to)
	}
	return to
}

// word matches words and the white space between them.
var word = lazy.Regexp(`\s+|\S+`)

// anyWords is a pattern of words in a line.
const anyWords = `\S.*`

// makePattern returns a regular expression that matches any word in place of those that
// differ or are not steady; false when the texts have little in common.
func (l *loosener) makePattern(texts []string) (string, bool) {
	var split [][]string
	for _, t := range texts {
		if len(t) > maxPattern || !utf8.ValidString(t) || l.secret(t) {
			return "", false
		}
		split = append(split, word().FindAllString(t, -1))
	}
	otherLength := func(other []string) bool { return len(other) != len(split[0]) }
	if len(split[0]) > 0 && slices.ContainsFunc(split, otherLength) {
		return "", false
	}
	loose := l.findVolatile(texts[0])
	var b strings.Builder
	b.WriteString(`\A`)
	kept, open, at := 0, 0, 0
	for i, w := range split[0] {
		here := at
		at += len(w)
		blank := strings.TrimSpace(w) == ""
		differs := slices.ContainsFunc(split, func(other []string) bool { return other[i] != w })
		switch {
		case differs && blank:
			return "", false
		case overlaps(loose, here, at): // another locale writes a time in more or fewer words
			if !strings.HasSuffix(b.String(), anyWords) {
				b.WriteString(anyWords)
			}
			if !blank {
				open++
			}
		case differs || !blank && (!l.isSteady(jsonv.String(w), "") || digits().MatchString(w)):
			b.WriteString(`\S+`)
			open++
		default:
			b.WriteString(regexp.QuoteMeta(w))
			if !blank {
				kept++
			}
		}
	}
	b.WriteString(`\z`)
	return b.String(), kept > 0 && kept >= open
}

// overlaps reports whether one of the spans has a byte from start to end.
func overlaps(spans [][]int, start, end int) bool {
	return slices.ContainsFunc(spans, func(s []int) bool { return s[0] < end && start < s[1] })
}

// digits matches a word that contains a long number: in a text with changing words it
// is likely to change.
var digits = lazy.Regexp(`\d{5,}`)

// findBeginning returns the common beginning of all texts, up to the end of a word, when
// it is steady and long enough to be meaningful.
func (l *loosener) findBeginning(texts []string) string {
	begin := texts[0]
	for _, t := range texts[1:] {
		n := 0
		for n < len(begin) && n < len(t) && begin[n] == t[n] {
			n++
		}
		begin = begin[:n]
	}
	if len(begin) > 120 {
		begin = begin[:120]
	}
	if at := l.findVolatile(begin); len(at) > 0 {
		begin = begin[:at[0][0]]
	}
	cut := strings.LastIndexFunc(begin, unicode.IsSpace)
	if begin != texts[0] && (cut > 40 || !isSameTexts(texts)) {
		begin = begin[:max(cut, 0)]
	}
	for begin != "" && !utf8.ValidString(begin) { // cut inside a character
		begin = begin[:len(begin)-1]
	}
	begin = strings.TrimRightFunc(begin, unicode.IsSpace)
	if len(begin) < 4 || !utf8.ValidString(begin) || !l.isSteady(jsonv.String(begin), "") {
		return ""
	}
	return begin
}

// isWritable reports whether a scalar may be written into the suite.
func (l *loosener) isWritable(v jsonv.Value) bool {
	s := v.Text()
	if v.Kind() == jsonv.KindNumber {
		s = v.Literal()
	}
	return !l.secret(s) && !l.suite.local(s) && utf8.ValidString(s)
}

func (l *loosener) secret(s string) bool { return l.suite.Mask != nil && l.suite.Mask(s) != s }
