package gen

import (
	"fmt"
	"strings"
)

// Text writes topics for a terminal. A key that has its name in many places is
// in short.
func Text(topics []Topic) string {
	const many = 3
	var b strings.Builder
	short := func(kind string) bool {
		return len(filter(topics, func(t Topic) bool { return t.Kind == kind })) > many
	}
	for i, t := range topics {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.isKey() && short(t.Kind) {
			b.WriteString(strings.TrimPrefix(t.Facts[0], "in: "))
			if len(t.Facts) > 1 {
				fmt.Fprintf(&b, " (%s)", strings.Join(t.Facts[1:], "; "))
			}
			fmt.Fprintf(&b, "\n  %s\n", t.Doc)
			continue
		}
		t.write(&b)
	}
	return b.String()
}

func (t Topic) write(b *strings.Builder) {
	b.WriteString(t.Title + "\n")
	fmt.Fprintf(b, "  %s\n", t.Doc)
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
