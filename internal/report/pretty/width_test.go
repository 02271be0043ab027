package pretty_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"mcptest/internal/report/pretty"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// On a terminal no source line is longer than a line of the screen, which would
// wrap it, and the caret is below the character that it points at.
func TestCaretFitsTheTerminal(t *testing.T) {
	line := `  - {name: long, args: {text: "` + strings.Repeat("größer ", 30) + `"}, expect: [{target: text, matcher: {exact: Ω}}]}`
	column := utf8.RuneCountInString(line[:strings.Index(line, "Ω")]) + 1
	c := &result.Case{
		Name: "long", File: "s.yaml", Line: 3, Status: result.Fail, Message: "wrong",
		Assertions: []result.Assertion{{Target: "text", Matcher: "exact", Message: "wrong", Line: 3, Column: column, Source: line}},
	}
	r := &result.Run{Schema: result.Schema, Cases: result.NewStored(c), ExitCode: 1, Summary: result.Summary{Total: 1, Failed: 1}}
	for _, width := range []int{40, 80, 200, 0} {
		var b bytes.Buffer
		if err := pretty.Write(&b, r, render.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		found := false
		for i, l := range lines {
			if !strings.HasSuffix(l, "^") {
				continue
			}
			found = true
			source := []rune(lines[i-1])
			at := utf8.RuneCountInString(l) - 1
			if at >= len(source) || source[at] != 'Ω' {
				t.Errorf("width %d: the caret points elsewhere:\n%s\n%s", width, lines[i-1], l)
			}
			if width > 0 && len(source) > width {
				t.Errorf("width %d: the line has %d columns", width, len(source))
			}
		}
		if !found {
			t.Errorf("width %d: no caret in\n%s", width, b.String())
		}
	}
}
