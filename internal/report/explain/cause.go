package explain

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/report/result"
)

// rowsExplained limits the rows of a test with the same failed assertions that are
// explained in full. Their values differ, so one example is not enough.
const rowsExplained = 3

// Causes groups failures with a common cause, so that it is explained once.
type Causes struct {
	known   map[string]*Cause
	Verbose bool // explain every row
}

// Cause is a common cause of several failures: the message of tests that got no
// response or were not called, or the failed assertions of the rows of a test or of a
// test that runs on several servers.
type Cause struct {
	Last     string   // name of the last explained failure
	Messages []string // of the explained failures
	Others   int      // number of failures that were not explained
	Rows     bool     // the values may differ between failures
}

// Find returns the cause of a failure, or nil if it is not shared, and whether the
// failure must be explained. If not, it is counted in Cause.Others.
func (cs *Causes) Find(c *result.Case) (found *Cause, explain bool) {
	key, rows := makeMessageKey(c), false
	if key == "" && !cs.Verbose {
		key, rows = makeAssertionsKey(c), true
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

// makeMessageKey returns the key of failures with the same message and no details, or ""
// for a case with assertions, violations or a score. The texts of violations contain ids,
// so which of them are equal depends on the order of the calls.
func makeMessageKey(c *result.Case) string {
	if c.Message == "" || len(ListFailing(c.Assertions)) > 0 || len(c.Violations) > 0 || c.Score != nil {
		return ""
	}
	server, variant := SplitVariant(c.Server)
	// Its age differs.
	message, _, _ := strings.Cut(c.Message, " its last line on stderr, ")
	if variant != "" { // all variants of a server share a cause
		message = strings.ReplaceAll(message, c.Server, server)
	}
	return string(c.Status) + "\x00" + server + "\x00" + message
}

// makeAssertionsKey returns the key of rows of a test, or of runs of a test on several
// servers, in which the same assertions failed; "" if there are other failures.
func makeAssertionsKey(c *result.Case) string {
	var b strings.Builder
	writePlaces(&b, c.Assertions)
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

// writePlaces writes the locations and targets of the failed assertions.
func writePlaces(b *strings.Builder, as []result.Assertion) {
	for i := range as {
		a := &as[i]
		if a.Pass {
			continue
		}
		fmt.Fprintf(b, "\x00%s:%d:%d %s", a.File, a.Line, a.Column, Label(a))
		writePlaces(b, a.Assertions)
	}
}

// Limits of explained failures, so that the summary remains visible if everything
// failed.
const (
	MostFailures = 100
	MostNames    = 10
)
