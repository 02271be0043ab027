package aql

import (
	"fmt"
	"slices"

	"mcptest/internal/display"
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
	// FailOn says what else than a failure makes the exit code 2. "" is what
	// the prototype does under Reference, and FailOnIncomplete under Strict.
	FailOn FailOn
	// Normative lets what the normative document calls a MUST fail under
	// Strict where it only warns otherwise, because another document, or a
	// passage of its own, says something else.
	Normative bool
}

// FailOn chooses what makes the exit code 2 when no MUST category failed.
type FailOn string

// The choices. A level is achieved, and a report complete, whatever the choice.
const (
	FailOnIncomplete FailOn = "incomplete" // SHOULD categories that warn, and what was not proved
	FailOnWarn       FailOn = "warn"       // every warning, and nothing else
	FailOnFail       FailOn = "fail"       // nothing
)

// FailOns lists the choices.
func FailOns() []string {
	return []string{string(FailOnIncomplete), string(FailOnWarn), string(FailOnFail)}
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
	all, j := judge(e, o)
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
		Coverage:       coverage(e),
		Categories:     all,
		Summary:        summarise(all),
		NotApplicable:  j.beside,
		Alerts:         j.alerts(),
	}
	if e.File != nil {
		r.Bundle = e.File.Name
	}
	if isLive(e.Live) {
		r.Ended = e.Live.Lookup("ended").Text()
		for _, l := range e.Live.Lookup("leftovers").Elems() {
			r.Leftovers = append(r.Leftovers, Leftover(l))
		}
		for _, d := range e.Live.Lookup("changed").Elems() {
			r.Changed = append(r.Changed, d.Lookup("says").Text())
		}
		for _, u := range e.Live.Lookup("unchecked").Elems() {
			r.Unchecked = append(r.Unchecked, u.Text())
		}
	}
	unproved := notProved(e, strict)
	r.Complete = !slices.ContainsFunc(unproved, func(n Inapplicable) bool { return n.Category != Level2 })
	if len(r.Changed) == 0 {
		r.AchievedLevel = achieved(strict, o.Level, r.Complete)
	}
	switch {
	case o.Rules == Strict:
		r.ConformanceLevel, r.NotProved = r.AchievedLevel, unproved
	case exitCode(all) != ExitFailed:
		r.ConformanceLevel = o.Level
	}
	if o.Category != "" {
		other := func(n Inapplicable) bool { return n.Category != "" && n.Category != o.Category }
		r.NotApplicable = slices.DeleteFunc(r.NotApplicable, other)
		r.NotProved = slices.DeleteFunc(r.NotProved, other)
		r.Categories = slices.DeleteFunc(slices.Clone(all), func(c CategoryResult) bool { return c.Name != o.Category })
	}
	r.ExitCode = r.exit(o.FailOn, len(unproved) > 0)
	return r
}

// exit is the exit code of what the report shows.
func (r *Report) exit(on FailOn, incomplete bool) int {
	code := exitCode(r.Categories)
	if code == ExitFailed || len(r.Changed) > 0 {
		return ExitFailed
	}
	warned := on != FailOnFail && code == ExitWarned
	switch on {
	case FailOnWarn:
		warned = warned || r.Warns()
	case FailOnIncomplete:
		warned = warned || incomplete && (r.Rules != Strict || len(r.NotProved) > 0)
	case "":
		warned = warned || len(r.NotProved) > 0
	}
	if warned {
		return ExitWarned
	}
	return ExitPassed
}

// The exit codes of the command line (S 7.4).
const (
	ExitPassed = 0
	ExitFailed = 1 // a MUST category is FAIL, or a live run changed what it did not create
	ExitWarned = 2 // a SHOULD category is WARN
	ExitConfig = 3 // an invalid command line or file
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

// notProved lists what the strict rules lack evidence of: rows of MUST
// categories and of the features of level 2 that rest on none, those that
// promise a case of each operation or parameter and lack one, and runs that
// left something out.
func notProved(e *Evidence, strict []CategoryResult) (out []Inapplicable) {
	for _, c := range strict {
		if !c.Required && c.Name != Level2 {
			continue
		}
		for _, t := range c.Tests {
			switch {
			case t.unproven:
				out = append(out, Inapplicable{c.Name, t.Name, t.lacking})
			case len(t.Missing) > 0:
				out = append(out, Inapplicable{c.Name, t.Name, "no case: " + several(t.Missing)})
			}
		}
	}
	if e.Live.Lookup("partial").Bool() {
		out = append(out, Inapplicable{"", "the whole adapter", "the bundle holds the details of called operations only (--bundle-scope probed)"})
	}
	if why := e.Live.Lookup("ended").Text(); why != "" && isLive(e.Live) {
		out = append(out, Inapplicable{"", "the whole run", why})
	}
	return out
}

// achieved is the level that the strict rules grant.
func achieved(strict []CategoryResult, level int, complete bool) int {
	if !complete {
		return 0
	}
	got := level
	for _, c := range strict {
		switch {
		case c.Required && c.Result == Failed:
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
	for op := range listedOperations(e) {
		c.OperationsTotal++
		if probed[op.Lookup("name").Text()] {
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
	read      []reading   // the operation details in the documented form
	faults    [][]Finding // what else is wrong with each operation detail
	// unreadable are the operations whose parameters cannot be read.
	unreadable []string
	errors     [][]Finding // what is wrong with the answer of each error test
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
func judge(e *Evidence, o Options) ([]CategoryResult, *judgement) {
	j := &judgement{e: e, set: o.Rules, normative: o.Normative, missing: map[[2]string][]int{}, accepted: map[string][]string{}, clean: cleanTexts{}}
	j.readSkipped()
	j.readDetails()
	j.indexNames()
	for i, c := range e.MissingRequired {
		key := [2]string{c.Operation, c.Parameter}
		j.missing[key] = append(j.missing[key], i)
	}
	for _, a := range e.Accepted {
		j.accepted[a.Operation] = a.Parameters
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
	return out, j
}

// alerts are the first lines of the report.
func (j *judgement) alerts() (out []string) {
	if n := len(j.unreadable); n > 0 {
		out = append(out, fmt.Sprintf("The parameters of %d of %s cannot be read: %s. Nothing that depends on them was judged.", n, display.Count(max(len(j.listed), len(j.read)), "operation"), several(j.unreadable)))
	}
	return out
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
	case onlySkipped && !unproven && j.set == Strict && c.Required:
		c.Result, c.Note = Skipped, "none of its rows applies"
	case onlySkipped && c.Required && j.set == Strict && !o.Safe && !j.excused(c.Name):
		c.Result, c.Note = Failed, "not demonstrated: no row of this category has evidence"
	case onlySkipped:
		c.Result = Skipped
	case has(Warned):
		c.Result = Warned
	case unproven && c.Required && j.set == Strict:
		c.Result, c.Note = Warned, "partly demonstrated: some rows have no evidence"
	case gaps && c.Required && j.set == Strict:
		c.Result, c.Note = Warned, "partly demonstrated: some rows lack cases of operations or parameters"
	default:
		c.Result = Pass
	}
}
