package aql

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
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
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(leakFragments), 1, 8).Draw(t, "parts")
		s := strings.Join(parts, rapid.SampledFrom([]string{" ", "", "\n", "\n    "}).Draw(t, "between"))
		for _, p := range leakPatterns() {
			if p.re.MatchString(s) && !p.mayMatch(s) {
				t.Fatalf("%q matches %s and has none of %q", s, p.re, p.hints)
			}
		}
	})
}

func TestStrictLeaks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"TypeError: x is not a function": "leaks.language", "got [object Object]": "leaks.language", "#<Bed> has no rows": "leaks.language",
		"failed\n    at read (/x/beds.js:3:9)": "leaks.stack", "Traceback (most recent call last):": "leaks.stack",
		"goroutine 7 [running]:": "leaks.stack", "panic: nil map": "leaks.stack", "beds.py:12 broke": "leaks.path",
		`in C:\Users\kim\beds`: "leaks.path", "'/usr/lib/beds'": "leaks.path", "java.lang.NullPointerException": "leaks.runtime",
		"Cannot read properties of undefined": "leaks.runtime", "connect ECONNREFUSED": "leaks.runtime", "SQLITE_CONSTRAINT: x": "leaks.runtime",
		"that bed is at the wall": "", "the error type is not known": "", "look at beds/7": "", "use https://example.invalid/src": "", "no panic": "",
	} {
		if got, part := findLeak(in, jsonv.Value{}); got != want {
			t.Errorf("%q: %q (%q), want %q", in, got, part, want)
		}
	}
}

func TestDateTime(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"2026-05-01T10:00:00Z": true, "2026-05-01t10:00:00z": true, "2026-05-01 10:00:00+02": true, "2026-05-01\u00a010:00:00-0230": true,
		"2026-05-01T10:00:00.123+02:30": true, "2026-05-01T10:00:00": false, "2026-05-01T10:00Z": false, "2026-05-01  10:00:00Z": false,
		"2026-02-29T10:00:00Z": false, "2024-02-29T10:00:00Z": true, "1900-02-29T10:00:00Z": false, "2000-02-29T10:00:00Z": true,
		"2026-13-01T10:00:00Z": false, "2026-04-31T10:00:00Z": false, "2026-05-00T10:00:00Z": false, "2026-05-01T24:00:00Z": false,
		"2026-05-01T23:59:60Z": true, "2026-05-01T23:59:61Z": false, "2026-05-01T10:00:60Z": false, "2026-05-01T00:59:60+01:00": true,
		"2026-05-01T22:59:60-01:00": true, "2026-05-01T22:59:60+01:00": false, "2026-05-01T10:00:00+24:00": false, "2026-05-01T10:00:00+10:60": false,
		"2026-05-01T10:00:00.Z": false, "2026-05-01T10:00:00Z\n": false, "T10:00:00Z": false, "": false, "2026-05-01T10:00:00+2": false,
	} {
		if got := isDateTime(in); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestUnicodeWords(t *testing.T) {
	t.Parallel()
	if got := normalizeWords("Größe: ΑΒΓ_1, naïve!"); got != "größe αβγ_1 naïve" {
		t.Errorf("unicode words: %q", got)
	}
}
