package gen

import (
	"fmt"
	"strings"
)

// Text writes topics for a terminal. A key that has its name in many places is
// in short.
func Text(topics []Topic) string {
	const many = 3
	count := map[string]int{} // topics of a kind
	for _, t := range topics {
		count[t.Kind]++
	}
	var b strings.Builder
	for i, t := range topics {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.isKey() && count[t.Kind] > many {
			t.writeShort(&b)
		} else {
			t.write(&b)
		}
	}
	return b.String()
}

// writeShort writes a key without its title and its example.
func (t Topic) writeShort(b *strings.Builder) {
	b.WriteString(strings.Join(t.places, ", "))
	if len(t.Facts) > 0 {
		fmt.Fprintf(b, " (%s)", strings.Join(t.Facts, "; "))
	}
	fmt.Fprintf(b, "\n  %s\n", t.Doc)
}

func (t Topic) write(b *strings.Builder) {
	b.WriteString(t.Title + "\n")
	fmt.Fprintf(b, "  %s\n", t.Doc)
	if len(t.places) > 0 {
		fmt.Fprintf(b, "  in: %s\n", strings.Join(t.places, ", "))
	}
	for _, f := range t.Facts {
		fmt.Fprintf(b, "  %s\n", f)
	}
	if t.Example != "" {
		fmt.Fprintf(b, "\n  example:\n    %s\n", strings.ReplaceAll(t.Example, "\n", "\n    "))
	}
	if t.Passes != "" {
		fmt.Fprintf(b, "\n  passes on: %s\n  fails on:  %s\n", t.Passes, t.Fails)
	}
	if t.Message != "" {
		fmt.Fprintf(b, "             %s\n", t.Message)
	}
}
