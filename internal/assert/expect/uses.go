package expect

import (
	"context"
	"slices"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/assert/trajectory"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/assert"
	"mcptest/internal/offer/compat"
)

// Uses returns the roots that the tree examines.
func (t *Tree) Uses() target.Uses { return usesOf(t.Items) }

func usesOf(items []Item) (u target.Uses) {
	for i := range items {
		if set := items[i].Set; set != nil {
			u |= usesOf(set.Items)
			continue
		}
		u |= items[i].Assertion.Target.Uses()
		if items[i].Assertion.Matcher.Execs {
			u |= target.Programs
		}
	}
	return u
}

// Examines reports whether an assertion of the tree examines an upstream.
func (t *Tree) Examines(upstream string) bool { return t != nil && examines(t.Items, upstream) }

func examines(items []Item, upstream string) bool {
	return slices.ContainsFunc(items, func(i Item) bool {
		return i.Set != nil && examines(i.Set.Items, upstream) || i.Set == nil && i.Assertion.Target.Examines(upstream)
	})
}

// Checks returns the arguments of the check matchers in the tree.
func (t *Tree) Checks() (found []*compat.Choice) {
	anyItem(t.Items, func(a *Assertion) bool {
		if choice := a.Matcher.Choice(); choice != nil {
			found = append(found, choice)
		}
		return false
	})
	return found
}

// Mentions returns the exact names of tools in trajectories and targets of the tree.
func (t *Tree) Mentions() (found []trajectory.Mention) {
	anyItem(t.Items, func(a *Assertion) bool {
		found = append(found, a.Matcher.Mentions()...)
		if name := a.Target.CallOf(); name != "" {
			found = append(found, trajectory.Mention{In: a.Target.String(), Name: name, Absent: a.Matcher.WantsNothing()})
		}
		return false
	})
	return found
}

// SameAs returns what the tree's same-as matchers compare with.
func (t *Tree) SameAs() (found []*assert.SameAs) {
	anyItem(t.Items, func(a *Assertion) bool {
		found = append(found, a.Matcher.SameAs()...)
		return false
	})
	return found
}

// ExaminesCosts reports whether an item examines how many tokens a conversation took, or what it
// cost.
func (t *Tree) ExaminesCosts() bool {
	return anyItem(t.Items, func(a *Assertion) bool { return a.Target.Root() == "tokens" || a.Target.Root() == "cost_usd" })
}

// SaysStillRuns reports whether an item says that the program of a test still runs.
func (t *Tree) SaysStillRuns() bool {
	return anyItem(t.Items, func(a *Assertion) bool { return a.Target.String() == "exit" && a.Matcher.SaysStillRuns() })
}

// SaysKilled reports whether an item says that a signal kills the program of a test.
func (t *Tree) SaysKilled(signal string) bool {
	return anyItem(t.Items, func(a *Assertion) bool {
		name := a.Target.String()
		return (name == "exit" || name == "exit.signal") && a.Matcher.SaysKilled(name, signal)
	})
}

// SaysUnrun reports whether an item says that a program cannot be run: it expects the code by
// which a shell says so, and not every code; if a line of standard error says so, it expects
// that line, and not every text.
func (t *Tree) SaysUnrun(code int, line string) bool {
	return anyItem(t.Items, func(a *Assertion) bool {
		name := a.Target.String()
		if line != "" {
			return name == "stderr" && a.Passes(jsonv.String(line)) && !a.Passes(jsonv.String("another text"))
		}
		return (name == "exit" || name == "exit.code") && a.Matcher.SaysCode(name, code)
	})
}

// WantsNoResult reports whether an item requires that there is no result.
func (t *Tree) WantsNoResult() bool {
	return anyItem(t.Items, func(a *Assertion) bool { return a.Matcher.WantsNothing() && a.Target.WholeResult() })
}

// Passes reports whether a value of the target passes the assertion. One that runs a program
// passes nothing.
func (a *Assertion) Passes(v jsonv.Value) bool {
	subject := target.Subject{Target: a.Target.String(), Value: v, Present: true}
	return !a.Matcher.Execs && a.Matcher.Match(context.Background(), subject, &match.Env{}).Pass
}
