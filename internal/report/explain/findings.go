package explain

import (
	"fmt"

	"mcptest/internal/result"
)

// Folded returns the findings of a run in their order. Equal ones are combined; the
// excerpt, or the message, contains their number.
func Folded(all []result.Finding) []result.Finding {
	count := map[result.Finding]int{}
	for _, f := range all {
		count[f]++
	}
	var out []result.Finding
	for _, f := range all {
		n := count[f]
		delete(count, f)
		text := &f.Message
		if f.Excerpt != "" {
			text = &f.Excerpt
		}
		if n > 1 {
			*text += fmt.Sprintf(" (%d times)", n)
		}
		if n > 0 {
			out = append(out, f)
		}
	}
	return out
}

// FindingLine returns a finding in one line: server, message and excerpt.
func FindingLine(f result.Finding) string {
	if f.Excerpt == "" {
		return OnServer(f)
	}
	return OnServer(f) + ": " + f.Excerpt
}

// OnServer returns the message of a finding, preceded by the name of its server.
func OnServer(f result.Finding) string {
	if f.Server == "" {
		return f.Message
	}
	return "server " + f.Server + ": " + f.Message
}
