package html

import (
	"cmp"
	"fmt"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Word is what an attempt of the test is called.
func (t testView) Word() string {
	switch {
	case t.Trials != nil:
		return "trial"
	case t.Repeat != nil:
		return "run"
	}
	return "try"
}

// Words returns the word for several attempts.
func (t testView) Words() string {
	if t.Word() == "try" {
		return "tries"
	}
	return t.Word() + "s"
}

// TriedAgain reports whether a test was repeated because it failed, which did not make it
// pass.
func (t testView) TriedAgain() bool {
	return !t.Flaky && len(t.Attempts) > 1 && t.Repeat == nil && t.Trials == nil
}

// Decided returns what decided the verdict on a test of a model.
func (t testView) Decided() string {
	trials := "1 trial"
	d := t.Trials
	switch {
	case d != nil && t.Status == result.Inconclusive && d.Passed+d.Failed == d.Max:
		trials = fmt.Sprintf("no verdict within %d trials", d.Max)
	case d != nil:
		trials = fmt.Sprintf("decided with trial %d of at most %d", len(t.Attempts), d.Max)
	case t.Repeat != nil:
		trials = fmt.Sprintf("%d runs", t.Repeat.Times)
	}
	if share, ok := explain.ShareOf(t.Case); ok {
		trials += fmt.Sprintf(": %d of %d passed, %s", share.Passed, share.N, render.Share(share.Low, share.High))
	}
	return trials
}

// shown returns the index of the attempt that the case has the exchanges of; in a record
// that does not say it, of the last one.
func (t testView) shown() int { return cmp.Or(t.Shown, len(t.Attempts)) - 1 }

// Other reports whether the frames of the i-th try are missing in the record, which
// only has those of another try.
func (t testView) Other(i int) bool { return len(t.Attempts[i].Exchanges) == 0 && i != t.shown() }
