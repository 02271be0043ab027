package rule

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Set selects how strictly evidence is judged.
type Set string

// The rule sets.
const (
	Reference Set = "reference" // the verdicts of the specification's prototype runner
	Strict    Set = "strict"    // the verdicts that the specification's text requires
)

// Sets lists the names of the rule sets.
func Sets() []string { return []string{string(Reference), string(Strict)} }

// Weight is the effect of breaking a rule on the row it belongs to.
type Weight uint8

// The weights, lightest first.
const (
	Off  Weight = iota // the rule set does not have the rule
	Warn               // the row is WARN at least
	Fail               // the row is FAIL
)

// String returns "-", "WARN" or "FAIL".
func (w Weight) String() string { return [...]string{"-", "WARN", "FAIL"}[w] }

// UnmarshalText reads the form that String returns.
func (w *Weight) UnmarshalText(text []byte) error {
	i := slices.IndexFunc([]Weight{Off, Warn, Fail}, func(known Weight) bool { return known.String() == string(text) })
	if i < 0 {
		return fmt.Errorf("unknown weight %q", text)
	}
	*w = Weight(i)
	return nil
}

// Requirement is the word of RFC 2119 that the cited section uses.
type Requirement string

// The requirement words.
const (
	Must   Requirement = "MUST"
	Should Requirement = "SHOULD"
)

// Rule is one requirement that evidence is checked against.
type Rule struct {
	ID          string
	Test        string // id of the test whose row it decides
	Requirement Requirement
	Section     string // of the specification's documents, see Documents
	Reference   Weight
	Strict      Weight
	Says        string // the requirement
	Fix         string // how to fix a violation
}

// FindWeight returns the rule's weight in a rule set.
func (r *Rule) FindWeight(s Set) Weight {
	if s == Strict {
		return r.Strict
	}
	return r.Reference
}

// IsNormative reports whether the normative document itself contains the requirement.
func (r *Rule) IsNormative() bool {
	return strings.HasPrefix(r.Section, "D ") || strings.Contains(r.Section, ", D ")
}

//go:embed rules.json
var rulesFile []byte

// table holds the content of rules.json: the rows and their rules, both in the order of
// the report.
var table = sync.OnceValue(func() (t struct {
	Introduction string        `json:"introduction"`
	Documents    [][2]string   `json:"documents"`
	Categories   []Category    `json:"categories"`
	Tests        []Test        `json:"tests"`
	Rules        []Rule        `json:"rules"`
	Leaks        []LeakPattern `json:"leaks"`
},
) {
	if err := json.Unmarshal(rulesFile, &t); err != nil {
		panic(fmt.Errorf("rules.json: %w", err))
	}
	return t
})

// All returns every rule, in the order of the report's rows. The caller may modify
// the slice.
func All() []Rule { return slices.Clone(table().Rules) }

// Tests returns the rows in the order of the report. The semantic one represents one
// row per semantic test.
func Tests() []Test { return slices.Clone(table().Tests) }

// LeakPattern matches text of a program that must not be in a message, and the rule that
// it breaks. A text without any of the hints does not match.
type LeakPattern struct {
	Rule, Pattern string
	Hints         []string
}

// Leaks returns the patterns of what leaks.
func Leaks() []LeakPattern { return table().Leaks }

// ByID returns the rules of All by their id; the map is built on first use.
var ByID = sync.OnceValue(func() map[string]*Rule {
	all := All()
	m := make(map[string]*Rule, len(all))
	for i := range all {
		m[all[i].ID] = &all[i]
	}
	return m
})

// Documents returns the short names by which sections are cited.
func Documents() [][2]string { return slices.Clone(table().Documents) }

// Test is one row of the report, or the pattern of several (the semantic
// rows are named by the evidence).
type Test struct {
	ID       string
	Name     string
	Category string
	Section  string
	About    string
	Live     bool // only live runs, and bundles that they wrote, have the row
}

// Category is a group of tests.
type Category struct {
	Name        string
	Requirement Requirement
	Level       int  // the lowest level that includes it
	Live        bool // it has live rows only
}

// The names of the categories, in the order of the report.
const (
	Introspection = "Introspection Fidelity"
	Parameters    = "Parameter Handling"
	ErrorQuality  = "Error Quality"
	RoundTrip     = "Round-Trip Integrity"
	Level2        = "Level 2 Features"
	Constraints   = "Constraint Documentation"
	Semantic      = "Semantic Evaluation"
	Routing       = "Endpoint Routing"
	Integration   = "MCP Integration"
)

// Categories returns the categories in the order of the report.
func Categories() []Category { return slices.Clone(table().Categories) }

// SkippedSemantics is the row that replaces the semantic ones when they are not
// requested.
const SkippedSemantics = "Semantic evaluation skipped"

// TestByID is the index of Tests, built on first use.
var TestByID = sync.OnceValue(func() map[string]Test {
	m := map[string]Test{}
	for _, t := range Tests() {
		m[t.ID] = t
	}
	return m
})

// The levels of conformance.
const (
	LevelOne = 1
	LevelTwo = 2
)

// SemanticCategories are the categories of operations, which are also the
// names of the semantic endpoints.
var SemanticCategories = []string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}

func (c Category) tests() []Test {
	return slices.DeleteFunc(Tests(), func(t Test) bool { return t.Category != c.Name })
}

func (t Test) rules() []Rule {
	return slices.DeleteFunc(All(), func(r Rule) bool { return r.Test != t.ID })
}
