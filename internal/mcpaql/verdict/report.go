package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
)

// Report is the result of judging evidence. Its JSON form keeps the member names and
// the order of the specification's report (S 6.1) and adds members at its end.
type Report struct {
	Implementation   string           `member:"implementation"`
	Version          string           `member:"version"`
	SpecVersion      string           `member:"specVersion"`
	RequestedLevel   int              `member:"requestedLevel"`
	ConformanceLevel int              `member:"conformanceLevel"` // strict: AchievedLevel; reference: 0 when a MUST category failed, else the requested level
	Summary          Summary          `member:"summary,need"`
	Categories       []CategoryResult `member:"categories,need"`
	ExitCode         int              `member:"exitCode"`

	Rules     rule.Set `member:"rules,omitempty"`
	Normative bool     `member:"normative,omitempty"` // see [Options]
	// AchievedLevel is the level that the strict rules grant, independent of Rules;
	// -1 in a report of another tool, which does not state it.
	AchievedLevel int `member:"achievedLevel"`
	// Complete reports whether every row of a MUST category is based on evidence.
	Complete bool     `member:"complete"`
	Coverage Coverage `member:"coverage"`
	// NotApplicable lists the rows of live runs that do not apply to this adapter or
	// were not requested. They are not among the rows.
	NotApplicable []Inapplicable `member:"notApplicable,omitempty"`
	// NotProved lists the rows that lack evidence for the level and the exit code,
	// with the reason. Only strict reports have them.
	NotProved []Inapplicable `member:"notProved,omitempty"`
	// Bundle is the file that was judged, as given; "" when there was none.
	Bundle string `member:"bundle,omitempty"`
	// DurationMS is how long the live run took, to the second; 0 if there was none.
	DurationMS int `member:"durationMs,omitempty"`
	// Alerts are the most important messages for a reader; they are the first lines
	// of the report.
	Alerts []string `member:"alerts,omitempty"`
	// Ended is the reason why the live run ended early, "" if it did not.
	Ended string `member:"ended,omitempty"`
	// Leftovers lists the items that the live run created and could not remove, each
	// with the reason.
	Leftovers []string `member:"leftovers,omitempty"`
	// Changed lists the differences in the adapter's lists since before the live run
	// that are not items of the run.
	Changed []string `member:"changed,omitempty"`
	// Unchecked lists the adapter's lists that were not, or not fully, compared with
	// their earlier content, with the reason.
	Unchecked []string `member:"unchecked,omitempty"`
	// Basis says on how many lists it rests that no data of others changed, and which READ
	// operations were never called.
	Basis string `member:"basis,omitempty"`
}

// DescribeBasis returns the text for [Report.Basis].
func DescribeBasis(compared int, uncalled []string) string {
	text := "That no data of others changed rests on " + display.Count(compared, "list")
	if len(uncalled) > 0 {
		text += "; never called, so nothing is known of what they do: " + evidence.JoinFirst(uncalled)
	}
	return text
}

// Summary counts rows.
type Summary struct {
	Total   int `member:"total,need"`
	Passed  int `member:"passed,need"`
	Warned  int `member:"warned,need"`
	Failed  int `member:"failed,need"`
	Skipped int `member:"skipped,need"`
}

// CategoryResult is a category with its rows.
type CategoryResult struct {
	Name     string       `member:"name,need"`
	Required bool         `member:"required"`
	Result   Result       `member:"result,need,oneof=PASS|FAIL|WARN|SKIP"`
	Tests    []TestResult `member:"tests,need"`
	Note     string       `member:"note,omitempty"` // why the result differs from that of the rows; usually ""
}

// TestResult is one row.
type TestResult struct {
	Name   string       `member:"name,need"`
	Result Result       `member:"result,need,oneof=PASS|FAIL|WARN|SKIP"`
	Detail string       `member:"detail"`
	Tiers  *TierResults `member:"tiers"` // of semantic rows
	// Missing names the operations and parameters that the row promises to test but
	// has no case for.
	Missing  []string  `member:"missing,omitempty"`
	Findings []Finding `member:"findings,omitempty"`

	Unproven   bool   // SKIP for lack of evidence
	Incomplete string // the missing evidence
}

// Inapplicable is a row that a report omits, and the reason.
type Inapplicable struct {
	Category string `member:"category,need"`
	Test     string `member:"name,need"`
	Reason   string `member:"reason"`
}

// TierResults are the verdicts of the two tiers of a semantic row.
type TierResults struct {
	Structural Result `member:"structural"`
	Semantic   Result `member:"semantic"`
}

// Coverage counts the listed operations that the evidence covers.
type Coverage struct {
	OperationsTotal int `member:"operations_total"`
	Probed          int `member:"probed"`
	SkippedByPolicy int `member:"skipped_by_policy"`
	NotGeneratable  int `member:"not_generatable"`
}

// Claim returns the sentence with which an implementation may state its level (S
// 2.3), "" if it achieved none.
func (r *Report) Claim() string {
	if r.AchievedLevel < rule.LevelOne {
		return ""
	}
	return fmt.Sprintf("MCP-AQL Level %d Conformant (specification %s)", r.AchievedLevel, textOrNotGiven(r.SpecVersion))
}

func textOrNotGiven(s string) string { return cmp.Or(s, "(not given)") }

// HasWarnings reports whether a row of the report warns.
func (r *Report) HasWarnings() bool {
	return slices.ContainsFunc(r.Categories, func(c CategoryResult) bool {
		s := Summarize([]CategoryResult{c})
		return s.Warned > 0 || s.Failed > 0 && !c.Required
	})
}

// DescribeUnproved describes the missing evidence in one sentence; it returns "" if nothing
// is missing.
func (r *Report) DescribeUnproved() string { return joinReasons(r.NotProved) }

func joinReasons(rows []Inapplicable) string {
	reasons := lists.Map(rows, func(n Inapplicable) string { return fmt.Sprintf("%s (%s)", n.Test, n.Reason) })
	return strings.Join(reasons, "; ")
}

// repeats lists the command lines that repeat a row's findings, one for each
// different problem, as many as the row's detail lists.
func (t TestResult) repeats() (out []string) {
	groups := groupByCause(t.Findings)
	for _, g := range groups[:min(len(groups), maxGroups)] {
		if x := g.first.Exchange; x != nil && x.Repeat != "" {
			out = append(out, x.Repeat)
		}
	}
	return out
}

// Result is the verdict of a row or of a category.
type Result string

// Summarize counts the results of the tests.
func Summarize(cs []CategoryResult) (s Summary) {
	for _, c := range cs {
		for _, t := range c.Tests {
			s.Total++
			switch t.Result {
			case Pass:
				s.Passed++
			case Warned:
				s.Warned++
			case Failed:
				s.Failed++
			default:
				s.Skipped++
			}
		}
	}
	return s
}

// The verdicts.
const (
	Pass    Result = "PASS"
	Failed  Result = "FAIL"
	Warned  Result = "WARN"
	Skipped Result = "SKIP"
)

// The choices. They do not affect which level is achieved, or whether a report is complete.
const (
	FailOnIncomplete FailOn = "incomplete" // SHOULD categories that warn, and missing evidence
	FailOnWarn       FailOn = "warn"       // every warning, and nothing else
	FailOnFail       FailOn = "fail"       // nothing
)

// FormatJSON returns the report in the specification's form (S 6.1), with two spaces of
// indentation and a newline at the end. Members that the form does not define follow
// those that it defines.
func (r *Report) FormatJSON() []byte {
	v := evidence.Encode(*r)
	if r.AchievedLevel < 0 {
		v = v.Without("achievedLevel").Without("complete").Without("coverage")
	}
	return append(v.Indent("", "  "), '\n')
}

// ReadReport reads a JSON report in the specification's form, of this tool or of
// another one. Every mistake is a diagnostic with line, column and JSON pointer; if
// one is an error, the report must not be used.
func ReadReport(f *source.File) (*Report, source.Diagnostics) {
	r := evidence.NewReader(f)
	out := &Report{AchievedLevel: -1, RequestedLevel: rule.LevelOne}
	root, _, ok := r.Parse()
	if !ok {
		return out, r.Problems
	}
	if root.Kind() != jsonv.KindObject {
		r.Errorf(root, "", "a report is a JSON object, this is %s", evidence.Describe(root))
		return out, r.Problems
	}
	r.ReadObject(root, "", out)
	r.Problems.Sort()
	return out, r.Problems
}

// FailOn selects what makes the exit code 2 when no MUST category failed.
type FailOn string
