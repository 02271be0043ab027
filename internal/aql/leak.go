package aql

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// leakPattern matches text that must not occur in a message under the strict rules. A
// text without any of the literals in hints does not match re; this test dismisses
// most texts, at a hundredth of the cost of the expressions.
type leakPattern struct {
	rule  string
	hints []string
	re    *regexp.Regexp
}

func (p *leakPattern) may(s string) bool {
	return slices.ContainsFunc(p.hints, func(h string) bool { return strings.Contains(s, h) })
}

var leakPatterns = sync.OnceValue(func() (out []leakPattern) {
	add := func(rule, expr string, hints ...string) {
		out = append(out, leakPattern{rule, hints, regexp.MustCompile(expr)})
	}
	add("leaks.language", `\b(Type|Reference|Syntax|Range|Eval|URI)Error\b|TypeError`, "Error")
	add("leaks.language", `\[object Object\]`, "[object Object]")
	add("leaks.language", `#<\w+>`, "#<")
	add("leaks.stack", `(?m)^\s*at .+\(?.+:\d+:\d+\)?`, "at ")
	add("leaks.stack", `\bat (Object|async)\b|at (Function|Module)`, "at ")
	add("leaks.stack", `Traceback \(most recent call last\)`, "Traceback (")
	add("leaks.stack", `goroutine \d+ \[`, "goroutine ")
	add("leaks.stack", `\bpanic:`, "panic:")
	add("leaks.path", `[\w/\\.-]+\.(m?[jt]sx?|py|go|rs|java|rb|php|cs):\d+`, "js:", "ts:", "sx:", ".py:", ".go:", ".rs:", ".java:", ".rb:", ".php:", ".cs:")
	add("leaks.path", `\.[jt]s:|/src/|/node_modules/`, "s:", "/src/", "/node_modules/")
	add("leaks.path", `(^|[\s"'(])(/|[A-Za-z]:\\)[\w.\\/-]*(src|node_modules|dist|site-packages|usr|home|Users)[\\/]`,
		"src", "node_modules", "dist", "site-packages", "usr", "home", "Users")
	add("leaks.runtime", `\b(java|javax|org)\.[\w.]+Exception\b|\bSystem\.[\w.]*Exception\b|NullPointerException`, "Exception")
	add("leaks.runtime", `Cannot read propert(y|ies) of`, "Cannot read propert")
	add("leaks.runtime", `is not a function`, "is not a function")
	add("leaks.runtime", `\b(ECONNREFUSED|ENOENT|EACCES)\b`, "ECONNREFUSED", "ENOENT", "EACCES")
	add("leaks.runtime", `\bfetch failed\b`, "fetch failed")
	add("leaks.runtime", `\bSQLSTATE\b|\bSQLITE_[A-Z]+\b|You have an error in your SQL syntax`, "SQL")
	add("leaks.runtime", `\bORA-\d{5}\b`, "ORA-")
	add("leaks.runtime", `syntax error at or near`, "syntax error at")
	add("leaks.runtime", `no such (table|column):`, "no such ")
	add("leaks.runtime", `\b(Operational|Integrity|Programming|Interface|Database)Error\b`, "Error")
	add("leaks.runtime", `\b(Key|Value|Attribute|Index|Name|Assertion|ZeroDivision|ModuleNotFound|Unicode\w+)Error:`, "Error:")
	add("leaks.runtime", `<class '`, "<class '")
	add("leaks.runtime", `Object reference not set`, "Object reference")
	add("leaks.runtime", `undefined (method|local variable)\b`, "undefined ")
	add("leaks.runtime", `\bNoMethodError\b|\bNilClass\b`, "NoMethodError", "NilClass")
	add("leaks.runtime", `duplicate key value violates unique constraint|violates foreign key constraint`, "violates ")
	add("leaks.runtime", `\bpq: `, "pq: ")
	add("leaks.runtime", `\bpsycopg2?\.`, "psycopg")
	return out
})

// maxClean limits the memory for texts that were found to be clean.
const (
	maxClean     = 10_000
	maxCleanText = 80
)

// cleanTexts caches short texts that no pattern matches: keys and codes are part of
// every answer.
type cleanTexts map[string]bool

// leakIn is like the function [leakIn] but uses the cache.
func (c cleanTexts) leakIn(s string, request jsonv.Value) (rule, part string) {
	if c[s] {
		return "", ""
	}
	if rule, part = leakIn(s, request); rule == "" && len(s) <= maxCleanText && len(c) < maxClean {
		leak, _ := leakIn(s, jsonv.Value{}) // the request may excuse one
		c[s] = leak == ""
	}
	return rule, part
}

// leakIn returns the first rule that a text breaks and the offending part, or "". A
// part that repeats the request is not a leak.
func leakIn(s string, request jsonv.Value) (rule, part string) {
	best := len(s)
	patterns := leakPatterns()
	for i := range patterns {
		p := &patterns[i]
		if !p.may(s) {
			continue
		}
		for _, at := range p.re.FindAllStringIndex(s, -1) {
			if at[0] <= best && (rule == "" || at[0] < best || p.rule < rule) && !repeats(request, s[at[0]:at[1]]) {
				best, rule, part = at[0], p.rule, s[at[0]:at[1]]
				break
			}
		}
	}
	return rule, part
}

// repeats reports whether a text occurs in one of the texts of the request.
func repeats(request jsonv.Value, part string) bool {
	found := false
	evidence.EveryText(request, func(s string) { found = found || strings.Contains(s, strings.TrimSpace(part)) })
	return found
}
