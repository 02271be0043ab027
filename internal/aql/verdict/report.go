package verdict

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
)

// Report is what became of evidence. Its JSON form keeps the member names
// and the order of the specification's report (S 6.1) and adds to its end.
type Report struct {
	Implementation   string
	Version          string
	SpecVersion      string
	RequestedLevel   int
	ConformanceLevel int // strict: AchievedLevel; reference: 0 when a MUST category failed, else the requested level
	Summary          Summary
	Categories       []CategoryResult
	ExitCode         int

	Normative bool // see [Options]
	Rules     rule.Set
	// AchievedLevel is the level that the strict rules grant, independent of Rules
	// is; -1 in a report of another tool, which does not say.
	AchievedLevel int
	// Complete says that every row of a MUST category rests on evidence.
	Complete bool
	Coverage Coverage
	// Bundle is the file that was judged, as given; "" when there was none.
	Bundle string
	// NotApplicable are the rows of live runs that have nothing to look at in
	// this adapter, or were not asked for. They are not among the rows.
	NotApplicable []Inapplicable
	// NotProved are the rows that level and exit code lack evidence of, with
	// the reason. Only strict reports have them.
	NotProved []Inapplicable
	// Alerts are what a reader has to know before anything else; they are the
	// first lines of the report.
	Alerts []string
	// Ended says why the live run ended early, "" when it did not.
	Ended string
	// Leftovers are what the live run created and could not remove, each with
	// the reason.
	Leftovers []string
	// Changed is what the adapter's lists show otherwise than before the live
	// run, though the run did not create it.
	Changed []string
	// Unchecked are the lists that were not compared with what they showed
	// before, or not in full, with the reason.
	Unchecked []string
}

// Summary counts rows.
type Summary struct{ Total, Passed, Warned, Failed, Skipped int }

// CategoryResult is a category with its rows.
type CategoryResult struct {
	Name     string
	Required bool
	Result   Result
	Tests    []TestResult
	Note     string // why the result is not that of the rows; mostly ""
}

// TestResult is one row.
type TestResult struct {
	Name     string
	Result   Result
	Detail   string
	Tiers    *TierResults // of semantic rows
	Findings []Finding
	// Missing names the operations and parameters that the row promises to
	// look at and rests on no case of.
	Missing []string

	Test       string // id of the Test, "" when read from a report that names none
	Unproven   bool   // SKIP for want of evidence
	Incomplete string // what evidence is missing
}

// Inapplicable is a row that a report does not have, and why.
type Inapplicable struct{ Category, Test, Reason string }

// TierResults are the verdicts of the two tiers of a semantic row.
type TierResults struct{ Structural, Semantic Result }

// Finding is one place in the evidence where a rule is broken.
type Finding struct {
	Rule         string
	Weight       rule.Weight
	At           string // JSON pointer into the bundle
	Line, Column int    // in the bundle; 0 when not known
	Says         string
	Exchange     *evidence.Exchange // the call that shows it, of a live run; nil when there is none

	Offset int
}

// Coverage says how much of the listed operations the evidence covers.
type Coverage struct{ OperationsTotal, Probed, SkippedByPolicy, NotGeneratable int }

// Claim returns the sentence by which an implementation may state its level (S
// 2.3), "" when it achieved none.
func (r *Report) Claim() string {
	if r.AchievedLevel < rule.LevelOne {
		return ""
	}
	return fmt.Sprintf("MCP-AQL Level %d Conformant (specification %s)", r.AchievedLevel, orNotGiven(r.SpecVersion))
}

func orNotGiven(s string) string {
	if s == "" {
		return "(not given)"
	}
	return s
}

// maxGroups is how many different problems a row's detail lists.
const maxGroups = 4

// varying are the parts of a sentence that differ between findings of one
// cause: quoted names, words with underscores, numbers.
var varying = evidence.Pattern(`"(?:[^"\\]|\\.)*"|\w*_\w*|\d+`)

// Cause returns what findings of one cause say alike.
func Cause(says string) string { return varying().ReplaceAllString(says, "…") }

// Narrate puts findings in one line. Findings of one cause are mentioned
// once: one mistake made for every operation is one sentence.
func Narrate(found []Finding) string {
	type group struct {
		first Finding
		n     int
		names []string // what the findings alike are about
	}
	var groups []*group
	index := map[[2]string]*group{}
	for _, f := range found {
		key := [2]string{f.Rule, Cause(f.Says)}
		about := varying().FindString(f.Says)
		if g := index[key]; g != nil {
			if g.n++; !slices.Contains(g.names, about) {
				g.names = append(g.names, about)
			}
			continue
		}
		g := &group{f, 1, []string{about}}
		index[key] = g
		groups = append(groups, g)
	}
	var b strings.Builder
	for i, g := range groups {
		if i == maxGroups {
			fmt.Fprintf(&b, "; and %d more", len(groups)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(g.first.At)
		if g.first.Line > 1 { // a minified bundle is one line
			fmt.Fprintf(&b, " (line %d)", g.first.Line)
		}
		b.WriteString(": " + g.first.Says)
		if g.n > 1 {
			fmt.Fprintf(&b, " (and %d alike", g.n-1)
			if others := g.names[1:]; len(others) > 0 {
				b.WriteString(": " + evidence.Several(others))
			}
			b.WriteString(")")
		}
		fmt.Fprintf(&b, " [%s]", g.first.Rule)
	}
	return b.String()
}

// Warns reports whether a row of the report warns.
func (r *Report) Warns() bool {
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			if t.Result == Warned || t.Result == Failed && !c.Required {
				return true
			}
		}
	}
	return false
}

// failed reports whether a MUST category failed.
func (r *Report) failed() bool {
	return slices.ContainsFunc(r.Categories, func(c CategoryResult) bool { return c.Required && c.Result == Failed })
}

// Unproved says in one sentence what was not proved, "" when nothing is
// missing.
func (r *Report) Unproved() string {
	var rows []string
	for _, n := range r.NotProved {
		rows = append(rows, fmt.Sprintf("%s (%s)", n.Test, n.Reason))
	}
	return strings.Join(rows, "; ")
}

// repeats lists the command lines that repeat a row's findings, one for each
// different problem, as many as the row's detail lists.
func (t TestResult) repeats() (out []string) {
	seen := map[string]bool{}
	groups := 0
	for _, f := range t.Findings {
		if key := f.Rule + "\x00" + Cause(f.Says); !seen[key] && groups < maxGroups {
			seen[key] = true
			groups++
			if f.Exchange != nil && f.Exchange.Repeat != "" {
				out = append(out, f.Exchange.Repeat)
			}
		}
	}
	return out
}

// Result is the verdict of a row or of a category.
type Result string

// FailOn chooses what makes the exit code 2 when no MUST category failed.
type FailOn string

// FailOns lists the choices.
func FailOns() []string {
	return []string{string(FailOnIncomplete), string(FailOnWarn), string(FailOnFail)}
}

// Exit returns the exit code of what the report shows.
func (r *Report) Exit(on FailOn, incomplete bool) int {
	code := ExitCode(r.Categories)
	if code == ExitFailed || len(r.Changed) > 0 {
		return ExitFailed
	}
	warned := on != FailOnFail && code == ExitWarned
	switch on {
	case FailOnWarn:
		warned = warned || r.Warns()
	case FailOnIncomplete:
		warned = warned || incomplete && (r.Rules != rule.Strict || len(r.NotProved) > 0)
	case "":
		warned = warned || len(r.NotProved) > 0
	}
	if warned {
		return ExitWarned
	}
	return ExitPassed
}

// ExitCode returns the exit code for the results of the categories.
func ExitCode(cs []CategoryResult) int {
	code := ExitPassed
	for _, c := range cs {
		switch {
		case c.Required && c.Result == Failed:
			return ExitFailed
		case !c.Required && c.Result == Warned:
			code = ExitWarned
		}
	}
	return code
}

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
	FailOnIncomplete FailOn = "incomplete" // SHOULD categories that warn, and what was not proved
	FailOnWarn       FailOn = "warn"       // every warning, and nothing else
	FailOnFail       FailOn = "fail"       // nothing
)

// The exit codes of the command line (S 7.4).
const (
	ExitPassed = 0
	ExitFailed = 1 // a MUST category is FAIL, or a live run changed what it did not create
	ExitWarned = 2 // a SHOULD category is WARN
	ExitConfig = 3 // an invalid command line or file
)
