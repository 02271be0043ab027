package verdict

import (
	"cmp"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/report/result"
)

// runNotes returns the notes of the record: the levels, the rows, and the closing lines.
func (r *Report) runNotes() []string {
	levels := lists.Map(r.describeLevels(), func(l [2]string) string {
		return strings.ToLower(l[0]) + " " + l[1]
	})
	notes := []string{"Conformance: " + strings.Join(levels, ", "), "Rows: " + r.Summary.String()}
	return append(notes, r.describeClosing()...)
}

// ConvertToRun returns the report as the record of a test run, so that every format that can
// print a run can print a report. A row is a case with the result that the text layout
// gives it, so that all formats count alike; a WARN is a passed case with a warning. A
// FAIL in a SHOULD category is a failed case that says that it does not block
// conformance; the exit code distinguishes the two. A row's findings are its assertions.
func (r *Report) ConvertToRun(tool result.Tool) *result.Run {
	run := &result.Run{
		Schema:     result.Schema,
		Tool:       tool,
		Suites:     []result.Suite{{Name: r.makeTitle(), File: r.fileName()}},
		ExitCode:   r.ExitCode,
		Parallel:   1,
		DurationMS: float64(r.DurationMS),
		Notes:      r.runNotes(),
	}
	var cases []*result.Case
	var last *result.Case // the last case of round trips, or else of all
	if line := r.describeHarm(); line != "" {
		run.Notes = append([]string{line}, run.Notes...)
		run.Suites[0].Name += ": DATA CHANGED that the run did not create" // the title of a page
		cases = append(cases, r.convertToCase(CategoryResult{Name: "DATA CHANGED", Required: true}, TestResult{
			Name:   "Data that the run did not create is unchanged",
			Result: Failed,
			Detail: line,
		}))
		last = cases[0]
		run.Summary.Add(last)
	}
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			k := r.convertToCase(c, t)
			cases = append(cases, k)
			run.Summary.Add(k)
			if last == nil || last.Block != rule.RoundTrip || c.Name == rule.RoundTrip {
				last = k
			}
		}
		if c.Note != "" {
			run.Notes = append(run.Notes, c.Name+": "+c.Note)
		}
	}
	if n := len(r.Leftovers); n > 0 && last != nil {
		// Formats that print no notes print a case's warnings.
		for _, leftover := range r.Leftovers {
			last.Warnings = append(last.Warnings, "left behind: "+leftover)
		}
		run.Summary.Warnings += n
	}
	run.Cases = result.NewStored(cases...)
	return run
}

// maxShownExchanges is the maximum number of calls that the record holds per row.
const maxShownExchanges = 20

func (r *Report) makeTitle() string {
	if r.Implementation == "" {
		return "MCP-AQL conformance"
	}
	return strings.TrimSpace(r.Implementation + " " + r.Version)
}

// fileName returns the name of the judged file, "" if it was a stream.
func (r *Report) fileName() string {
	if strings.HasPrefix(r.Bundle, "(") {
		return ""
	}
	return r.Bundle
}

func (r *Report) convertToCase(c CategoryResult, t TestResult) *result.Case {
	k := &result.Case{
		Name: t.Name, Suite: r.makeTitle() + ": " + c.Name, Block: c.Name, File: r.fileName(),
		Tags: []string{strings.ToLower(string(c.findRequirement()))}, Assertions: []result.Assertion{},
		Status: result.Pass,
	}
	switch {
	case t.Result == Failed && c.Required:
		k.Status, k.Message = result.Fail, t.Detail
	case t.Result == Skipped:
		k.Status, k.Message = result.Skip, t.Detail
	case t.Result == Failed:
		k.Status, k.Message = result.Fail, "SHOULD, does not block conformance: "+t.Detail
	case t.Result == Warned:
		k.Warnings = append(k.Warnings, t.Detail)
	}
	for _, f := range t.Findings {
		if k.File == "" {
			f.Line, f.Column = 0, 0
		}
		if k.Line == 0 {
			k.Line, k.Column = f.Line, f.Column
		}
		if x := f.Exchange; x != nil && len(k.Exchanges) < maxShownExchanges {
			k.Exchanges = append(k.Exchanges, result.Exchange{
				Step:       f.Rule,
				Method:     "tools/call " + x.Tool,
				Request:    x.Arguments.String(),
				Response:   display.Truncate(x.Answer.String(), maxShownAnswer),
				DurationMS: x.MS,
			})
			k.Repro = cmp.Or(k.Repro, x.Repeat)
		}
		if k.Status != result.Fail || f.Weight != rule.Fail {
			continue
		}
		a := result.Assertion{Target: f.At, Matcher: f.Rule, Message: f.Says, Line: f.Line, Column: f.Column}
		if rule, ok := rule.ByID()[f.Rule]; ok {
			a.Notes = []string{rule.Says, string(rule.Requirement) + ", " + rule.Section, rule.Fix}
		}
		k.Assertions = append(k.Assertions, a)
	}
	if t.Result == Pass {
		k.Assertions = append(k.Assertions, result.Assertion{Name: t.Name, Pass: true, Message: t.Detail})
	}
	return k
}

const maxShownAnswer = 4000
