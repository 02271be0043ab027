package report_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// TestHTMLShowsEveryField executes each branch of the page's templates: a field
// that a template misspells is an error only when it is executed.
func TestHTMLShowsEveryField(t *testing.T) {
	half, no := 0.5, false
	phase := result.Phase{Phase: "setup", Name: "start it", Status: result.Error, Kind: "command", Message: "exit status 1", Output: "phase output", Warnings: []string{"phase warning"}, File: "s.yaml", Line: 2, Source: "- run: x"}
	c := &result.Case{
		Index: 0, Name: "everything", Status: result.Fail, DurationMS: 1005, File: "s.yaml", Line: 3, Server: "web", Call: "tools/call echo", Tags: []string{"slow"},
		Description: "describes", Message: "first\nsecond; if that is expected: - {target: refusal}", Score: &half, Threshold: &half,
		DerivedMetrics: []result.Metric{{Name: "recall", Value: 0.25, Threshold: &half, Passed: &no, Notes: []string{"metric note"}}},
		Flaky:          true, Attempts: []result.Attempt{{Status: result.Fail, Message: "at first"}, {Status: result.Pass}},
		Repeat: &result.Repeat{Times: 3, Passed: 2, Rate: 0.6}, AfterRestart: true, Warnings: []string{"a warning"}, Stderr: "case stderr",
		Violations: []result.Violation{{Kind: "stray-output", Message: "printed", Excerpt: "hello"}, {Kind: "bad-id", Message: "odd", Tolerated: true}},
		Phases:     []result.Phase{phase},
		Assertions: []result.Assertion{
			passed("isError", "exact"),
			{Target: "text", Matcher: "exact", Message: "other", Expected: "want", Actual: "got", Notes: []string{"a note"}, Line: 4, Column: 5, Source: "  - target: text"},
			{Set: true, Name: "both", Weight: &half, Assertions: []result.Assertion{{Target: "inner", Matcher: "exact", Diff: []string{"- a", "+ b", "  c"}}}},
		},
		Exchanges: []result.Exchange{{
			Step: "login", Method: "tools/call", Request: `{"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}`, Response: `{"b":2}`, Error: "reset", Truncated: true, HTTP: &result.HTTPExchange{Status: 503},
			During: []result.Message{{Dir: "to-server", MS: 1, Raw: "{}"}, {Dir: "from-server", MS: 2, Raw: "{}"}},
		}},
		Repro: "mcptest run s.yaml",
	}
	implicit := &result.Case{Index: 1, Name: "quiet", Status: result.Pass, DurationMS: 3, StartMS: 5, Implicit: true, File: "s.yaml", Attempts: []result.Attempt{{Status: result.Fail}, {Status: result.Fail}, {Status: result.Pass}}}
	r := &result.Run{
		Command: "mcptest run", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), DurationMS: 9, Parallel: 4, ExitCode: 1, Notes: []string{"a run note"},
		Suites: []result.Suite{{Name: "s", File: "s.yaml"}}, Phases: []result.Phase{phase}, Cases: result.NewStored(c, implicit),
		Summary:  result.Summary{Total: 2, Passed: 1, Failed: 1, Errored: 1, Skipped: 1, Flaky: 1, Warnings: 1},
		Findings: []result.Finding{{Kind: "leak", Severity: "error", Server: "web", Message: "left behind", Excerpt: "pid 7", File: "s.yaml", Line: 1}, {Kind: "slow", Severity: "warning", Message: "slow"}},
		Servers:  []result.Server{{Name: "web", Transport: "http", Target: "http://127.0.0.1", Protocol: "2025-06-18", ServerInfo: &result.Info{Name: "demo", Version: "2"}, StartMS: 7, Insecure: true, Starts: 3, Exit: "exit status 9", Tolerated: []string{"bad-id", "stray-output"}, Stderr: "server stderr text"}},
	}
	check := func(wanted ...string) {
		t.Helper()
		page := strings.ReplaceAll(html.UnescapeString(string(rendered(t, "html", r, render.Options{}))), "</span> <span>", " ") // of the words of a command
		for _, w := range wanted {
			if !strings.Contains(page, w) {
				t.Errorf("the page does not show %q", w)
			}
		}
	}
	check("4 calls in flight", "a run note", "1</b> <span>finding", "1</b> <span>hook or step failed", "1</b> <span>warning<", "left behind", "pid 7",
		"describes", "first\nsecond", "score 0.5", "recall 0.25", "metric note", "flaky: passed on attempt 2 of 2", "2 of 3 runs passed, 60% needed", "after a restart",
		"1 warning<", "1 violation tolerated", "tolerated violation", "hello", "at first", "a warning", "phase output", "phase warning", "case stderr",
		"a note", "- target: text", `<span class="caret">^`, `<span class="add">+ b`, `<span class="del">- a`, "weight 0.5", `data-tab="login"`, "tools/call · HTTP 503",
		"+1.0 ms</span><span class=\"dir\">→", "+2.0 ms</span><span class=\"dir\">←", "Frames were shortened", "reset", "mcptest run s.yaml", "3 tries", "nothing asserted",
		`<span class="m msg-fail">first\nsecond</span>`, "if that is expected:</p><div class=\"cmd\"><code><span>- {target: refusal}", `<span class="tag w">slow</span>`, `<code class="m">echo {"a":1}</code>`,
		`mcptest call echo --args-json '{"a":1}' --server web --config s.yaml`, "demo 2", "TLS certificate not verified", "3 starts", "exit status 9", "tolerated: bad-id, stray-output", "server stderr text")
	r.Summary.Total = 1000 // frames are written in short
	check(`class="many"`, `→ {"method":"tools/call"`, `mcptest call echo --args-json`)
}
