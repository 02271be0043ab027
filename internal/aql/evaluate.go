package aql

import (
	"fmt"
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
	all := judge(e, o)
	strict := all
	if o.Rules != Strict {
		o := o
		o.Rules = Strict
		strict = judge(e, o)
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

// complete says whether every row of a MUST category rests on something.
func complete(strict []CategoryResult) bool {
	for _, c := range strict {
		for _, t := range c.Tests {
			if c.Required && t.unproven {
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
		case c.Required && c.Result != Pass && c.Result != Warned:
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
	detailed map[string]bool    // operations that have a detail
	skipped  map[string]bool    // operations that a live run left out
	untested map[[3]string]bool // test, operation and parameter that it left out
}

// judge makes the rows of every category of the level.
func judge(e *Evidence, o Options) []CategoryResult {
	j := &judgement{e: e, set: o.Rules, normative: o.Normative, missing: map[[2]string][]int{}, accepted: map[string][]string{}, detailed: map[string]bool{}}
	j.readSkipped()
	for i, c := range e.MissingRequired {
		key := [2]string{c.Operation, c.Parameter}
		j.missing[key] = append(j.missing[key], i)
	}
	for _, a := range e.Accepted {
		j.accepted[a.Operation] = a.Parameters
	}
	for i, d := range e.OperationDetails {
		if name := d.Lookup("name"); name.Kind() == jsonv.KindString {
			j.detailed[name.Text()] = true
		}
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
		out = append(out, x.result())
	}
	return out
}

// rollUp makes a category's result from its rows.
func (j *judgement) rollUp(c *CategoryResult, o Options) {
	has := func(r Result) bool {
		return slices.ContainsFunc(c.Tests, func(t TestResult) bool { return t.Result == r })
	}
	unproven := slices.ContainsFunc(c.Tests, func(t TestResult) bool { return t.unproven })
	onlySkipped := !has(Pass) && !has(Warned) && !has(Failed)
	switch {
	case len(c.Tests) == 0:
		c.Result = Skipped
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
	default:
		c.Result = Pass
	}
}

// ruling is the work on one row.
type ruling struct {
	*judgement
	test     Test
	cases    int // what was looked at
	found    []Finding
	moot     string // why the row does not apply to this implementation
	lacking  string // what evidence the row would need
	observed string // what to say when all is well; made from cases when empty
}

// breaks adds a finding, unless the rule set does not have the rule.
func (x *ruling) breaks(rule string, at *place, v jsonv.Value, format string, args ...any) {
	if w := x.weight(rule); w != Off {
		x.found = append(x.found, Finding{Rule: rule, Weight: w, At: at.pointer(), Says: fmt.Sprintf(format, args...), offset: v.Offset()})
	}
}

// takes adds what a shape found, if keep says so.
func (x *ruling) takes(found []Finding, keep func(Finding) bool) {
	for _, f := range found {
		if f.Weight = x.weight(f.Rule); f.Weight != Off && (keep == nil || keep(f)) {
			x.found = append(x.found, f)
		}
	}
}

// sound says that a payload's findings do not make it invalid.
func (j *judgement) sound(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return j.weight(f.Rule) == Fail })
}

// weight is what breaking a rule costs in this judgement.
func (j *judgement) weight(rule string) Weight {
	r := rulesByID()[rule]
	w := r.Weight(j.set)
	if j.normative && j.set == Strict && w == Warn && r.Requirement == Must && r.normative() {
		return Fail
	}
	return w
}

func (x *ruling) result() TestResult {
	x.excuse()
	t := TestResult{Name: x.test.Name, test: x.test.ID, Result: Pass, Findings: x.found}
	x.locate(t.Findings)
	x.e.exchanges(t.Findings)
	t.unproven = x.set == Strict && x.cases == 0 && x.moot == ""
	switch heaviest(x.found) {
	case Fail:
		t.Result = Failed
	case Warn:
		t.Result = Warned
	}
	switch {
	case len(x.found) > 0:
		t.Detail = narrate(x.found)
	case x.set == Strict && x.moot != "":
		t.Result, t.Detail = Skipped, "Not applicable: "+x.moot+"."
	case x.set == Strict && x.cases == 0:
		t.Result = Skipped
		t.Detail = "No evidence: " + x.lacking + "."
	case x.cases == 0:
		t.Detail = "Nothing in the bundle speaks against it: " + x.lacking + "."
	case x.observed != "":
		t.Detail = x.observed
	default:
		t.Detail = fmt.Sprintf("%s looked at, nothing to object to.", count(x.cases, "case"))
	}
	return t
}

// locate gives findings the line and column of what they are about.
func (x *ruling) locate(found []Finding) {
	if x.e.File == nil {
		return
	}
	order := make([]*Finding, 0, len(found))
	for i := range found {
		if found[i].offset >= 0 {
			order = append(order, &found[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *Finding) int { return a.offset - b.offset })
	l := locator{file: x.e.File}
	for _, f := range order {
		pos := l.at(f.offset)
		f.Line, f.Column = pos.Line, pos.Col
	}
}

func heaviest(found []Finding) (w Weight) {
	for _, f := range found {
		w = max(w, f.Weight)
	}
	return w
}
