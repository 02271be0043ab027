package server

import (
	"slices"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/packet"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// maxCases bounds the tests that are looked at: a suite may have very many, of which a form
// takes a few.
const maxCases = 2000

// buildCases returns the tests that can be cases of a form.
func buildCases(p *plan.Plan, server string) (cases []packet.Case) {
	for i := range min(p.Len(), maxCases) {
		if server != "" && !isTestOf(p.ServerOf(i), server) {
			continue
		}
		test := p.Case(i)
		if test.Skip != "" || test.ExpectFailure != "" || test.Flow {
			continue
		}
		if c, ok := buildCase(test); ok {
			cases = append(cases, c)
		}
	}
	return cases
}

// isTestOf reports whether a test runs on a server or on a variant of it.
func isTestOf(sv *plan.Server, name string) bool {
	if sv == nil {
		return false
	}
	own, _, _ := strings.Cut(sv.Name, "@")
	name, _, _ = strings.Cut(name, "@")
	return own == name
}

// buildCase converts a test that calls a tool, or lets a model do it.
func buildCase(test *plan.Case) (packet.Case, bool) {
	c := packet.Case{Name: test.Name}
	op := test.Ops[0]
	if talk, ok := op.Action.(*agent.Conversation); ok {
		return buildConversation(c, test, talk), true
	}
	if test.Block != suite.Tools || op.Method != "tools/call" || test.InvalidArgs {
		return c, false
	}
	params, err := jsonv.Parse(op.Params)
	if err != nil {
		return c, false
	}
	c.Tools = []string{op.Subject}
	c.Call = op.Subject + " " + params.Lookup("arguments").Short(maxShownCall)
	for _, a := range listAssertions(test.Tree) {
		if expectsRefusal(a) {
			c.Negative = true
		}
		if isAboutResult(a) {
			c.Expected = append(c.Expected, describeAssertion(a))
		}
	}
	return c, true
}

// maxShownCall bounds the arguments of a call.
const maxShownCall = 1000

// buildConversation converts a test with a model. It is negative if a tool must not be called,
// and none is expected.
func buildConversation(c packet.Case, test *plan.Case, talk *agent.Conversation) packet.Case {
	c.Prompt = talk.Prompt
	isQuiet := false // it passes if no tool is called
	var calls []string
	for _, a := range listAssertions(test.Tree) {
		switch {
		case a.Target.Root() == "calls":
			if path := a.Matcher.Route(); path != nil {
				calls = append(calls, path.String())
			} else {
				calls = append(calls, describeAssertion(a))
			}
			isQuiet = isQuiet || a.Passes(jsonv.Array())
		case isAboutResult(a):
			c.Expected = append(c.Expected, describeAssertion(a))
		}
	}
	for _, mention := range test.Tree.Mentions() {
		if !mention.Absent && !slices.Contains(c.Tools, mention.Name) {
			c.Tools = append(c.Tools, mention.Name)
		}
	}
	c.Negative = isQuiet && len(c.Tools) == 0
	c.Call = strings.Join(calls, "; ")
	if c.Call == "" {
		c.Call = strings.Join(listScripted(talk), "; ")
	}
	if c.Negative {
		c.Expected = append(calls, c.Expected...)
		c.Call = ""
	}
	return c
}

// listScripted are the calls that the script of a test makes in place of a model.
func listScripted(talk *agent.Conversation) (calls []string) {
	for _, answer := range talk.Script {
		for _, call := range answer.Made() {
			calls = append(calls, call.Tool+" "+call.Args.Short(maxShownCall))
		}
	}
	return calls
}

// listAssertions are those of a test, those in sets included.
func listAssertions(tree *expect.Tree) (all []*expect.Assertion) {
	for _, item := range tree.Items {
		if item.Assertion != nil {
			all = append(all, item.Assertion)
			continue
		}
		for _, inner := range item.Set.Items {
			all = append(all, inner.Assertion)
		}
	}
	return all
}

// isAboutResult reports whether an assertion is about what a reviewer sees, and not about how
// long a call took, what it cost, or what a double of an API received.
func isAboutResult(a *expect.Assertion) bool {
	return slices.Contains([]string{"result", "text", "structured", "error", "refusal", "final"}, a.Target.Root())
}

// describeAssertion returns an assertion as reports show it.
func describeAssertion(a *expect.Assertion) string {
	return a.Target.String() + " " + a.Matcher.String()
}

// expectsRefusal reports whether an assertion passes only for a call that is refused or fails.
func expectsRefusal(a *expect.Assertion) bool {
	if a.Target.ExaminesError() {
		return !a.Matcher.WantsNothing() && !a.Passes(jsonv.Null())
	}
	isError := a.Target.String() == "result.isError" || a.Target.String() == "isError"
	return isError && a.Passes(jsonv.Bool(true)) && !a.Passes(jsonv.Bool(false))
}
