package html

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Lanes of a moment: the side that acted.
const (
	toServer   = "→"
	fromServer = "←"
	ourStep    = "·"
	toUpstream = "↗"
	toStderr   = "!"
)

// moment is a line of a test's timeline: a frame, a hook or step, or the reason
// why there was no response.
type moment struct {
	ms      float64 // since the start of the run
	At      string  // since the start of the test
	Arrow   string
	Label   string
	Class   string // "", or the class of a problem
	Content string // shown when the line is expanded
	Open    bool   // it is expanded
}

// stage is a part of a test's timeline: the hooks before the calls, one call, or
// the hooks after them. The stages of a test become tabs, up to tabsMost.
type stage struct {
	Mark       result.Status // of a step; "" if the record lacks it
	Tab, Title string
	Truncated  bool
	Command    string // sends the request alone
	Moments    []moment
}

// tabsMost is the number of stages up to which they become tabs; more are shown one
// below the other.
const tabsMost = 12

// placeMarks sets the mark of each step. The message of the test names the failed one,
// which was the last one.
func (t testView) placeMarks(calls []stage) {
	if len(calls) == 0 {
		return
	}
	last := len(calls) - 1
	failed := t.Exchanges[last].Step
	switch {
	case failed != "" && explain.Failed(t.Status) && strings.Contains(": "+t.Message, ": "+failed+": "):
		calls[last].Mark = t.Status
	case t.Status == result.Pass && (t.Repeat == nil || t.Repeat.Passed == t.Repeat.Times):
		failed = ""
	default:
		return
	}
	for i := range calls {
		if step := t.Exchanges[i].Step; step != "" && step != failed {
			calls[i].Mark = result.Pass
		}
	}
}

// Stages returns the timeline of the test.
func (t testView) Stages() (out []stage) {
	var before, after stage
	before.Tab, before.Title = "before", "before the call"
	after.Tab, after.Title = "after", "after the call"
	first := t.StartMS
	if len(t.Exchanges) > 0 && t.Exchanges[0].StartMS > 0 {
		first = t.Exchanges[0].StartMS
	}
	for i := range t.Phases {
		ph := &t.Phases[i]
		to := &before
		if len(t.Exchanges) > 0 && ph.StartMS > first {
			to = &after
		}
		to.Moments = append(to.Moments, t.newPhaseMoment(ph))
	}
	if len(before.Moments) > 0 {
		out = append(out, before)
	}
	for i := range t.Exchanges {
		out = append(out, t.exchange(&t.Exchanges[i], i))
	}
	t.placeMarks(out[len(out)-len(t.Exchanges):])
	if len(after.Moments) > 0 {
		out = append(out, after)
	}
	return out
}

func (t testView) newPhaseMoment(ph *result.Phase) moment {
	m := moment{
		At:      t.formatSince(ph.StartMS),
		Arrow:   ourStep,
		Label:   term.Escape(ph.Phase+" "+ph.Name) + " " + render.Duration(ph.DurationMS),
		Content: ph.Output,
	}
	if explain.Failed(ph.Status) {
		m.Class = "msg-" + statusClass(ph.Status)
	}
	if ph.Message != "" {
		m.Label += ": " + render.OneLine(ph.Message, render.LongestLine)
	}
	return m
}

func (t testView) exchange(x *result.Exchange, i int) stage {
	s := stage{
		Tab:       cmp.Or(x.Step, fmt.Sprintf("call %d", i+1)),
		Title:     term.Escape(x.Method),
		Truncated: x.Truncated,
		Command:   t.Command(x),
	}
	failed := explain.Failed(t.Status) && i == len(t.Exchanges)-1
	if x.HTTP != nil {
		s.Title += fmt.Sprintf(" · HTTP %d", x.HTTP.Status)
	}
	s.Title += " · " + render.Duration(x.DurationMS)
	start := cmp.Or(x.StartMS, t.StartMS) // a record of an earlier version: count from the call
	for _, f := range listTimedFrames(x) {
		s.Moments = append(s.Moments, moment{
			ms:      start + f.ms,
			At:      t.formatSince(start + f.ms),
			Arrow:   f.arrow,
			Label:   labelFrame(f.raw),
			Content: indentFrame(f.raw),
			Open:    failed && (f.raw == x.Request || f.raw == x.Response),
		})
	}
	if x.Error != "" {
		s.Moments = append(s.Moments, moment{
			ms:    start + x.DurationMS,
			At:    t.formatSince(start + x.DurationMS),
			Arrow: "✗",
			Label: render.OneLine(x.Error, render.LongestLine),
			Class: "msg-error",
		})
	}
	t.addOthers(&s, i)
	return s
}

// timedFrame is a frame of an exchange, with the time since its beginning.
type timedFrame struct {
	ms    float64
	arrow string
	raw   string
}

// listTimedFrames returns the frames of an exchange in order: the record has the response
// apart from the messages during the call, some of which came after it.
func listTimedFrames(x *result.Exchange) (frames []timedFrame) {
	add := func(ms float64, arrow, raw string) {
		if raw != "" {
			frames = append(frames, timedFrame{ms, arrow, raw})
		}
	}
	add(0, toServer, x.Request)
	isAnswered := false
	for _, m := range x.During {
		if !isAnswered && m.MS > x.DurationMS {
			add(x.DurationMS, fromServer, x.Response)
			isAnswered = true
		}
		arrow := fromServer
		if m.Dir == "to-server" {
			arrow = toServer
		}
		add(m.MS, arrow, m.Raw)
	}
	if !isAnswered {
		add(x.DurationMS, fromServer, x.Response)
	}
	return frames
}

// addOthers adds the requests to upstreams and the lines of standard error from the
// beginning of a call to that of the next one.
func (t testView) addOthers(s *stage, i int) {
	span := t.findSpan(i)
	for j := range t.Upstream {
		if u := &t.Upstream[j]; span.contains(u.StartMS) {
			s.Moments = append(s.Moments, t.newUpstreamMoment(u))
		}
	}
	for _, m := range t.listStderr() {
		if span.contains(m.ms) {
			s.Moments = append(s.Moments, m)
		}
	}
	slices.SortStableFunc(s.Moments, func(a, b moment) int { return cmp.Compare(a.ms, b.ms) })
}

// span is a part of the run, in milliseconds since its start.
type span struct{ from, to float64 }

func (s span) contains(ms float64) bool { return ms >= s.from && ms < s.to }

// findSpan returns the time from the beginning of a call to that of the next one. The first
// call has all that came before it, the last one all that comes after it.
func (t testView) findSpan(i int) span {
	s := span{from: 0, to: math.Inf(1)}
	if i > 0 {
		s.from = t.Exchanges[i].StartMS
	}
	if i+1 < len(t.Exchanges) {
		s.to = t.Exchanges[i+1].StartMS
	}
	return s
}

func (t testView) newUpstreamMoment(u *result.UpstreamRequest) moment {
	m := moment{
		ms:      u.StartMS,
		At:      t.formatSince(u.StartMS),
		Arrow:   toUpstream,
		Label:   explain.FormatUpstream(u),
		Content: indentFrame(u.Body),
	}
	if u.Unmatched || u.Late {
		m.Class = "msg-fail"
	}
	return m
}

// listStderr returns a moment for each piece of standard error: the lines that were written
// together. A record without the times of all lines has none.
func (t testView) listStderr() (out []moment) {
	lines := strings.Split(t.Stderr, "\n")
	if len(t.StderrMS) != len(lines) {
		return nil
	}
	first := 0
	for next := 1; next <= len(lines); next++ {
		if next < len(lines) && t.StderrMS[next] == t.StderrMS[first] {
			continue
		}
		out = append(out, t.newStderrMoment(t.StderrMS[first], strings.Join(lines[first:next], "\n")))
		first = next
	}
	return out
}

func (t testView) newStderrMoment(ms float64, text string) moment {
	label, _, hasMore := strings.Cut(strings.TrimSpace(text), "\n")
	m := moment{
		ms:    ms,
		At:    t.formatSince(ms),
		Arrow: toStderr,
		Label: "stderr: " + render.OneLine(label, labelMost),
	}
	if hasMore {
		m.Content = text
	}
	return m
}

// formatSince returns the time since the start of the test, or "" if the record lacks it.
func (t testView) formatSince(ms float64) string {
	if ms < t.StartMS {
		return ""
	}
	const shown = 0.05 // of a millisecond; less would be "0.0 ms"
	if ms-t.StartMS < shown {
		return "+0"
	}
	return "+" + render.Duration(ms-t.StartMS)
}

// labelMost limits the label of a frame that is not JSON-RPC.
const labelMost = 80

// labelFrame returns the method of a frame, or the kind of response, and its size.
func labelFrame(raw string) string {
	var f struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Result *struct {
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	label := ""
	err := json.Unmarshal([]byte(raw), &f)
	switch {
	case err != nil:
		return render.OneLine(raw, labelMost)
	case f.Method != "":
		label = f.Method
		if len(f.ID) == 0 {
			label += " (notification)"
		}
	case f.Error != nil:
		label = fmt.Sprintf("error %d: %s", f.Error.Code, f.Error.Message)
	case f.Result != nil && f.Result.IsError:
		label = "result, isError"
	case f.Result != nil:
		label = "result"
	default:
		return render.OneLine(raw, labelMost)
	}
	return render.OneLine(label, labelMost) + fmt.Sprintf(" · %d B", len(raw))
}

// indentMost limits the size of frames that are indented.
const indentMost = 64 << 10

// indentFrame returns a frame with indented JSON.
func indentFrame(raw string) string {
	var b bytes.Buffer
	if len(raw) <= indentMost && json.Indent(&b, []byte(raw), "", "  ") == nil {
		return b.String()
	}
	return raw
}
