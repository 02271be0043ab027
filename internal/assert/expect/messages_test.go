package expect_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMessages compares the complete output of a failure. Each case in
// testdata/messages.txtar is a suite, a result (or an error), and the golden text.
func TestMessages(t *testing.T) {
	const name = "testdata/messages.txtar"
	data, err := os.ReadFile(name)
	files := sections(string(data))
	if err != nil || len(files) < 2 {
		t.Fatal("no cases", err)
	}
	var suite, got string
	var o *target.Observation
	for i, f := range files[1:] {
		title, kind, _ := strings.Cut(f.name, "/")
		switch kind {
		case "suite":
			suite = f.text
		case "result":
			o = result(t, f.text)
		case "error":
			o = &target.Observation{Error: value(t, f.text)}
		case "text":
			o = textResult(strings.TrimSuffix(f.text, "\n"))
		case "says":
			t.Run(title, func(t *testing.T) {
				got = written(evaluate(t, suite, o))
				if want := f.text; got != want && !*update {
					t.Error(cmp.Diff(want, got))
				}
			})
			files[i+1].text = got
		default:
			t.Fatalf("what is %s?", f.name)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(format(files)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func written(v expect.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s\n", v.Message)
	writeItems(&b, "", v.Items)
	for _, note := range v.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

func writeItems(b *strings.Builder, indent string, items []expect.ItemResult) {
	for _, item := range items {
		if item.Pass && len(item.Notes) == 0 {
			continue
		}
		fmt.Fprintf(b, "%sline %d: %s\n", indent, item.Pos.Line, item.Message)
		if item.Expected != "" {
			fmt.Fprintf(b, "%s  expected: %s\n%s  actual:   %s\n", indent, item.Expected, indent, item.Actual)
		}
		for _, line := range item.Diff {
			fmt.Fprintf(b, "%s  | %s\n", indent, line)
		}
		for _, note := range item.Notes {
			fmt.Fprintf(b, "%s  note: %s\n", indent, note)
		}
		writeItems(b, indent+"  ", item.Items)
	}
}

// section is one part of a golden file: "-- name --", then its text.
type section struct{ name, text string }

// sections splits a golden file; the first section is the text before all others.
func sections(data string) []section {
	out := []section{{}}
	for line := range strings.Lines(data) {
		if name, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(name, " --\n") {
			out = append(out, section{name: strings.TrimSuffix(name, " --\n")})
			continue
		}
		out[len(out)-1].text += line
	}
	return out
}

func format(files []section) string {
	out := files[0].text
	for _, f := range files[1:] {
		out += "-- " + f.name + " --\n" + f.text
	}
	return out
}
