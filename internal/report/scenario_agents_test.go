package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// said is a conversation of two answers, which begins with a call of a tool.
func said(model, tool string, refused bool) *result.Conversation {
	return &result.Conversation{
		Model: model, ModelName: model + "-2026", System: "You maintain repositories.", Tools: []string{"search_issues", "get_issue", "create_issue"}, Stop: "end", Turns: 2,
		InputTokens: 800, OutputTokens: 50, DurationMS: 900, CostUSD: float(0.0003),
		Messages: []result.ModelMessage{
			{Role: "user", Text: "Show me the newest open issue of acme/web."},
			{Role: "assistant", Text: "Let me look.", InputTokens: 300, OutputTokens: 25, Calls: []result.ModelCall{
				{Name: tool, Server: "issues", Arguments: `{"state":"open","words":["a very long list of words that does not fit into one line of a telephone"]}`, Text: `{"number":42}`, Executed: true, Refused: refused},
				{Name: "create_issue", Server: "issues", Arguments: `{"title":"x"}`, Text: "created #43", Mocked: true},
				{Name: "delete_issue", Arguments: `not JSON`, Refused: true},
			}},
			{Role: "assistant", Text: "It is #42.", InputTokens: 500, OutputTokens: 25},
		},
	}
}

// agentsScenario is a run of the same tests with two models.
func agentsScenario() []result.Event {
	s := newScenario(6, result.Suite{Name: "issues", File: "agents.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("issues", "node build/issues.js")})
	tried := func(statuses string) (list []result.Attempt) {
		for _, r := range statuses {
			a := result.Attempt{Status: result.Pass, DurationMS: 0}
			if r == 'f' {
				a.Status, a.Message = result.Fail, "calls: the model did not call search_issues; it called get_issue"
			}
			list = append(list, a)
		}
		return list
	}
	agents := func(c result.Case) {
		c.Block, c.Server, c.DurationMS = "agents", "issues", 1800
		s.test(c)
	}
	agents(result.Case{
		Name: "finds the newest issue (strong)", Status: result.Pass, Call: "model strong", Assertions: []result.Assertion{passed("calls", "trajectory")}, Attempts: tried("ppppp"), Shown: 5,
		Trials: &result.Trials{Want: 0.9, Floor: 0.5, Confidence: 0.95, Max: 30, Passed: 5, Low: 0.48, High: 1, CostUSD: 0.0015}, Conversation: said("strong", "search_issues", false),
	})
	failed := tried("pfpff")
	failed[3].Conversation = said("weak", "get_issue", true)
	agents(result.Case{
		Name: "finds the newest issue (weak)", Status: result.Fail, Call: "model weak", Attempts: failed, Shown: 2, Conversation: said("weak", "get_issue", true),
		Message:    "2 of 5 trials passed, p between 0.05 and 0.85, wanted 0.9: calls: the model did not call search_issues; it called get_issue",
		Assertions: []result.Assertion{{Target: "calls", Matcher: "trajectory", Message: "calls: the model did not call search_issues; it called get_issue", Line: 20, Column: 9}},
		Trials:     &result.Trials{Want: 0.9, Floor: 0.5, Confidence: 0.95, Max: 30, Passed: 2, Failed: 3, Low: 0.05, High: 0.85},
	})
	agents(result.Case{
		Name: "names it (strong)", Status: result.Inconclusive, Call: "model strong", Attempts: tried("pf"), Shown: 2, Conversation: said("strong", "get_issue", false), Message: "1 of 2 trials passed, no verdict",
		Trials: &result.Trials{Want: 0.9, Floor: 0.5, Confidence: 0.95, Max: 2, Passed: 1, Failed: 1, Low: 0.01, High: 0.99},
	})
	agents(result.Case{
		Name: "names it (weak)", Status: result.Pass, Call: "model weak", Attempts: tried("pp"), Shown: 2, Conversation: said("weak", "get_issue", false), Implicit: true,
		Repeat: &result.Repeat{Times: 2, Passed: 2, Rate: 1, Low: 0.34, High: 1},
	})
	once := said("strong", "get_issue", false)
	once.CostUSD = nil
	agents(result.Case{Name: "asks once (strong)", Status: result.Pass, Call: "model strong", Conversation: once, Implicit: true})
	agents(result.Case{Name: "asks once (weak)", Status: result.Error, Call: "model weak", Message: "weak gave no answer", Conversation: &result.Conversation{Model: "weak", Messages: once.Messages[:1]}})
	return s.finish(1, "")
}

// The page of a run with models has the conversation that explains each verdict, what it
// cost, and what decided; that of a test that passed is folded.
func TestConversations(t *testing.T) {
	page := string(rendered(t, "html", open(t, "agents"), render.Options{}))
	test := func(n int) string {
		_, rest, ok := strings.Cut(page, fmt.Sprintf(`id="t%d"`, n))
		if !ok {
			t.Fatalf("the page has no test %d", n)
		}
		part, _, _ := strings.Cut(rest, `<details class="t"`)
		return part
	}
	for n, want := range [][]string{
		{"wanted 0.9, floor 0.5, 0.001500 USD", "decided with trial 5 of at most 30: 5 of 5 passed, p between 0.48 and 1.00", `<details class="x"><summary>conversation of trial 5 · strong (strong-2026) · 2 answers · 850 tokens (800 in, 50 out) · 0.000300 USD · ended: end`},
		{
			"decided with trial 5 of at most 30: 2 of 5 passed, p between 0.05 and 0.85", `<details class="x" open><summary>conversation of trial 2 · weak`, "conversation of trial 4 · weak",
			"You maintain repositories.", "newest open issue of acme/web.", "<code>get_issue</code><span class=\"tag w\">refused</span>", "<code>create_issue</code><span class=\"tag\">answered by a mock</span>",
			"&#34;state&#34;: &#34;open&#34;", "<code>delete_issue</code><span class=\"tag w\">not sent</span>", "not JSON", "300 tokens in, 25 out", "3 tools offered: search_issues, get_issue, create_issue", "trial 5 · 0.0 ms",
		},
		{"no verdict within 2 trials: 1 of 2 passed, p between 0.01 and 0.99"},
		{"2 runs: 2 of 2 passed, p between 0.34 and 1.00", "conversation of run 2 · weak"},
		{">1 trial<", "<summary>conversation · strong (strong-2026) · 2 answers · 850 tokens (800 in, 50 out) · ended"},
		{"<summary>conversation · weak · 0 answers · 0.0 ms"},
	} {
		for _, text := range want {
			if !strings.Contains(test(n), text) {
				t.Errorf("test %d lacks %q:\n%s", n, text, test(n))
			}
		}
	}
}

// Tests with several models are a table of models and tests, with n and intervals.
func TestModelsByTests(t *testing.T) {
	r := open(t, "agents")
	for format, want := range map[string][]string{
		"matrix": {
			"issues strong issues weak", "finds the newest issue ✓ 5/5 0.48–1.00 ✗ 2/5 0.05–0.85 ≠", "names it ? 1/2 0.01–0.99 ✓ 2/2 0.34–1.00 ≠",
			"asks once ✓ ! ≠", "passed 2/3 1/3", "· not run in this column", "≠ the columns differ in 3 tests",
		},
		"md": {
			"### Models\n\n| Test | `strong` | `weak` |", "| `finds the newest issue` | ✅ 5/5 0.48–1.00 | ❌ 2/5 0.05–0.85 |", "| `names it` | ❔ 1/2 0.01–0.99 | ✅ 2/2 0.34–1.00 |", "| `asks once` | ✅ 1 trial | 💥 |",
		},
	} {
		out := regexp.MustCompile(` +`).ReplaceAllString(string(rendered(t, format, r, render.Options{})), " ")
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%s lacks %q:\n%s", format, text, out)
			}
		}
	}
}
