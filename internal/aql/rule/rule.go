package rule

import (
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

// Weight returns the rule's weight in a rule set.
func (r *Rule) Weight(s Set) Weight {
	if s == Strict {
		return r.Strict
	}
	return r.Reference
}

// Normative reports whether the normative document itself contains the requirement.
func (r *Rule) Normative() bool {
	return strings.HasPrefix(r.Section, "D ") || strings.Contains(r.Section, ", D ")
}

// All returns every rule, in the order of the report's rows. The caller may modify
// the slice.
func All() []Rule {
	return slices.Concat(operationsRules, typesRules, detailRules, detailPartRules, completenessRules, parameterRules,
		errorRules, resultRules, roundTripRules, level2Rules, constraintRules, semanticRules, liveRules)
}

// ByID is the index of Rules, built on first use.
var ByID = sync.OnceValue(func() map[string]*Rule {
	all := All()
	m := make(map[string]*Rule, len(all))
	for i := range all {
		m[all[i].ID] = &all[i]
	}
	return m
})

// Documents returns the short names by which sections are cited.
func Documents() [][2]string {
	return [][2]string{
		{"D", "MCP-AQL Specification 1.0.0-draft (normative)"},
		{"S", "Conformance Testing"},
		{"INT", "Introspection"},
		{"OPS", "Operations"},
		{"ERR", "Error Codes"},
		{"WA", "Warnings"},
		{"EM", "Endpoint Modes"},
		{"FS", "Field Selection"},
		{"PG", "Cursor-Based Pagination"},
		{"CQ", "Collection Querying"},
		{"CT", "Confirmation Tokens"},
		{"MCP", "MCP Integration"},
	}
}

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
func Categories() []Category {
	return []Category{
		{Introspection, Must, 1, false},
		{Parameters, Must, 1, false},
		{ErrorQuality, Must, 1, false},
		{RoundTrip, Must, 1, false},
		{Routing, Must, 1, true},
		{Integration, Should, 1, true},
		{Level2, Should, 2, false},
		{Constraints, Should, 2, false},
		{Semantic, Should, 2, false},
	}
}

// CategoryName returns the category whose name equals name in any case.
func CategoryName(name string) (string, bool) {
	for _, c := range Categories() {
		if strings.EqualFold(c.Name, strings.TrimSpace(name)) {
			return c.Name, true
		}
	}
	return "", false
}

// SkippedSemantics is the row that replaces the semantic ones when they are not
// requested.
const SkippedSemantics = "Semantic evaluation skipped"

// Tests returns the rows in the order of the report. The last one represents
// one row per semantic test.
func Tests() []Test {
	return withLiveTests([]Test{
		{"operations", "Operations query is implemented", Introspection, "INT 4.1, 8.1.2", "The query for operations answers a list in the documented form.", false},
		{"types", "Types query is implemented", Introspection, "INT 5.1, 8.1.2", "The query for types answers a list in the documented form.", false},
		{"details", "Operation detail payloads validate", Introspection, "INT 3.3, 8.1.4", "What the adapter says about each single operation has the documented form.", false},
		{"extensions", "Extension fields in details", Introspection, "INT 3.3", "Only in strict reports: members of a detail that the specification does not define. It defines some of them elsewhere, so they warn.", false},
		{"completeness", "Introspection completeness matches accepted parameters", Introspection, "S 3.1", "Every parameter that an operation accepts is documented, and the other way round.", false},
		{"required", "Required parameters are enforced", Parameters, "S 3.2", "Leaving out a required parameter is refused, and the refusal says which one.", false},
		{"unknown", "Unknown parameters are handled explicitly", Parameters, "S 3.2, D 4.6", "A parameter that does not exist is refused or at least warned about.", false},
		{"defaults", "Documented defaults are observable", Parameters, "S 3.2", "Without the parameter, the answer shows the documented default.", false},
		{"snake-case", "Canonical parameter names use snake_case", Parameters, "D 4.3", "Parameter names are lower-case words joined by underscores.", false},
		{"error-form", "Error responses match the discriminated union schema", ErrorQuality, "D 5.1", "Every answer to a bad call is a result: success with data, or failure with code and message.", false},
		{"leaks", "Error messages do not leak implementation internals", ErrorQuality, "S 3.3", "Messages are about the request, not about the program.", false},
		{"actionable", "Error messages remain actionable", ErrorQuality, "S 3.3", "Messages name what was wrong, so that a model can correct itself.", false},
		{"create-read", "Create-read cycles preserve submitted fields", RoundTrip, "S 3.4", "What was created is read back unchanged.", false},
		{"update", "Updates preserve non-targeted fields", RoundTrip, "S 3.4, D 4.5", "An update does not change what it does not mention.", false},
		{"modes", "Both endpoint modes are documented", Level2, "S 2.2, D 3.3", "The adapter offers semantic endpoints and the single endpoint.", false},
		{"fields", "Field selection is supported", Level2, "S 2.2, FS 4", "READ operations take a list of fields.", false},
		{"batch", "Batch operations are supported", Level2, "S 2.2, OPS 7", "Several operations in one request, each with its own result.", false},
		{"enforced", "Constraints are enforced with structured errors", Constraints, "S 3.5", "Breaking a constraint is refused with a message.", false},
		{"disclosed", "Constraints are disclosed in introspection guidance", Constraints, "S 3.5", "An enforced constraint is also documented.", false},
		{"semantic", "(one row per semantic test)", Semantic, "S 5.2", "A model that saw only the introspection understands how to use the adapter.", false},
	})
}

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
