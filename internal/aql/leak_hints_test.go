package aql

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/jsonv"
)

// leakFragments are what leaks are made of, and what only looks like them.
var leakFragments = strings.Fields("TypeError RangeError EvalError [object Object] #<Bed> at Function Module async Object read (/x/beds.js:3:9) Traceback (most recent call last): " +
	"goroutine 7 [running]: panic: beds.py:12 a.mjs:1 b.tsx:2 c.go:3 d.rs:4 E.java:5 f.rb:6 g.php:7 h.cs:8 .js: .ts: /src/ /node_modules/ C:\\Users\\kim '/usr/lib/beds' \"/home/x " +
	"java.lang.NullPointerException System.IO.IOException Cannot read property of properties is not a function ECONNREFUSED ENOENT EACCES fetch failed SQLSTATE SQLITE_BUSY ORA-00942 " +
	"syntax error at or near You have an error in your SQL syntax no such table: column: OperationalError KeyError: UnicodeDecodeError: <class 'x'> Object reference not set " +
	"undefined method local variable NoMethodError NilClass duplicate key value violates unique constraint foreign pq: psycopg2. psycopg. that the:thing 7 : . / ,")

// The hints only save time: with them a text has the leak that it has
// without them.
func TestHintsOfLeaksHideNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(leakFragments), 1, 8).Draw(t, "parts")
		s := strings.Join(parts, rapid.SampledFrom([]string{" ", "", "\n", "\n    "}).Draw(t, "between"))
		for _, p := range leakPatterns() {
			if p.re.MatchString(s) && !p.may(s) {
				t.Fatalf("%q matches %s and has none of %q", s, p.re, p.hints)
			}
		}
		clean := cleanTexts{}
		for range 2 {
			rule, part := leakIn(s, jsonv.Value{})
			if r, p := clean.leakIn(s, jsonv.Value{}); r != rule || p != part {
				t.Fatalf("%q: %s %q, and with the memory %s %q", s, rule, part, r, p)
			}
		}
	})
}
