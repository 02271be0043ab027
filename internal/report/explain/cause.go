package explain

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/result"
)

// rowsExplained is how many rows of a test with the same failed assertions are
// explained in full. Their values differ, so one example is not enough.
const rowsExplained = 3

// Causes finds failures that have a cause in common, so that it is explained once.
type Causes struct {
	known   map[string]*Cause
	Verbose bool // every row is explained
}

// Cause is what several failures have in common: the message of tests that got
// no response or were not called, or the failed assertions of the rows of a
// test or of a test that runs on several servers.
type Cause struct {
	Last     string   // the name of the last that was explained
	Messages []string // of those that were explained
	Others   int      // how many were not explained
	Rows     bool     // the values may differ from one to the next
}

// Of returns the cause of a failure, nil if it shares none, and whether the
// failure must be explained. If not, it is counted in cause.others.
func (cs *Causes) Of(c *result.Case) (found *Cause, explain bool) {
	key, rows := sameMessage(c), false
	if key == "" && !cs.Verbose {
		key, rows = sameAssertions(c), true
	}
	if key == "" {
		return nil, true
	}
	found = cs.known[key]
	if found == nil {
		if cs.known == nil {
			cs.known = map[string]*Cause{}
		}
		found = &Cause{Rows: rows}
		cs.known[key] = found
	}
	if len(found.Messages) == 0 || rows && len(found.Messages) < rowsExplained && !slices.Contains(found.Messages, c.Message) {
		found.Messages = append(found.Messages, c.Message)
		found.Last = c.Name
		return found, true
	}
	found.Others++
	return found, false
}

// sameMessage is the key of failures with the same message and no details, ""
// for a case with assertions, violations or a score.
func sameMessage(c *result.Case) string {
	if c.Message == "" || len(Failing(c.Assertions)) > 0 || len(c.Violations) > 0 || c.Score != nil {
		return ""
	}
	server, variant := SplitVariant(c.Server)
	message := c.Message
	if variant != "" { // the variants of a server are one cause
		message = strings.ReplaceAll(message, c.Server, server)
	}
	return string(c.Status) + "\x00" + server + "\x00" + message
}

// sameAssertions is the key of rows of a test, or of runs of a test on several
// servers, in which the same assertions failed; "" if something other than
// assertions failed.
func sameAssertions(c *result.Case) string {
	var b strings.Builder
	assertionPlaces(&b, c.Assertions)
	if b.Len() == 0 || len(c.Violations) > 0 || c.Line == 0 {
		return ""
	}
	for i := range c.Phases {
		if Failed(c.Phases[i].Status) {
			return ""
		}
	}
	return fmt.Sprintf("%s\x00%s:%d:%d%s", c.Status, c.File, c.Line, c.Column, b.String())
}

// assertionPlaces writes the locations and targets of the failed assertions.
func assertionPlaces(b *strings.Builder, as []result.Assertion) {
	for i := range as {
		a := &as[i]
		if a.Pass {
			continue
		}
		fmt.Fprintf(b, "\x00%s:%d:%d %s", a.File, a.Line, a.Column, Label(a))
		assertionPlaces(b, a.Assertions)
	}
}

// Many failures are explained in groups and up to a limit, so that the summary of
// a run in which everything broke can be found.
const (
	MostFailures = 100
	MostNames    = 10
)
