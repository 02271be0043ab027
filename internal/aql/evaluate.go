package aql

import (
	"slices"

	"mcptest/internal/jsonv"
)

// Result is the verdict of a row or of a category.
type Result string

// The verdicts.
const (
	Pass     Result = "PASS"
	Failed   Result = "FAIL"
	Warned   Result = "WARN"
	Skipped  Result = "SKIP"
	levelOne        = 1
	levelTwo        = 2
)

// Tier chooses what the semantic category looks at.
type Tier string

// The tiers. Tier2 and TierBoth do the same: the second tier is never judged
// without the first.
const (
	Tier1    Tier = "1" // skip the semantic category
	Tier2    Tier = "2"
	TierBoth Tier = "both"
)

// Tiers lists the names of the tiers.
func Tiers() []string { return []string{string(Tier1), string(Tier2), string(TierBoth)} }

// Options says what to judge. The zero value is level 1, both tiers, every
// category, the reference rules.
type Options struct {
	Level    int
	Tier     Tier
	Category string // only this category's rows and exit code; a name of Categories, "" for all
	Rules    RuleSet
	// Safe says that the evidence was collected without being allowed to
	// write. Under Strict a MUST category that could not be looked at is then
	// SKIP instead of FAIL. Evidence whose x_live says so has it too.
	Safe bool
	// Normative lets what the normative document calls a MUST fail under
	// Strict where it only warns otherwise, because another document, or a
	// passage of its own, says something else.
	Normative bool
}

// Evaluate judges evidence. It is pure: the same evidence and options give
// the same report.
func Evaluate(e *Evidence, o Options) *Report {
	if o.Level == 0 {
		o.Level = levelOne
	}
	if o.Rules == "" {
		o.Rules = Reference
	}
	o.Safe = o.Safe || collectedSafely(e.Live)
	all, beside := judge(e, o)
	strict := all
	if o.Rules != Strict {
		o := o
		o.Rules = Strict
		strict, _ = judge(e, o)
	}
	r := &Report{
		Implementation: e.Implementation,
		Version:        e.Version,
		SpecVersion:    e.SpecVersion,
		RequestedLevel: o.Level,
		Rules:          o.Rules,
		Normative:      o.Normative && o.Rules == Strict,
		Complete:       complete(strict) && !e.Live.Lookup("partial").Bool(),
		Coverage:       coverage(e),
		Categories:     all,
		Summary:        summarise(all),
		NotApplicable:  beside,
	}
	if e.File != nil {
		r.Bundle = e.File.Name
	}
	if isLive(e.Live) {
		r.Ended = e.Live.Lookup("ended").Text()
		for _, l := range e.Live.Lookup("leftovers").Elems() {
			r.Leftovers = append(r.Leftovers, Leftover(l))
		}
	}
	if exitCode(all) != ExitFailed {
		r.ConformanceLevel = o.Level
	}
	r.AchievedLevel = achieved(strict, o.Level, r.Complete)
	if o.Category != "" {
		r.NotApplicable = slices.DeleteFunc(r.NotApplicable, func(n Inapplicable) bool { return n.Category != o.Category })
		r.Categories = slices.DeleteFunc(slices.Clone(all), func(c CategoryResult) bool { return c.Name != o.Category })
	}
	r.ExitCode = exitCode(r.Categories)
	return r
}

// The exit codes of the command line (S 7.4).
const (
	ExitPassed = 0
	ExitFailed = 1 // a MUST category is FAIL
	ExitWarned = 2 // a SHOULD category is WARN
	ExitConfig = 3 // a mistake in the command line or in a file
)

func exitCode(cs []CategoryResult) int {
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

func summarise(cs []CategoryResult) (s Summary) {
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

// complete says whether every row of a MUST category rests on something, and
// those that promise it on something for each operation and parameter.
func complete(strict []CategoryResult) bool {
	for _, c := range strict {
		for _, t := range c.Tests {
			if c.Required && (t.unproven || len(t.Missing) > 0) {
				return false
			}
		}
	}
	return true
}

// achieved is the level that the strict rules grant.
func achieved(strict []CategoryResult, level int, complete bool) int {
	if !complete {
		return 0
	}
	got := level
	for _, c := range strict {
		switch {
		case c.Required && len(c.Tests) > 0 && c.Result != Pass && c.Result != Warned:
			return 0
		case c.Name == Level2 && slices.ContainsFunc(c.Tests, func(t TestResult) bool { return t.Result == Failed || t.unproven }):
			got = levelOne
		}
	}
	return got
}

// coverage counts what the evidence covers of what is listed.
func coverage(e *Evidence) Coverage {
	probed := map[string]bool{}
	for _, c := range slices.Concat(e.MissingRequired, e.UnknownParameter) {
		probed[c.Operation] = true
	}
	for _, c := range e.OptionalDefaults {
		probed[c.Operation] = true
	}
	var c Coverage
	for name := range listedOperations(e) {
		c.OperationsTotal++
		if probed[name] {
			c.Probed++
		}
	}
	for _, s := range e.Live.Lookup("skipped").Elems() {
		if s.Lookup("reason").Text() == "not generatable" {
			c.NotGeneratable++
		} else {
			c.SkippedByPolicy++
		}
	}
	return c
}

// judgement is one pass over the evidence under one rule set.
type judgement struct {
	e   *Evidence
	set RuleSet

	normative bool
	details   [][]Finding // what is wrong with each operation detail
	errors    [][]Finding // what is wrong with the answer of each error test
	// Indices of the evidence, so that large bundles take time in
	// proportion to their size.
	missing  map[[2]string][]int // cases of MissingRequired by operation and parameter
	accepted map[string][]string
	detailed map[string]bool // operations that have a detail
	listed   map[string]bool
	// described is what details say, by operation and parameter.
	described map[[2]string]jsonv.Value
	skipped   map[string]string   // operations that a live run left out, with the reason
	untested  map[[3]string]spare // test, operation and parameter that it left out
	clean     cleanTexts          // of leaks
	beside    []Inapplicable
}

// judge makes the rows of every category of the level, and tells of those
// that do not apply.
func judge(e *Evidence, o Options) ([]CategoryResult, []Inapplicable) {
	j := &judgement{e: e, set: o.Rules, normative: o.Normative, missing: map[[2]string][]int{}, accepted: map[string][]string{}, clean: cleanTexts{}}
	j.readSkipped()
	j.indexNames()
	for i, c := range e.MissingRequired {
		key := [2]string{c.Operation, c.Parameter}
		j.missing[key] = append(j.missing[key], i)
	}
	for _, a := range e.Accepted {
		j.accepted[a.Operation] = a.Parameters
	}
	for i, d := range e.OperationDetails {
		var p probe
		operationDetail.look(&p, spot("introspection", "operation_details").elem(i), d, "details.object")
		j.details = append(j.details, p.found)
	}
	for i, c := range e.ErrorTests {
		var p probe
		resultShape{}.look(&p, spot("error_tests").elem(i).member("response"), c.Response, "")
		j.errors = append(j.errors, p.found)
	}
	var out []CategoryResult
	for _, c := range Categories() {
		if c.Level > o.Level || c.Live && (o.Rules != Strict || !isLive(e.Live)) {
			continue
		}
		r := CategoryResult{Name: c.Name, Required: c.Requirement == Must}
		if c.Name == Semantic {
			r.Tests = j.semantics(o.Tier)
		} else {
			r.Tests = j.rows(c.Name)
		}
		j.rollUp(&r, o)
		if c.Name == Semantic && o.Rules == Strict && o.Tier != Tier1 {
			r.Note = semanticNote(e, r.Tests)
		}
		out = append(out, r)
	}
	return out, j.beside
}

func (j *judgement) rows(category string) (out []TestResult) {
	for _, t := range Tests() {
		if t.Category != category || (t.ID == "extensions" || t.Live) && j.set != Strict || t.Live && !isLive(j.e.Live) {
			continue
		}
		x := &ruling{judgement: j, test: t}
		if t.Live {
			x.observedLive()
		} else {
			checks[t.ID](x)
		}
		row := x.result()
		if t.Live && x.moot != "" && row.Result == Skipped {
			j.beside = append(j.beside, Inapplicable{category, t.Name, x.moot})
			continue
		}
		out = append(out, row)
	}
	return out
}

// rollUp makes a category's result from its rows.
func (j *judgement) rollUp(c *CategoryResult, o Options) {
	has := func(r Result) bool {
		return slices.ContainsFunc(c.Tests, func(t TestResult) bool { return t.Result == r })
	}
	unproven := slices.ContainsFunc(c.Tests, func(t TestResult) bool { return t.unproven })
	gaps := slices.ContainsFunc(c.Tests, func(t TestResult) bool { return len(t.Missing) > 0 })
	onlySkipped := !has(Pass) && !has(Warned) && !has(Failed)
	switch {
	case len(c.Tests) == 0:
		c.Result = Skipped
		if slices.ContainsFunc(j.beside, func(n Inapplicable) bool { return n.Category == c.Name }) {
			c.Note = "none of its rows applies"
		}
	case has(Failed) && c.Required:
		c.Result = Failed
	case has(Failed):
		c.Result = Warned
	case onlySkipped && c.Required && j.set == Strict && !o.Safe && !j.excused(c.Name):
		c.Result, c.Note = Failed, "not demonstrated: no row of this category rests on evidence"
	case onlySkipped:
		c.Result = Skipped
	case has(Warned):
		c.Result = Warned
	case unproven && c.Required && j.set == Strict:
		c.Result, c.Note = Warned, "partly demonstrated: some rows rest on no evidence"
	case gaps && c.Required && j.set == Strict:
		c.Result, c.Note = Warned, "partly demonstrated: some rows lack cases of operations or parameters"
	default:
		c.Result = Pass
	}
}
