package aql

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// Options configures the judgement. The zero value is level 1, both tiers, every
// category, the reference rules.
type Options struct {
	Level    int
	Tier     Tier
	Category string // only this category's rows and exit code; a name of Categories, "" for all
	Rules    rule.Set
	// FailOn selects what makes the exit code 2 in addition to a failure. "" selects
	// the prototype's behavior under Reference, and FailOnIncomplete under Strict.
	FailOn verdict.FailOn
	// Normative makes a violated MUST of the normative document fail under Strict
	// where it otherwise only warns, because another document, or another passage of
	// the same one, differs.
	Normative bool
}

// Evaluate judges evidence. It is pure: the same evidence and options give
// the same report.
func Evaluate(e *evidence.Evidence, o Options) *verdict.Report {
	o.Level, o.Rules = cmp.Or(o.Level, rule.LevelOne), cmp.Or(o.Rules, rule.Reference)
	all, j := judge(e, o)
	strict, known := all, j
	if o.Rules != rule.Strict {
		o := o
		o.Rules = rule.Strict
		strict, known = judge(e, o)
	}
	r := &verdict.Report{
		Implementation: e.Implementation,
		Version:        e.Version,
		SpecVersion:    e.SpecVersion,
		RequestedLevel: o.Level,
		Rules:          o.Rules,
		Normative:      o.Normative && o.Rules == rule.Strict,
		Coverage:       known.countCoverage(),
		Categories:     all,
		Summary:        verdict.Summarize(all),
		NotApplicable:  j.inapplicable,
	}
	if n := len(j.unreadable); n > 0 {
		operations := display.Count(max(len(j.listed), len(j.read)), "operation")
		r.Alerts = append(r.Alerts, fmt.Sprintf("The parameters of %d of %s cannot be read: %s. Nothing that depends on them was judged.",
			n, operations, evidence.JoinFirst(j.unreadable)))
	}
	if e.File != nil {
		r.Bundle = e.File.Name
	}
	if e.IsLive() {
		addLive(r, e.Live)
	}
	missing := findMissingEvidence(e, strict)
	r.Complete = !slices.ContainsFunc(missing, func(n verdict.Inapplicable) bool { return n.Category != rule.Level2 })
	if len(r.Changed) == 0 {
		r.AchievedLevel = computeLevel(strict, o.Level, r.Complete)
	}
	switch {
	case o.Rules == rule.Strict:
		r.ConformanceLevel, r.NotProved = r.AchievedLevel, missing
	case verdict.ExitCode(all) != verdict.ExitFailed:
		r.ConformanceLevel = o.Level
	}
	if o.Category != "" {
		other := func(n verdict.Inapplicable) bool { return n.Category != "" && n.Category != o.Category }
		r.NotApplicable = slices.DeleteFunc(r.NotApplicable, other)
		r.NotProved = slices.DeleteFunc(r.NotProved, other)
		chosen := []verdict.CategoryResult{}
		for _, c := range all {
			if c.Name == o.Category {
				chosen = append(chosen, c)
			}
		}
		r.Categories = chosen
	}
	r.ExitCode = r.Exit(o.FailOn, len(missing) > 0)
	return r
}

// addLive adds what a live run recorded about itself.
func addLive(r *verdict.Report, live jsonv.Value) {
	r.Ended = live.Lookup("ended").Text()
	r.DurationMS = readDuration(live)
	r.Leftovers = lists.Map(live.Lookup("leftovers").List(), DescribeLeftover)
	r.Changed = lists.Map(live.Lookup("changed").List(), func(d jsonv.Value) string {
		return d.Lookup("says").Text()
	})
	r.Unchecked = live.Lookup("unchecked").Texts()
	lists := live.Lookup("lists")
	if lists.Kind() == jsonv.KindObject {
		n, _ := lists.Lookup("compared").Int64()
		r.Basis = verdict.DescribeBasis(int(n), lists.Lookup("uncalled").Texts())
	}
}

// findMissingEvidence returns the requirements of the strict rules that have no evidence:
// rows of MUST categories and of the features of level 2 without any case, rows that
// require a case of each operation or parameter and lack one, and incomplete runs.
func findMissingEvidence(e *evidence.Evidence, strict []verdict.CategoryResult) (out []verdict.Inapplicable) {
	for _, c := range strict {
		if !c.Required && c.Name != rule.Level2 {
			continue
		}
		for _, t := range c.Tests {
			switch {
			case t.Unproven:
				out = append(out, verdict.Inapplicable{Category: c.Name, Test: t.Name, Reason: t.Incomplete})
			case len(t.Missing) > 0:
				out = append(out, verdict.Inapplicable{
					Category: c.Name,
					Test:     t.Name,
					Reason:   "no case: " + evidence.JoinFirst(t.Missing),
				})
			}
		}
	}
	if e.Live.Lookup("partial").Bool() {
		out = append(out, verdict.Inapplicable{Category: "", Test: "the whole adapter", Reason: "the bundle contains only the details of called operations (--bundle-scope probed)"})
	}
	if why := e.Live.Lookup("ended").Text(); why != "" && e.IsLive() {
		out = append(out, verdict.Inapplicable{Category: "", Test: "the whole run", Reason: why})
	}
	return out
}

// computeLevel returns the level that the strict rules grant.
func computeLevel(strict []verdict.CategoryResult, level int, complete bool) int {
	if !complete {
		return 0
	}
	got := level
	for _, c := range strict {
		switch {
		case c.Required && c.Result == verdict.Failed:
			return 0
		case c.Name == rule.Level2 && slices.ContainsFunc(c.Tests, func(t verdict.TestResult) bool {
			return t.Result == verdict.Failed || t.Unproven
		}):
			got = rule.LevelOne
		}
	}
	return got
}

// readDuration returns how long a live run took, in milliseconds; 0 if it is not known.
func readDuration(live jsonv.Value) int {
	start, err := time.Parse(time.RFC3339, live.Lookup("started").Text())
	end, err2 := time.Parse(time.RFC3339, live.Lookup("finished").Text())
	if err != nil || err2 != nil {
		return 0
	}
	return int(max(end.Sub(start), 0).Milliseconds())
}

// countCoverage counts the listed operations that the evidence covers, or the documented
// ones if the list is in no known form.
func (j *judgement) countCoverage() (c verdict.Coverage) {
	probed := map[string]bool{}
	for _, c := range slices.Concat(j.e.MissingRequired, j.e.UnknownParameter) {
		probed[c.Operation] = true
	}
	for _, c := range j.e.OptionalDefaults {
		probed[c.Operation] = true
	}
	names := j.listed
	if len(names) == 0 {
		names = j.detailed
	}
	for name := range names {
		c.OperationsTotal++
		if probed[name] {
			c.Probed++
		}
	}
	for _, s := range j.e.Live.Lookup("skipped").Elems() {
		if s.Lookup("reason").Text() == "not generatable" {
			c.NotGeneratable++
		} else {
			c.SkippedByPolicy++
		}
	}
	return c
}

// judge builds the rows of every category of the level, and collects those that do
// not apply.
func judge(e *evidence.Evidence, o Options) ([]verdict.CategoryResult, *judgement) {
	j := &judgement{
		e:         e,
		set:       o.Rules,
		normative: o.Normative,
		missing:   map[[2]string][]int{},
		accepted:  map[string][]string{},
	}
	j.readSkipped()
	j.readDetails()
	j.readNames()
	for i, c := range e.MissingRequired {
		key := [2]string{c.Operation, c.Parameter}
		j.missing[key] = append(j.missing[key], i)
	}
	for _, a := range e.Accepted {
		j.accepted[a.Operation] = a.Parameters
	}
	for i, c := range e.ErrorTests {
		var p probe
		resultShape{}.look(&p, placeOf("error_tests").elem(i).member("response"), c.Response, "")
		j.errors = append(j.errors, p.found)
	}
	var out []verdict.CategoryResult
	for _, c := range rule.Categories() {
		if c.Level > o.Level || c.Live && (o.Rules != rule.Strict || !e.IsLive()) {
			continue
		}
		r := verdict.CategoryResult{Name: c.Name, Required: c.Requirement == rule.Must}
		if c.Name == rule.Semantic {
			r.Tests = j.judgeSemantics(o.Tier)
		} else {
			r.Tests = j.judgeCategory(c.Name)
		}
		j.rollUp(&r)
		if c.Name == rule.Semantic && o.Rules == rule.Strict && o.Tier != Tier1 {
			r.Note = describeSemanticBasis(e, r.Tests)
		}
		out = append(out, r)
	}
	return out, j
}

func (j *judgement) judgeCategory(category string) (out []verdict.TestResult) {
	for _, t := range rule.Tests() {
		if t.Category != category {
			continue
		}
		if (t.ID == "extensions" || t.Live) && j.set != rule.Strict {
			continue
		}
		if t.Live && !j.e.IsLive() {
			continue
		}
		x := &evaluation{judgement: j, test: t}
		if t.Live {
			x.readLiveFindings()
		} else {
			checks[t.ID](x)
		}
		row := x.buildResult()
		if t.Live && x.notApplicable != "" && row.Result == verdict.Skipped {
			j.inapplicable = append(j.inapplicable, verdict.Inapplicable{
				Category: category,
				Test:     t.Name,
				Reason:   x.notApplicable,
			})
			continue
		}
		out = append(out, row)
	}
	return out
}

// rollUp computes a category's result from its rows.
func (j *judgement) rollUp(c *verdict.CategoryResult) {
	has := func(r verdict.Result) bool {
		return slices.ContainsFunc(c.Tests, func(t verdict.TestResult) bool { return t.Result == r })
	}
	unproven := slices.ContainsFunc(c.Tests, func(t verdict.TestResult) bool { return t.Unproven })
	gaps := slices.ContainsFunc(c.Tests, func(t verdict.TestResult) bool { return len(t.Missing) > 0 })
	onlySkipped := !has(verdict.Pass) && !has(verdict.Warned) && !has(verdict.Failed)
	switch {
	case len(c.Tests) == 0:
		c.Result = verdict.Skipped
		if slices.ContainsFunc(j.inapplicable, func(n verdict.Inapplicable) bool { return n.Category == c.Name }) {
			c.Note = "none of its rows applies"
		}
	case has(verdict.Failed) && c.Required:
		c.Result = verdict.Failed
	case has(verdict.Failed):
		c.Result = verdict.Warned
	case onlySkipped && !unproven && j.set == rule.Strict && c.Required:
		c.Result, c.Note = verdict.Skipped, "none of its rows applies"
	case onlySkipped && c.Required && j.set == rule.Strict:
		c.Result, c.Note = verdict.Skipped, "not demonstrated: no row of this category has evidence"
	case onlySkipped:
		c.Result = verdict.Skipped
	case has(verdict.Warned):
		c.Result = verdict.Warned
	case unproven && c.Required && j.set == rule.Strict:
		c.Result, c.Note = verdict.Warned, "partly demonstrated: some rows have no evidence"
	case gaps && c.Required && j.set == rule.Strict:
		c.Result, c.Note = verdict.Warned, "partly demonstrated: some rows lack cases of operations or parameters"
	default:
		c.Result = verdict.Pass
	}
}
