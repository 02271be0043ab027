package target

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/source"
)

// Target is a compiled path to the value that an assertion examines: a root of
// [Roots] followed by names, ["quoted"] names, [0], [-1], [*] and [a:b], as defined
// by RFC 9535.
type Target struct {
	src    string // as written
	root   *Root
	steps  []jsonpath.Step
	plural bool // has [*] or [a:b]: selects several values
	// fallback is set if members that the result lacks are looked up in
	// structuredContent and in text that is JSON.
	fallback bool
}

// String returns the target as written.
func (t *Target) String() string { return t.src }

// Root returns the name of the target's root: result, http.status, ….
func (t *Target) Root() string { return t.root.Name }

// IsText reports whether every value of the target is a text.
func (t *Target) IsText() bool {
	n := len(t.steps)
	return t.root.Leaf == "a string" || n > 0 && !t.plural && t.steps[n-1].Name == "text" &&
		(t.root.part == partRefusal || t.root.part == partResult && t.steps[0].Name == keyContent)
}

// Error is a mistake in a target's text.
type Error = jsonpath.Error

// Parse compiles the text of a target.
func Parse(text string) (*Target, *Error) {
	steps, offsets, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, &Error{Msg: "the path is empty", Hint: rootsHint()}
	}
	if len(steps) == 0 {
		return nil, &Error{Msg: "$ alone is not a target", Hint: rootsHint()}
	}
	t := &Target{src: text}
	used, err := t.resolveRoot(steps, offsets)
	if err != nil {
		return nil, err
	}
	t.steps = steps[used:]
	if t.root.Leaf != "" && len(t.steps) > 0 {
		return nil, &Error{Offset: offsets[used], Msg: t.root.Name + " is " + t.root.Leaf + t.root.instead()}
	}
	if err := t.checkSurface(offsets[used:]); err != nil {
		return nil, err
	}
	for _, s := range t.steps {
		t.plural = t.plural || s.Kind >= jsonpath.All
	}
	t.fallback = t.root.part == partResult && t.beginsWithName() && !protocolKey(t.steps[0].Name)
	return t, nil
}

// CheckUpstream reports a target at an upstream that is not one of those known.
func (t *Target) CheckUpstream(known []string) *Error {
	if t.root.part != partUpstream || len(t.steps) == 0 || t.steps[0].Kind != jsonpath.Name {
		return nil
	}
	name := t.steps[0].Name
	at := strings.Index(t.src, t.root.Name) + len(t.root.Name)
	at += max(strings.Index(t.src[at:], name), 0)
	switch {
	case len(known) == 0:
		return &Error{Offset: at, Msg: "the suite has no upstreams", Hint: "declare it under upstreams:"}
	case !slices.Contains(known, name):
		return &Error{Offset: at, Msg: fmt.Sprintf("no upstream is called %q", name), Hint: source.Known(name, known)}
	case len(t.steps) > 1 && t.steps[1].Kind == jsonpath.Name && t.steps[1].Name != "requests":
		return &Error{
			Offset: at + len(name) + 1,
			Msg:    fmt.Sprintf("an upstream has no %q", t.steps[1].Name),
			Hint:   source.Suggest(t.root.Name + t.steps[0].String() + ".requests"),
		}
	}
	return nil
}

// CheckList reports a target that the tests of a list do not have: its value, which is
// always absent, would pass some matchers.
func (t *Target) CheckList(list string) *Error {
	if !slices.ContainsFunc(roots, func(r Root) bool { return r.in(list) }) {
		list = "call"
	}
	if t.root.in(list) {
		return nil
	}
	e := &Error{Offset: max(strings.Index(t.src, t.root.Name), 0)}
	if list == "call" {
		e.Msg = fmt.Sprintf("%s is a target of tests under %s:", t.root.Name, t.root.Lists)
		e.Hint = "this test makes a call"
		return e
	}
	var has []string
	for _, r := range roots {
		if r.in(list) {
			has = append(has, r.Name)
		}
	}
	e.Msg = fmt.Sprintf("tests under %[2]s: do not have the target %[1]s", t.root.Name, list)
	e.Hint = "their targets are " + display.Alternatives(has, "and")
	return e
}

func (r *Root) in(list string) bool { return slices.Contains(strings.Fields(r.Lists), list) }

// resolveRoot sets the root from the first steps and returns their number.
func (t *Target) resolveRoot(steps []jsonpath.Step, offsets []int) (int, *Error) {
	first := steps[0]
	if first.Kind != jsonpath.Name {
		return 0, &Error{Offset: offsets[0], Msg: "a target starts with a name, not with " + first.String(), Hint: rootsHint()}
	}
	if first.Name == "http" {
		return t.resolveHTTP(steps, offsets)
	}
	for i := range roots {
		if roots[i].Name == first.Name {
			t.root = &roots[i]
			return 1, nil
		}
	}
	e := &Error{Offset: offsets[0], Msg: "unknown root " + shown.Quote(first.Name), Hint: rootsHint()}
	near := otherRoots[strings.ToLower(first.Name)]
	switch {
	case protocolKey(first.Name):
		near = "result" + first.String()
	case near == "":
		near = source.FindNearest(first.Name, rootNames())
	}
	if near != "" {
		e.Msg += source.Parenthesis(source.Suggest(near))
		e.Hint = ""
	}
	return 0, e
}

// otherRoots maps the names of roots in other test tools.
var otherRoots = map[string]string{
	"duration": "duration_ms", "latency": "duration_ms", "latency_ms": "duration_ms", "time": "duration_ms", "elapsed": "duration_ms",
	"status": "http.status", "status_code": "http.status", "headers": "http.headers",
	"output": "text", "body": "text", "stdout": "text", "response": "result", "res": "result", "errors": "error", "notification": "notifications",
	"trajectory": "calls", "tool_calls": "calls", "answer": "final", "cost": "cost_usd", "usage": "tokens",
}

func (t *Target) resolveHTTP(steps []jsonpath.Step, offsets []int) (int, *Error) {
	if len(steps) < 2 || steps[1].Kind != jsonpath.Name {
		return 0, &Error{Offset: offsets[0], Msg: "http alone is not a target", Hint: "write http.status or http.headers"}
	}
	for i := range roots {
		if roots[i].Name == "http."+steps[1].Name {
			t.root = &roots[i]
			return 2, nil
		}
	}
	e := &Error{Offset: offsets[1], Msg: "http has no " + shown.Quote(steps[1].Name), Hint: "write http.status or http.headers"}
	e.Msg += source.Parenthesis(source.DidYouMean(steps[1].Name, []string{"status", "headers", "body", "events"}))
	return 0, e
}

// instead returns the end of the message about a path below a leaf.
func (r *Root) instead() string {
	if r.part == partText {
		return "; index structured or result instead"
	}
	return ": no path can follow it"
}

// WholeResult reports whether the target is the result, without a path in it.
func (t *Target) WholeResult() bool { return t.root.part == partResult && len(t.steps) == 0 }

// ExaminesError reports whether the target is the error of a call, or a part of it.
func (t *Target) ExaminesError() bool {
	return t.root.part == partError || t.root.part == partRefusal
}

// ExaminesFlag reports whether the target is result.isError, or the refusal that it
// stands for.
func (t *Target) ExaminesFlag() bool { return t.root.part == partRefusal || t.IsErrorFlag() }

// inResult reports whether the target is a part of the result, not all of it.
func (t *Target) inResult() bool {
	return t.root.part == partResult && len(t.steps) > 0 || t.root.part == partText || t.root.part == partStructured
}

// needsResponse reports whether the target is a part of a JSON-RPC response.
func (t *Target) needsResponse() bool {
	return t.root.part == partResult || t.inResult() || t.ExaminesError()
}

// IsErrorFlag reports whether the target is result.isError.
func (t *Target) IsErrorFlag() bool {
	return t.root.part == partResult && t.beginsWithName() && t.steps[0].Name == KeyIsError
}

// beginsWithName reports whether the path begins with the name of a member.
func (t *Target) beginsWithName() bool {
	return len(t.steps) > 0 && t.steps[0].Kind == jsonpath.Name
}
