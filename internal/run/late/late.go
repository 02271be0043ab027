package late

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/client/mcp"
	"mcptest/internal/process/tail"
	"mcptest/internal/report/result"
)

// mostPatience is how long a failed test waits for what came too late for its assertions, and
// lookEach how often it looks.
const (
	mostPatience = 500 * time.Millisecond
	lookEach     = 5 * time.Millisecond
	// mostLines is more than a server's standard error is kept of.
	mostLines = 1 << 24
)

// Call is what is needed to find out whether an assertion on a call failed only because the
// server sent its text after the call.
type Call struct {
	Session *mcp.Session
	Since   mcp.Mark // before the call
	Ended   time.Time
	Waits   bool // it waits for a notification
	Stderr  tail.Mark
	Seen    []mcp.Message // what the assertions examine
	// Observe adds messages to an observation.
	Observe func(o *target.Observation, list []mcp.Message)

	obs    target.Observation
	items  []expect.Item // that failed
	method string        // of the notification that came last
}

// ExplainMissed keeps the failed assertions that examine what a server sends besides its response.
func (l *Call) ExplainMissed(o *target.Observation, items []expect.Item, results []expect.ItemResult) {
	if l == nil {
		return
	}
	l.obs = *o
	for i := range items {
		switch {
		case results[i].Pass:
		case items[i].Set != nil:
			l.ExplainMissed(o, items[i].Set.Items, results[i].Items)
		case slices.Contains(sentRoots(), items[i].Assertion.Target.Root()):
			l.items = append(l.items, items[i])
		}
	}
}

// sentRoots are the roots of targets that examine what a server sends besides its response.
func sentRoots() []string { return []string{"stderr", "notifications", "logs", "progress", "requests"} }

// Note says in the record of a failed test if what its assertions miss came after the call.
// It waits a moment for that, or only looks once.
func (l *Call) Note(ctx context.Context, c *result.Case, once bool) {
	if l == nil || len(l.items) == 0 || c.Status != result.Fail {
		return
	}
	limit := time.NewTimer(mostPatience)
	defer limit.Stop()
	look := time.NewTicker(lookEach)
	defer look.Stop()
	for {
		l.items = slices.DeleteFunc(l.items, func(item expect.Item) bool {
			at, came := l.findArrival(&item)
			if came {
				l.say(c, &item, at)
			}
			return came
		})
		if len(l.items) == 0 || once {
			return
		}
		select {
		case <-look.C:
		case <-limit.C:
			return
		case <-l.Session.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// findArrival reports whether an assertion holds with what came after the call, and since when.
func (l *Call) findArrival(item *expect.Item) (at time.Time, ok bool) {
	alone := &expect.Tree{Items: []expect.Item{*item}}
	holds := func(o target.Observation) bool {
		return alone.Evaluate(context.Background(), &o, nil).Items[0].Pass
	}
	// The observation is built anew, because it caches what it was asked for.
	fresh := func() target.Observation {
		return target.Observation{Result: l.obs.Result, Error: l.obs.Error, Steps: l.obs.Steps, Server: l.obs.Server}
	}
	if item.Assertion.Target.Root() == "stderr" {
		return l.findWrite(fresh, holds)
	}
	o := fresh()
	l.Observe(&o, l.Seen)
	for _, m := range l.Session.Messages(l.Since) {
		if !m.At.After(l.Ended) || l.isExamined(m) {
			continue
		}
		l.Observe(&o, []mcp.Message{m})
		again := fresh()
		again.Notifications, again.Logs = o.Notifications, o.Logs
		again.Progress, again.Requests = o.Progress, o.Requests
		if holds(again) {
			if m.Kind == mcp.KindNotification {
				l.method = m.Method
			}
			return m.At, true
		}
	}
	return at, false
}

// isExamined reports whether a message was among those that the assertions examined.
func (l *Call) isExamined(m mcp.Message) bool {
	return slices.ContainsFunc(l.Seen, func(s mcp.Message) bool {
		return s.At.Equal(m.At) && string(s.Raw) == string(m.Raw)
	})
}

// findWrite is came for standard error.
func (l *Call) findWrite(fresh func() target.Observation, holds func(target.Observation) bool) (at time.Time, ok bool) {
	t := l.Session.Stderr()
	if t == nil {
		return at, false
	}
	text := t.Since(l.Stderr)
	_, times := t.EndsSince(l.Stderr, mostLines)
	before, n := l.obs.Stderr, 0
	for line := range strings.Lines(text) {
		before += line
		o := fresh()
		if o.Stderr = before; holds(o) {
			return getTime(times, n), true
		}
		n++
	}
	return at, false
}

// getTime returns the time of a line, or zero if it is not known.
func getTime(times []time.Time, line int) time.Time {
	if len(times) == 0 {
		return time.Time{}
	}
	return times[min(line, len(times)-1)]
}

// say adds to the message of a failed assertion that it holds with what came later.
func (l *Call) say(c *result.Case, item *expect.Item, at time.Time) {
	more := "; what is missing came " + formatSince(at, l.Ended) + "the call: "
	if method := l.method; method != "" && !l.Waits {
		more += "wait for it (wait: {notification: " + method + "}) or "
	}
	more += "examine it in a further step"
	said := findMessage(c.Assertions, item)
	if said == "" {
		return
	}
	extend := func(message *string) {
		if !strings.Contains(*message, said+more) {
			*message = strings.Replace(*message, said, said+more, 1)
		}
	}
	extend(&c.Message)
	extendAll(c.Assertions, extend)
}

// findMessage returns the message of the record of a failed item.
func findMessage(list []result.Assertion, item *expect.Item) string {
	for i := range list {
		r := &list[i]
		if r.Set {
			if message := findMessage(r.Assertions, item); message != "" {
				return message
			}
			continue
		}
		here := r.Line == item.Pos.Line && r.Column == item.Pos.Col
		if here && !r.Pass && r.Target == item.Assertion.Target.String() {
			return r.Message
		}
	}
	return ""
}

// extendAll extends the messages of records, also of those in sets.
func extendAll(list []result.Assertion, extend func(*string)) {
	for i := range list {
		extend(&list[i].Message)
		extendAll(list[i].Assertions, extend)
	}
}

// formatSince says how long after another a time was, as far as it is known.
func formatSince(at, end time.Time) string {
	took := at.Sub(end)
	switch {
	case at.IsZero():
		return "after "
	case took < time.Millisecond:
		return "less than 1 ms after "
	default:
		return fmt.Sprintf("%d ms after ", took.Milliseconds())
	}
}
