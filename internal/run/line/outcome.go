package line

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
	"mcptest/internal/run/agent"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/record"
)

// outcome collects the result of one attempt.
type outcome struct {
	c        *result.Case
	problems []string // violations that fail the case
	noGrade  bool     // of a text: a failed assertion decides nothing
	previous string   // the test that used its session before; "" if none did
}

// fail sets the status unless it is already a more severe one.
func (o *outcome) fail(status result.Status, msg string) {
	if o.c.Status == result.Error || o.c.Status == result.Skip || o.noGrade && status == result.Fail {
		return
	}
	if o.isUndecided() || status == result.Error || status == result.Skip {
		o.c.Status, o.c.Message = status, CutFirstLine(msg)
	}
}

// setUnasked sets the status of a test whose model was not asked, which is not its fault: the
// run has cost what it may, of which capped tells the run, or the recording is stale. It
// returns err.
func (o *outcome) setUnasked(err error, capped func()) error {
	if errors.Is(err, agent.ErrCap) {
		capped()
	}
	if errors.Is(err, agent.ErrCap) || errors.Is(err, agent.ErrSkipped) {
		o.fail(result.Skip, err.Error())
	}
	if stale, ok := errors.AsType[*agent.StaleError](err); ok {
		o.fail(result.Inconclusive, stale.Error())
	}
	return err
}

// setUngraded sets the status of a test with a text that got no grade: it has no outcome.
func (o *outcome) setUngraded(err error, capped func()) {
	o.noGrade = true
	err = o.setUnasked(err, capped)
	if o.c.Status != result.Inconclusive {
		o.fail(result.Error, err.Error())
	}
}

func (o *outcome) warn(msgs ...string) { o.c.Warnings = append(o.c.Warnings, msgs...) }

// addPhases adds hooks and steps. Their warnings become warnings of the case, which
// all reports show.
func (o *outcome) addPhases(list ...result.Phase) {
	for _, ph := range list {
		for _, w := range ph.Warnings {
			o.warn(fmt.Sprintf("%s %q: %s", ph.Phase, ph.Name, w))
		}
		ph.Warnings = nil
		o.c.Phases = append(o.c.Phases, ph)
	}
}

// addViolations adds violations that fail the case, except those that the suite
// tolerates.
func (o *outcome) addViolations(s *pool.Server, list []protocol.Violation) {
	for _, v := range list {
		tolerated := s.Tolerates(v)
		o.c.Violations = append(o.c.Violations, result.Violation{
			Kind: v.Kind, Message: v.Msg, Excerpt: v.Excerpt, Offset: v.Offset, Tolerated: tolerated,
		})
		switch {
		case tolerated && v.Excerpt != "":
			o.warn("tolerated: " + v.Kind + ": " + v.Msg + ": " + v.Excerpt)
		case tolerated:
			o.warn("tolerated: " + v.Kind + ": " + v.Msg)
		case v.Kind == protocol.ServerCrashed:
			o.problems = append(o.problems, v.Kind+": "+v.Msg+o.namePrevious())
		default:
			o.problems = append(o.problems, "protocol violation: "+v.Kind+": "+v.Msg+pool.Acceptance(v.Kind))
		}
	}
}

// namePrevious says which test may have provoked what the server does during this one.
func (o *outcome) namePrevious() string {
	if o.previous == "" {
		return ""
	}
	return "; before it, " + o.previous + " used the session and may have provoked this"
}

// addExchange adds the exchange of a call, with the redirects before it and the messages after
// it that were waited for.
func (o *outcome) addExchange(start time.Time, step string, x *mcp.Exchange, waited []mcp.Message) {
	for _, hop := range x.Hops {
		o.c.Exchanges = append(o.c.Exchanges, record.Exchange(start, hop, step))
	}
	o.c.Exchanges = append(o.c.Exchanges, record.Exchange(start, x, step, waited...))
}

// addVerdict adds the verdict of the assertions of the case.
func (o *outcome) addVerdict(v expect.Verdict, threshold *float64) {
	c := o.c
	c.Assertions = append(c.Assertions, record.Assertions(v.Items, v.Scored || len(v.Metrics) > 0, c.File)...)
	if v.Scored {
		c.Score, c.Threshold = v.Score, threshold
	}
	for _, m := range v.Metrics {
		c.DerivedMetrics = append(c.DerivedMetrics, result.Metric{
			Name: m.Name, Value: m.Value, Threshold: m.Threshold, Passed: m.Passed, Notes: m.Notes,
		})
	}
	o.warn(v.Notes...)
	o.warnUnseen("", v.Items)
}

// warnUnseen warns about assertions that passed without examining all of their
// values.
func (o *outcome) warnUnseen(prefix string, items []expect.ItemResult) {
	for i := range items {
		for _, text := range items[i].Unseen {
			o.warn(prefix + items[i].Target + ": " + text)
		}
		o.warnUnseen(prefix, items[i].Items)
	}
}

// isUndecided reports whether any failure is more severe than what is known.
func (o *outcome) isUndecided() bool { return o.c.Status == "" || o.c.Status == result.Inconclusive }

// decide sets the status if it is not set yet: a failure if there are violations,
// otherwise a pass.
func (o *outcome) decide() {
	if o.isUndecided() && len(o.problems) > 0 {
		msg := o.problems[0]
		if n := len(o.problems) - 1; n > 0 {
			msg += fmt.Sprintf(" (and %d more)", n)
		}
		o.c.Status, o.c.Message = result.Fail, CutFirstLine(msg)
	}
	o.c.Status = cmp.Or(o.c.Status, result.Pass)
}

// CutFirstLine returns the first line of a text.
func CutFirstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return strings.TrimSpace(s[:i])
	}
	return s
}
