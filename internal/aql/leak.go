package aql

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"mcptest/internal/jsonv"
)

// leaksLikeReference is the prototype's test of a message: eight patterns,
// ASCII case ignored, white space as JavaScript sees it.
func leaksLikeReference(s string) bool {
	low := lowerASCII(s)
	for _, part := range []string{"typeerror", "referenceerror", "syntaxerror", "/src/", "/node_modules/"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	for _, ext := range []string{".ts:", ".js:"} {
		for rest := low; ; {
			i := strings.Index(rest, ext)
			if i < 0 {
				break
			}
			rest = rest[i+len(ext):]
			if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
				return true
			}
		}
	}
	return wordAfterAt(low)
}

// wordAfterAt finds "at", white space, and then something else.
func wordAfterAt(s string) bool {
	for {
		i := strings.Index(s, "at")
		if i < 0 {
			return false
		}
		s = s[i+2:]
		rest := s
		for rest != "" {
			r, n := utf8.DecodeRuneInString(rest)
			if !blank(r) {
				break
			}
			rest = rest[n:]
		}
		if rest != "" && len(rest) < len(s) {
			return true
		}
	}
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// leakPattern is something that has no place in a message under the strict
// rules.
type leakPattern struct {
	rule string
	re   *regexp.Regexp
}

var leakPatterns = sync.OnceValue(func() (out []leakPattern) {
	for _, group := range []struct {
		rule     string
		patterns []string
	}{
		{"leaks.language", []string{
			`\b(Type|Reference|Syntax|Range|Eval|URI)Error\b`, `TypeError`, `\[object Object\]`, `#<\w+>`,
		}},
		{"leaks.stack", []string{
			`(?m)^\s*at .+\(?.+:\d+:\d+\)?`, `\bat (Function|Module|Object|async)\b`, `at Function`, `at Module`,
			`Traceback \(most recent call last\)`, `goroutine \d+ \[`, `\bpanic:`,
		}},
		{"leaks.path", []string{
			`[\w/\\.-]+\.(m?[jt]sx?|py|go|rs|java|rb|php|cs):\d+`, `\.[jt]s:`, `/src/`, `/node_modules/`,
			`(^|[\s"'(])(/|[A-Za-z]:\\)[\w.\\/-]*(src|node_modules|dist|site-packages|usr|home|Users)[\\/]`,
		}},
		{"leaks.runtime", []string{
			`\b(java|javax|org)\.[\w.]+Exception\b`, `Cannot read propert(y|ies) of`, `is not a function`,
			`\b(ECONNREFUSED|ENOENT|EACCES)\b`, `\bfetch failed\b`, `\bSQLSTATE\b`, `\bSQLITE_[A-Z]+\b`, `\bORA-\d{5}\b`,
			`syntax error at or near`, `You have an error in your SQL syntax`, `no such (table|column):`,
			`\b(Operational|Integrity|Programming|Interface|Database)Error\b`, `\b(Key|Value|Attribute|Index|Name|Assertion|ZeroDivision|ModuleNotFound|Unicode\w+)Error:`,
			`<class '`, `\bSystem\.[\w.]*Exception\b`, `Object reference not set`, `undefined (method|local variable)\b`, `\bNoMethodError\b`, `\bNilClass\b`, `NullPointerException`,
			`duplicate key value violates unique constraint`, `violates foreign key constraint`, `\bpq: `, `\bpsycopg2?\.`,
		}},
	} {
		for _, p := range group.patterns {
			out = append(out, leakPattern{group.rule, regexp.MustCompile(p)})
		}
	}
	return out
})

// leakIn returns the first rule that a text breaks and the offending part,
// or "". What only repeats a part of the request is no leak.
func leakIn(s string, request jsonv.Value) (rule, part string) {
	best := len(s)
	for _, p := range leakPatterns() {
		for _, at := range p.re.FindAllStringIndex(s, -1) {
			if at[0] <= best && (rule == "" || at[0] < best || p.rule < rule) && !repeats(request, s[at[0]:at[1]]) {
				best, rule, part = at[0], p.rule, s[at[0]:at[1]]
				break
			}
		}
	}
	return rule, part
}

// repeats says that a text occurs in one of the texts of the request.
func repeats(request jsonv.Value, part string) bool {
	found := false
	everyText(request, func(s string) { found = found || strings.Contains(s, strings.TrimSpace(part)) })
	return found
}
