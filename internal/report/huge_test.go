package report_test

import (
	"strings"
	"testing"
	"time"

	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// TestHugeTexts: 10 MB of hostile text in every place a server can fill do
// not make a report unreadable, slow or much longer than the record's limits.
func TestHugeTexts(t *testing.T) {
	huge := strings.Repeat("\x1b[31m]]><script>::error::|`\u202e", 10<<20/32)
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	rec.Send(result.RunStarted{Total: 1, Suites: []result.Suite{{Name: "s", File: "s.yaml"}}})
	rec.Send(result.CaseFinished{Case: &result.Case{
		Name: "huge", Status: result.Fail, File: "s.yaml", Line: 1, Suite: "s", Message: huge, Stderr: huge, Warnings: []string{huge},
		Assertions: []result.Assertion{{Target: "text", Matcher: "exact", Message: huge, Expected: "x", Actual: huge, Diff: []string{"- x", "+ " + huge}}},
		Violations: []result.Violation{{Kind: "stray-output", Message: huge, Excerpt: huge}},
		Exchanges:  []result.Exchange{{Method: "tools/call", Request: "{}", Response: huge, Error: huge}},
	}})
	rec.Send(result.FindingSeen{Finding: result.Finding{Kind: "bad-json", Severity: "error", Message: huge, Excerpt: huge}})
	rec.Send(result.RunFinished{ExitCode: 1})
	for _, f := range report.Formats {
		var out []byte
		took := quickest(time.Minute, func() { out = rendered(t, f.Name, rec.Run(), render.Options{}) })
		t.Logf("%-8s %9d bytes in %v", f.Name, len(out), took.Round(time.Millisecond))
		if took > time.Minute {
			t.Errorf("%s took %v", f.Name, took)
		}
		// The record keeps 64 KiB of a text and 256 KiB of a frame; escaping
		// makes them longer.
		if len(out) > 8<<20 {
			t.Errorf("%s: %d bytes", f.Name, len(out))
		}
	}
}
