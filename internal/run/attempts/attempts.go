package attempts

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/report/result"
)

// A List holds the retries or repetitions of one case. Each runs its own hooks and
// fixtures, so the phases and warnings of all of them are kept.
type List struct {
	Word     string // what an attempt is called: try or run
	Done     []result.Attempt
	kept     int // how many have their exchanges
	warnings []attemptWarning
}

// framesMost is of how many attempts that did not pass the exchanges are kept: a
// case may be repeated a thousand times.
const framesMost = 5

// attemptWarning is a warning and the numbers of the attempts with it, from 1.
type attemptWarning struct {
	text string
	by   []int
}

// Add adds the result of the next attempt.
func (t *List) Add(c *result.Case) {
	a := result.Attempt{Status: c.Status, DurationMS: c.DurationMS, Message: c.Message, Phases: c.Phases, Silent: c.Silent}
	if c.Conversation != nil {
		a.ModelName = c.Conversation.ModelName
	}
	if c.Status.Failed() && t.kept < framesMost {
		a.Exchanges, a.Conversation = c.Exchanges, c.Conversation
		t.kept++
	}
	t.Done = append(t.Done, a)
	for _, w := range c.Warnings {
		t.warn(w)
	}
	if c.Status == result.Skip && len(t.Done) > 1 {
		t.warn("skipped: " + c.Message)
	}
}

func (t *List) warn(text string) {
	n := len(t.Done)
	i := slices.IndexFunc(t.warnings, func(w attemptWarning) bool { return w.text == text })
	if i < 0 {
		t.warnings = append(t.warnings, attemptWarning{text: text, by: []int{n}})
	} else if by := t.warnings[i].by; by[len(by)-1] != n {
		t.warnings[i].by = append(by, n)
	}
}

// Apply adds the phases and warnings of all attempts to c, the result of the
// attempt with the index shown.
func (t *List) Apply(c *result.Case, shown int) {
	c.Attempts, c.Shown = t.Done, shown+1
	a := &c.Attempts[shown]
	a.Phases, a.Exchanges, a.Conversation = nil, nil, nil // the case has them
	c.Warnings = nil
	for _, w := range t.warnings {
		if len(w.by) < len(t.Done) {
			w.text = t.joinNames(w.by) + ": " + w.text
		}
		c.Warnings = append(c.Warnings, w.text)
	}
}

// joinNames returns the names of some of the attempts: "attempt 2", "run 1, 3, 4 and
// 5 more".
func (t *List) joinNames(list []int) string {
	const most = 3
	names := lists.Map(list[:min(len(list), most)], func(n int) string { return fmt.Sprint(n) })
	out := t.Word + " " + strings.Join(names, ", ")
	if more := len(list) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
