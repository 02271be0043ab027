package engine

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFindLiterals shows what is known of the matches of a pattern.
func TestFindLiterals(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`\b(send|forward|post)\b.{0,60}\b(password|secret)s?\b`: "forward|post|send & password|secret",
		`\b(read|cat)\b[^.]{0,40}the (file|key)`:                "cat|read & the file|the key",
		`never (tell|show)( the)? user`:                         "never show the user|never show user|never tell the user|never tell user",
		`(abc)+x`:                                               "abc",
		`(abc){2,}def`:                                          "abc & def",
		`user'?s?`:                                              "user",
		`dis[ck]s`:                                              "discs|disks",
		`^https?://`:                                            "http://|https://",
		`(abc.*def|ghij) ?klm`:                                  "abc|ghij & klm",
		`(?i)secret`:                                            "",
		`[a-z]+@[a-z]+`:                                         "",
		`(abc)*`:                                                "",
		`abc|`:                                                  "",
		`ab|cdef`:                                               "",
		"wrong\ufffdbyte":                                       "", // which matches any wrong byte
	} {
		var lists []string
		for _, list := range findLiterals(pattern) {
			slices.Sort(list)
			lists = append(lists, strings.Join(list, "|"))
		}
		slices.Sort(lists)
		if got := strings.Join(lists, " & "); got != want {
			t.Errorf("%s: got %q, expected %q", pattern, got, want)
		}
	}
}

// TestLiteralsDecideNothing compares the verdicts of patterns with those of the library, for
// random patterns and texts.
func TestLiteralsDecideNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	used, matched := 0, 0
	for range 30_000 {
		pattern := randomPattern(r, 3)
		re, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatal(pattern, err)
		}
		m, err := compilePattern(pattern, true)
		if err != nil {
			t.Fatal(pattern, err)
		}
		if m.(*linear).literals() != nil {
			used++
		}
		for range 4 {
			text := randomText(r)
			got, err := m.match(text)
			want := re.MatchString(text)
			if got != want || err != nil {
				t.Fatalf("%s on %q: %v, %v, expected %v; literals %q", pattern, text, got, err, want, findLiterals(pattern))
			}
			if want {
				matched++
			}
		}
	}
	if used < 3000 || matched < 3000 {
		t.Errorf("%d patterns with literals and %d matches are too few to prove anything", used, matched)
	}
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for b.Len() < longText+r.IntN(40) {
		b.WriteString([]string{"ab", "abc", "bca", "c", " ", "é", "\xff", "cab"}[r.IntN(8)])
	}
	return b.String()
}

// randomPattern returns a pattern of a depth.
func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"ab", "abc", "bca", "c", "[ab]", ".", `\b`, "é", "cabc", "(?i:AB)"}[r.IntN(10)]
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(7) {
	case 0:
		return "(?:" + sub() + "|" + sub() + ")"
	case 1:
		return "(" + sub() + ")?" + sub()
	case 2:
		return "(?:" + sub() + "){1,3}" + sub()
	case 3:
		return "(?:" + sub() + ")*" + sub()
	case 4:
		return sub() + ".{0,5}" + sub()
	}
	return sub() + sub()
}
