package render_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

func TestNumbers(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{render.Duration(0.04), "0.0 ms"},
		{render.Duration(999.4), "999 ms"},
		{render.Duration(999.6), "1.00 s"},
		{render.Duration(60_000), "1 min 00 s"},
		{render.Duration(3_660_000), "1 h 01 min"},
		{render.Number(0.6667), "0.667"},
		{render.Number(2), "2"},
		{display.Count(1, "line"), "1 line"},
		{display.Count(0, "line"), "0 lines"},
		{render.Place("a\x1b.yaml", 3, 0), term.Escape("a\x1b.yaml") + ":3"},
		{render.Place("", 0, 7), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// Foreign text of several lines stays behind the gutter, and what is left out
// is counted.
func TestBlock(t *testing.T) {
	text := strings.Repeat("::error::x\n", 40)
	for _, tail := range []bool{true, false} {
		var b bytes.Buffer
		p := render.NewPrinter(&b, &result.Run{}, render.Options{})
		p.Block(2, text, 8, tail)
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		for _, l := range lines {
			if !strings.HasPrefix(strings.TrimSpace(l), "│") {
				t.Errorf("tail %v: a line without the gutter: %q", tail, l)
			}
		}
		if tail && (len(lines) != 8 || !strings.Contains(b.String(), "[33 lines left out]")) || !tail && (len(lines) != 9 || !strings.Contains(b.String(), "32 lines more")) {
			t.Errorf("tail %v: %d lines:\n%s", tail, len(lines), b.String())
		}
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWritersKeepTheFirstError(t *testing.T) {
	p := render.NewPrinter(full{}, &result.Run{}, render.Options{})
	for range 1000 {
		p.Line(0, "more than a buffer holds")
	}
	if err := p.Flush(); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	j := render.NewJSON(&bytes.Buffer{})
	j.Value(func() {})
	j.Value(1)
	if j.Flush() == nil {
		t.Error("a value that is not JSON is no error")
	}
}

// Long messages are divided at blanks, with their indentation, on a terminal only.
func TestMessagesFitTheTerminal(t *testing.T) {
	for _, tt := range []struct {
		width int
		want  string
	}{
		{0, "   one two three four five six seven eight nine ten\n   call  one two three four five six seven eight nine ten\n"},
		{40, "   one two three four five six seven\n   eight nine ten\n   call  one two three four five six\n         seven eight nine ten\n"},
	} {
		var b strings.Builder
		p := render.NewPrinter(&b, nil, render.Options{Width: tt.width})
		p.Message(3, term.Plain, "one two three four five six seven eight nine ten")
		p.Value(3, "call  ", term.Plain, "one two three four five six seven eight nine ten")
		_ = p.Flush()
		if b.String() != tt.want {
			t.Errorf("width %d: got\n%s", tt.width, b.String())
		}
	}
}
