package packet

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
)

// writePrompts writes what users may ask, from the tests with a model.
func (p *page) writePrompts(f Field) {
	p.printf("%s, at most %d:\n\n", p.label(f), f.Count)
	known := []string{}
	for _, c := range p.Cases {
		if c.Prompt == "" || c.Negative || slices.Contains(known, c.Prompt) || len(known) == f.Count {
			continue
		}
		known = append(known, c.Prompt)
	}
	for _, prompt := range known {
		mark := "✓"
		length := utf8.RuneCountInString(prompt)
		if f.Limit > 0 && length > f.Limit {
			mark = "✗"
			p.broken++
		}
		p.printf("- %s (%s %s)\n", p.quoteCode(prompt), mark, display.Count(length, "character"))
	}
	if len(known) == 0 {
		p.printf("- %s (no test with a model has a prompt)\n", p.makeBlank())
	}
}

// writeCases writes the test cases of a form. Places that no test fills are empty.
func (p *page) writeCases(f Field) {
	chosen := choose(p.Cases, f.Kind == kindNegative, f.Count)
	p.printf("\n%s: %d, of which the suite gives %d%s.\n", p.label(f), f.Count, len(chosen), p.why(f, len(chosen)))
	for i := range f.Count {
		if i < len(chosen) {
			p.writeCase(f, i, chosen[i])
		} else {
			p.writeCase(f, i, Case{})
		}
	}
	p.printf("\n")
}

// why says why the suite gives fewer cases than the form asks for.
func (p *page) why(f Field, given int) string {
	switch {
	case given == f.Count:
		return ""
	case p.Suite == "":
		return " (no suite was given: --config SUITE)"
	case f.Kind == kindNegative:
		return " (a test under `tools:` that expects an error, or one under `agents:` that expects no call, is one)"
	}
	return " (a test under `agents:` or `tools:` that expects a result is one)"
}

// writeCase writes a case, or an empty one.
func (p *page) writeCase(f Field, i int, c Case) {
	p.printf("\n### %s %d", strings.TrimSuffix(f.Label, "s"), i+1)
	if c.Name != "" {
		p.printf(": %s", p.text(c.Name))
	}
	p.printf("\n\n")
	prompt := p.makeBlank
	if c.Prompt != "" {
		prompt = func() string { return p.quoteCode(c.Prompt) }
	}
	p.printf("- User prompt: %s\n", prompt())
	call := c.Call
	switch {
	case call != "":
		p.printf("- Expected call: %s\n", p.quoteCode(call))
	case c.Negative:
		p.printf("- Expected call: none\n")
	default:
		p.printf("- Expected call: %s\n", p.makeBlank())
	}
	p.describeExpected(c)
	if slices.Contains(f.Asks, "data") {
		p.printf("- Test account or data that it needs: %s\n", p.makeBlank())
	}
	if slices.Contains(f.Asks, "why") {
		p.printf("- Why it is not done: %s\n", p.makeBlank())
	}
}

// maxExpected bounds the assertions of a case.
const maxExpected = 6

func (p *page) describeExpected(c Case) {
	if len(c.Expected) == 0 {
		p.printf("- Expected result: %s\n", p.makeBlank())
		return
	}
	shown := []string{}
	for _, text := range c.Expected[:min(len(c.Expected), maxExpected)] {
		shown = append(shown, p.quoteCode(display.Truncate(text, 300)))
	}
	if more := len(c.Expected) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	p.printf("- Expected result, in the words of the suite: %s\n", strings.Join(shown, "; "))
}

// choose returns the cases of one kind: those with a prompt first, and of each tool one
// before a second one.
func choose(all []Case, negative bool, count int) (chosen []Case) {
	var left []Case
	for _, hasPrompt := range []bool{true, false} {
		for _, c := range all {
			if c.Negative == negative && (c.Prompt != "") == hasPrompt {
				left = append(left, c)
			}
		}
	}
	used := map[string]bool{}
	var second []Case
	for _, c := range left {
		key := c.Prompt
		if key == "" {
			key = strings.Join(c.Tools, " ")
		}
		if used[key] {
			second = append(second, c)
			continue
		}
		used[key] = true
		chosen = append(chosen, c)
	}
	for _, c := range second {
		if c.Prompt == "" { // the same prompt twice is one case
			chosen = append(chosen, c)
		}
	}
	return chosen[:min(len(chosen), count)]
}
