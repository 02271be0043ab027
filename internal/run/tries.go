package run

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/result"
)

// tries are the tries or repetitions of one case. Every one has a bracket of
// its own, so what its hooks and fixtures met is kept of every one.
type tries struct {
	word string // what one is called: try, run
	done []result.Attempt
	said []said
}

// said is a warning and the tries that gave it, from 1.
type said struct {
	text string
	by   []int
}

// add takes what came of the next try.
func (t *tries) add(c *result.Case) {
	t.done = append(t.done, result.Attempt{Status: c.Status, DurationMS: c.DurationMS, Message: c.Message, Phases: c.Phases})
	for _, w := range c.Warnings {
		t.warn(w)
	}
	if c.Status == result.Skip && len(t.done) > 1 {
		t.warn("skipped: " + c.Message)
	}
}

func (t *tries) warn(text string) {
	n := len(t.done)
	i := slices.IndexFunc(t.said, func(s said) bool { return s.text == text })
	if i < 0 {
		t.said = append(t.said, said{text: text, by: []int{n}})
	} else if by := t.said[i].by; by[len(by)-1] != n {
		t.said[i].by = append(by, n)
	}
}

// settle puts into c what is known of all tries; the rest of c is that of the
// shown one, from 0.
func (t *tries) settle(c *result.Case, shown int) {
	c.Attempts = t.done
	c.Attempts[shown].Phases = nil // the case has them
	c.Warnings = nil
	for _, s := range t.said {
		if len(s.by) < len(t.done) {
			s.text = t.which(s.by) + ": " + s.text
		}
		c.Warnings = append(c.Warnings, s.text)
	}
}

// which names some of the tries: "try 2", "run 1, 3, 4 and 5 more".
func (t *tries) which(list []int) string {
	const most = 3
	var names []string
	for _, n := range list[:min(len(list), most)] {
		names = append(names, fmt.Sprint(n))
	}
	out := t.word + " " + strings.Join(names, ", ")
	if more := len(list) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
