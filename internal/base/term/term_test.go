package term_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
)

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		mode string
		env  []string
		want term.Profile
	}{
		{"never", nil, term.None},
		{"always", []string{"NO_COLOR=1"}, term.Color},
		{"auto", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, term.None}, // a buffer is no terminal
		{"", []string{"TERM=xterm", "CLICOLOR_FORCE=1"}, term.Color},
		{"", []string{"TERM=xterm", "CLICOLOR_FORCE=0"}, term.None},
		{"", []string{"TERM=xterm", "CLICOLOR_FORCE=1", "NO_COLOR=yes"}, term.None},
	} {
		got, err := term.Detect(&bytes.Buffer{}, tc.env, tc.mode)
		if err != nil || got != tc.want {
			t.Errorf("%s %v: got %v, %v, want %v", tc.mode, tc.env, got, err, tc.want)
		}
	}
	if _, err := term.Detect(os.Stdout, nil, "sometimes"); err == nil || !strings.Contains(err.Error(), `"sometimes"`) {
		t.Errorf("got %v", err)
	}
	if term.IsTerminal(&bytes.Buffer{}) || term.IsTerminal((*os.File)(nil)) || term.CountColumns(nil, 77) != 77 {
		t.Error("a buffer is no terminal")
	}
}

func TestPalette(t *testing.T) {
	color, bold, none := term.NewPalette(term.Color), term.NewPalette(term.Bold), term.Palette{}
	if got := color.Paint(term.Good, "a\n\nb"); got != "\x1b[32ma\x1b[0m\n\n\x1b[32mb\x1b[0m" {
		t.Errorf("got %q", got)
	}
	if got := bold.Paint(term.Good, "a") + bold.Paint(term.Bad, "b"); got != "a\x1b[1mb\x1b[0m" {
		t.Errorf("got %q", got)
	}
	for st := term.Plain; st <= term.Accent+1; st++ {
		if got := none.Paint(st, "a"); got != "a" {
			t.Errorf("style %d without colors: got %q", st, got)
		}
	}
	if none.Enabled() || !bold.Enabled() {
		t.Error("Enabled")
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, déjà vu 日本 😀":           "plain text, déjà vu 日本 😀",
		"\x1b[31mred\x1b[0m":                 `\x1b[31mred\x1b[0m`,
		"\x1b]8;;http://evil\x07link":        `\x1b]8;;http://evil\x07link`,
		"a\nb\tc\rd\x00\x7f":                 `a\nb\tc\rd\x00\x7f`,
		"\u0085\u009b31m":                    `\x85\x9b31m`,
		"\u202eevil\u2066\u200b\ufeff\u00ad": `\u202eevil\u2066\u200b\ufeff\u00ad`,
		"\xff\xc3(":                          `\xff\xc3(`,
		"\U000e0041\U0001f3fb":               "\\U000e0041\U0001f3fb",
		"::error::x":                         `\x3a:error::x`,
		"  ::error::x":                       `  \x3a:error::x`,
		"std::vector":                        "std::vector",
		"\u00a0\u3000::error::x":             "\u00a0\u3000\\x3a:error::x",
		"x ##[error] ##vso[task] # ##":       `x \x23#[error] \x23#vso[task] # ##`,
		`back\slash`:                         `back\slash`,
		"\u2028\u2029\u3164\u115f":           `\u2028\u2029\u3164\u115f`,
	} {
		if got := term.Escape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got, want := term.EscapeLines("a\r\nb\tc\n ::set x\n"), "a\nb    c\n \\x3a:set x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"\x1b[0m", "\u202e", "::x", "##[x", "\xff", "a\r\n\tb", "\U000e0001", "\xae\u200c훅"} {
		f.Add(s)
	}
	// Each reaches code that no other seed does.
	for _, seed := range []string{
		"0  ",
		"\u00a0::",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one, many := term.Escape(s), term.EscapeLines(s)
		for _, out := range append(strings.Split(many, "\n"), one) {
			if !utf8.ValidString(out) {
				t.Fatalf("%q: not UTF-8: %q", s, out)
			}
			if display.Escape(out) != out {
				t.Fatalf("%q: something is hidden in %q", s, out)
			}
			if strings.Contains(out, "##[") || strings.HasPrefix(strings.TrimSpace(out), "::") {
				t.Fatalf("%q: a CI command is live in %q", s, out)
			}
		}
		if again := term.Escape(one); again != one {
			t.Fatalf("not stable: %q, %q", one, again)
		}
	})
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "é": 1, "\x1b[31mab\x1b[0m": 2} {
		if got := display.Width(s); got != want {
			t.Errorf("%q: got %d, want %d", s, got, want)
		}
	}
	for _, tc := range []struct {
		s    string
		n    int
		want string
	}{{"abcdef", 4, "abc…"}, {"abc", 3, "abc"}, {"日本語", 4, "日…"}, {"abc", 0, ""}, {"日本", 4, "日本"}} {
		if got := display.Truncate(tc.s, tc.n); got != tc.want {
			t.Errorf("%q to %d: got %q, want %q", tc.s, tc.n, got, tc.want)
		}
	}
	if got := term.Pad("日", 4) + "|" + term.PadLeft("a", 3) + "|" + term.Pad("abc", 2) + term.PadLeft("abc", 2); got != "日  |  a|abcabc" {
		t.Errorf("got %q", got)
	}
}

// tty is a terminal of one line's memory: it plays back what is on the last
// line and what has scrolled above it.
type tty struct {
	bytes.Buffer
	writes int
}

func (y *tty) Write(p []byte) (int, error) { y.writes++; return y.Buffer.Write(p) }

func (y *tty) screen() (above []string, last string) {
	line := ""
	for _, r := range strings.ReplaceAll(y.String(), "\x1b[K", "\v") {
		switch r {
		case '\r':
			line = "\r" + line
		case '\v':
			line = ""
		case '\n':
			above, line = append(above, strings.TrimPrefix(line, "\r")), ""
		default:
			line += string(r)
		}
	}
	return above, line
}

func TestStatus(t *testing.T) {
	var y tty
	now := time.Unix(0, 0)
	s := term.NewStatusWith(&y, term.StatusOptions{Live: true, Columns: func() int { return 12 }, Now: func() time.Time { return now }})
	s.Set("one")
	s.Set("two") // too soon
	if _, last := y.screen(); last != "one" {
		t.Errorf("got %q", last)
	}
	if s.IsDue() {
		t.Error("due at once")
	}
	s.Flush()
	if _, last := y.screen(); last != "two" {
		t.Errorf("got %q", last)
	}
	if err := s.Print(nil, "above\n"); err != nil {
		t.Fatal(err)
	}
	if above, last := y.screen(); last != "two" || strings.Join(above, "|") != "above" {
		t.Errorf("got %q, %q", above, last)
	}
	now = now.Add(time.Second)
	if !s.IsDue() {
		t.Error("not due after a second")
	}
	s.Set("a line that is much too long")
	if _, last := y.screen(); last != "a line tha…" {
		t.Errorf("got %q", last)
	}
	before := y.writes
	now = now.Add(time.Second)
	s.Set("a line that is much too long, by far")
	if y.writes != before {
		t.Error("painted what was there already")
	}
	var other bytes.Buffer
	s.Print(&other, "to the other stream\n")
	if other.String() != "to the other stream\n" {
		t.Errorf("got %q", other.String())
	}
	if _, last := y.screen(); last != "a line tha…" {
		t.Errorf("got %q", last)
	}
	s.Clear()
	if _, last := y.screen(); last != "" {
		t.Errorf("got %q", last)
	}
}

func TestStatusIsSilentOffTerminals(t *testing.T) {
	var b bytes.Buffer
	s := term.NewStatus(&b, []string{"TERM=xterm"})
	if s.Live() || s.IsDue() {
		t.Error("live")
	}
	s.Set("x")
	s.Flush()
	s.Clear()
	s.Print(nil, "text\n")
	if b.String() != "text\n" {
		t.Errorf("got %q", b.String())
	}
	var none *term.Status
	none.Set("x")
	none.Clear()
	none.Flush()
	if err := none.Print(&b, "more\n"); err != nil || b.String() != "text\nmore\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

func TestStatusSurvivesAClosedTerminal(t *testing.T) {
	s := term.NewStatusWith(failing{}, term.StatusOptions{Live: true})
	s.Set("x")
	s.Flush()
	if err := s.Print(nil, "x"); err == nil {
		t.Error("Print tells of the failure")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }
