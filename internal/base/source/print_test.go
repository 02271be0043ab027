package source_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/base/source"
)

func printed(t interface{ Fatal(...any) }, ds source.Diagnostics, style source.Style) string {
	var b strings.Builder
	if err := ds.Print(&b, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPrint(t *testing.T) {
	f := file("servers:\n  api:\n    timeout: 3\n    timout: 5\n\tx:\t日本é y\n")
	at := func(line, col int) source.Pos { return source.Pos{File: f, Line: line, Col: col} }
	ds := source.Diagnostics{
		{
			Pos: at(4, 5), Path: "servers.api", Msg: `unknown key "timout" (did you mean "timeout"?)`, Hint: "look again",
			Related: []source.Related{{Pos: at(3, 5), Msg: "written here"}, {Msg: "and nowhere else"}},
		},
		{Pos: at(5, 8), Msg: "behind tabs and wide letters", Severity: source.Warning},
		{Pos: at(3, 15), Msg: "behind the end"},
		{Pos: at(6, 1), Msg: "an empty line has no caret"},
		{Pos: source.Pos{File: f}, Msg: "the file as a whole"},
		{Msg: "no place\nof two lines", Hint: "one\ntwo"},
	}
	want := `suite.yaml:4:5: error: servers.api: unknown key "timout" (did you mean "timeout"?)
        timout: 5
        ^
  hint: look again
  suite.yaml:3:5: written here
          timeout: 3
          ^
  and nowhere else
suite.yaml:5:8: warning: behind tabs and wide letters
    →   x:→   日本é y
                   ^
suite.yaml:3:15: error: behind the end
        timeout: 3
                  ^
suite.yaml:6:1: error: an empty line has no caret
suite.yaml: error: the file as a whole
error: no place
    of two lines
  hint: one
        two
`
	if diff := cmp.Diff(want, printed(t, ds, source.Style{})); diff != "" {
		t.Error(diff)
	}
}

func TestPrintStyle(t *testing.T) {
	f := file("a: 1\n")
	tag := func(name string) func(string) string {
		return func(s string) string { return "<" + name + ">" + s + "</>" }
	}
	style := source.Style{Error: tag("err"), Warning: tag("warn"), Caret: tag("caret"), Hint: tag("hint")}
	ds := source.Diagnostics{{Pos: source.Pos{File: f, Line: 1, Col: 4}, Path: "a", Msg: "m", Hint: "h"}, {Severity: source.Warning, Msg: "w"}}
	want := "suite.yaml:1:4: <err>error</>: a: m\n    a: 1\n       <caret>^</>\n  <hint>hint</>: h\n<warn>warning</>: w\n"
	if diff := cmp.Diff(want, printed(t, ds, style)); diff != "" {
		t.Error(diff)
	}
}

// TestPrintEscapes: no text reaches the terminal unescaped.
func TestPrintEscapes(t *testing.T) {
	evil := "a\x1b[31m\u202eb\u0085c\xffd\re\u2066\u200bf\x9b\u061c\U000E0001"
	f := &source.File{Name: evil, Data: []byte(evil + "\n")}
	ds := source.Diagnostics{{
		Pos: source.Pos{File: f, Line: 1, Col: 2}, Path: evil, Msg: evil, Hint: evil,
		Related: []source.Related{{Pos: source.Pos{File: f, Line: 1, Col: 1}, Msg: evil}},
	}}
	for _, out := range []string{printed(t, ds, source.Style{}), ds.Error()} {
		checkHarmless(t, out)
		if !strings.Contains(out, `\x1b[31m\u202e`) || !strings.Contains(out, `\xff`) {
			t.Errorf("not shown as escapes: %s", out)
		}
	}
	if got := printed(t, source.Diagnostics{{Msg: "família 👩‍👩‍👧 \u0915\u094d\u200d\u0937"}}, source.Style{}); !strings.Contains(got, "👩‍👩‍👧") || strings.Contains(got, `\u`) {
		t.Errorf("ordinary text is not to be touched: %s", got)
	}
}

type fataler interface{ Fatalf(string, ...any) }

// checkHarmless fails if a terminal would do more than show the text.
func checkHarmless(t fataler, out string) {
	if !utf8.ValidString(out) {
		t.Fatalf("not UTF-8: %q", out)
	}
	for _, r := range out {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
			t.Fatalf("%U in %q", r, out)
		}
	}
}

// TestPrintCaret: the caret is below the character, regardless of the text before
// it and however long the line is.
func TestPrintCaret(t *testing.T) {
	pieces := []string{"a", "bc ", "日", "\t", "é", "e\u0301", "\u202e", "\x07", "👩‍👧", "🇩🇪", strings.Repeat("xyz ", 50), strings.Repeat("語", 60)}
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "before"), "")
		after := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "after"), "")
		width := rapid.IntRange(20, 140).Draw(t, "width")
		f := file("x: " + before + "@" + after)
		pos := source.Pos{File: f, Line: 1, Col: 4 + utf8.RuneCountInString(before)}
		out := printed(t, source.Diagnostics{{Pos: pos, Msg: "m"}}, source.Style{Width: width})
		lines := strings.Split(out, "\n")
		caret := len(lines[2]) - 1
		at := strings.IndexByte(lines[1], '@')
		if at < 0 || displaywidth.String(lines[1][:at]) != caret {
			t.Fatalf("caret at %d:\n%s", caret, out)
		}
		if w := displaywidth.String(lines[1]); w > width+5 {
			t.Fatalf("%d columns, %d allowed:\n%s", w, width, out)
		}
		checkHarmless(t, out)
	})
}

func TestPrintLongLine(t *testing.T) {
	f := file("start " + strings.Repeat("x", 500) + "@" + strings.Repeat("y", 500))
	out := printed(t, source.Diagnostics{{Pos: source.Pos{File: f, Line: 1, Col: 507}, Msg: "m"}}, source.Style{Width: 30})
	want := "suite.yaml:1:507: error: m\n    …" + strings.Repeat("x", 19) + "@" + strings.Repeat("y", 8) + "…\n    " + strings.Repeat(" ", 20) + "^\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("pipe is gone") }

func TestPrintReportsTheWriter(t *testing.T) {
	if err := (source.Diagnostics{{Msg: "m"}}).Print(brokenWriter{}, source.Style{}); err == nil || err.Error() != "write diagnostics: pipe is gone" {
		t.Error(err)
	}
	if err := (source.Diagnostics{}).Print(brokenWriter{}, source.Style{}); err != nil {
		t.Error("nothing to write, and yet", err)
	}
}

// Of many diagnostics that say the same, the first is printed, with the places of a few others.
func TestPrintRepeats(t *testing.T) {
	t.Parallel()
	f := file("a\nb\nc\nd\ne\nf\ng\n")
	repeated := func(n int) (ds source.Diagnostics) {
		for i := range n {
			ds = append(ds, source.Errorf(source.Pos{File: f, Line: i + 1, Col: 1}, fmt.Sprintf("tools[%d].server", i), "no such server"))
		}
		return ds
	}
	if got := printed(t, repeated(3), source.Style{}); strings.Count(got, "no such server") != 3 || strings.Contains(got, "more") {
		t.Error(got)
	}
	other := source.Errorf(source.Pos{File: f, Line: 7, Col: 1}, "prompts[0].server", "no such server")
	got := printed(t, append(repeated(6), other), source.Style{})
	want := "suite.yaml:1:1: error: tools[0].server: no such server\n    a\n    ^\n" +
		"  and at 5 more places: suite.yaml:2:1, suite.yaml:3:1, suite.yaml:4:1, suite.yaml:5:1, …\n" +
		"suite.yaml:7:1: error: prompts[0].server: no such server\n    g\n    ^\n"
	if got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}
