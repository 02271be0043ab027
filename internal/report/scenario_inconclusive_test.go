package report_test

import (
	"strings"
	"testing"

	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// inconclusiveScenario is a run whose only trouble is a test that decides nothing.
func inconclusiveScenario() []result.Event {
	s := newScenario(3, result.Suite{Name: "notes", File: "notes.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("notes", "node build/notes.js")})
	s.test(result.Case{Name: "adds a note", Status: result.Pass, DurationMS: 2.5, Server: "notes", Call: "tools/call add", Implicit: true})
	s.test(result.Case{
		Name: "answers quickly", Status: result.Inconclusive, DurationMS: 40, Server: "notes", Call: "tools/call count",
		Message: "p95: 12 calls were measured, and 20 are needed", Exchanges: call("count", `{}`, `{"content":[]}`),
	})
	s.test(result.Case{Name: "deletes a note", Status: result.Skip, Message: "needs a newer server", Server: "notes"})
	return s.finish(result.ExitGate, "")
}

// An inconclusive test is green in no format, and each says what it is.
func TestInconclusiveIsNeverGreen(t *testing.T) {
	want := map[string]string{
		"pretty":  "? answers quickly",
		"minimal": "INCONCLUSIVE notes.mcptest.yaml:26: answers quickly: p95: 12 calls",
		"matrix":  "answers quickly  ?",
		"agent":   "INCONCLUSIVE answers quickly",
		"json":    `"inconclusive": 1`,
		"ndjson":  `"status":"inconclusive"`,
		"junit":   `<error message="p95: 12 calls were measured, and 20 are needed" type="inconclusive">`,
		"tap":     "not ok 2 - answers quickly # inconclusive",
		"md":      "| ❔ | `answers quickly`",
		"github":  "::error file=notes.mcptest.yaml,line=26,col=5,title=answers quickly::p95",
		"gitlab":  "mcptest/test-inconclusive",
		"sarif":   `"test-inconclusive"`,
		"otlp":    `{"key":"test.case.result.status","value":{"stringValue":"inconclusive"}}`,
		"html":    `data-s="inconclusive"`,
	}
	counts := map[string]string{
		"pretty": "INCONCLUSIVE  1 passed, 1 inconclusive, 1 skipped of 3 tests", "agent": "VERDICT fail 1/3 passed (1 inconclusive, 1 skipped)",
		"junit": `tests="3" failures="0" errors="1" skipped="1"`, "md": "| 3 | 1 | 0 | 0 | 1 | 1 |", "otlp": `"mcptest.inconclusive"`,
	}
	r := open(t, "inconclusive")
	for _, f := range report.Formats {
		out := string(rendered(t, f.Name, r, render.Options{}))
		for _, text := range []string{want[f.Name], counts[f.Name]} {
			if !strings.Contains(out, text) || want[f.Name] == "" {
				t.Errorf("%s does not contain %q:\n%s", f.Name, text, out)
			}
		}
	}
	otlp := string(rendered(t, "otlp", r, render.Options{}))
	if n := strings.Count(otlp, `"code":2`); n != 2 { // the run and the test
		t.Errorf("%d spans of OTLP have an error, want 2", n)
	}
}
