package report

import (
	"fmt"
	"strings"

	"mcptest/internal/result"
)

// rowsTold is how many rows of one test are explained in full in which the same
// assertions failed. Their values differ, so one example is not enough.
const rowsTold = 3

// causes finds failures that have a cause in common, so that it is told once.
type causes struct {
	known   map[string]*cause
	verbose bool // every row is explained
}

// cause is what several failures have in common: the message of tests that got
// no answer or were not called, or the assertions that failed in rows of one
// test.
type cause struct {
	last   string // the name of the last that was explained
	told   int    // how many were
	others int    // how many were not
	rows   bool   // the values differ from one to the next
}

// of returns the cause of a failure, nil for one of its own, and whether it has
// to be explained: the cause counts it among the others if not.
func (cs *causes) of(c *result.Case) (found *cause, explain bool) {
	key, rows := sameMessage(c), false
	if key == "" && !cs.verbose {
		key, rows = sameAssertions(c), true
	}
	if key == "" {
		return nil, true
	}
	found = cs.known[key]
	if found == nil {
		if cs.known == nil {
			cs.known = map[string]*cause{}
		}
		found = &cause{rows: rows}
		cs.known[key] = found
	}
	if found.told == 0 || rows && found.told < rowsTold {
		found.told++
		found.last = c.Name
		return found, true
	}
	found.others++
	return found, false
}

// sameMessage is what failures for one reason have in common, "" for a case
// that has a reason of its own.
func sameMessage(c *result.Case) string {
	if c.Message == "" || len(failing(c.Assertions)) > 0 || len(c.Violations) > 0 || c.Score != nil {
		return ""
	}
	return string(c.Status) + "\x00" + c.Server + "\x00" + c.Message
}

// sameAssertions is what rows of one test have in common in which the same
// assertions failed, "" where more than assertions went wrong. A test without
// rows is alone with it.
func sameAssertions(c *result.Case) string {
	var b strings.Builder
	assertionPlaces(&b, c.Assertions)
	if b.Len() == 0 || len(c.Violations) > 0 || c.Line == 0 {
		return ""
	}
	for i := range c.Phases {
		if broke(c.Phases[i].Status) {
			return ""
		}
	}
	return fmt.Sprintf("%s\x00%s\x00%s:%d:%d%s", c.Status, c.Server, c.File, c.Line, c.Column, b.String())
}

// assertionPlaces writes where the failed assertions stand, and what they look at.
func assertionPlaces(b *strings.Builder, as []result.Assertion) {
	for i := range as {
		a := &as[i]
		if a.Pass {
			continue
		}
		fmt.Fprintf(b, "\x00%s:%d:%d %s", a.File, a.Line, a.Column, label(a))
		assertionPlaces(b, a.Assertions)
	}
}
