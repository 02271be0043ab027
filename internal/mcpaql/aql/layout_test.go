package aql_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

var update = flag.Bool("update", false, "rewrite golden files and generated documentation")

// golden compares a text with a file of this repository, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want = []byte(strings.ReplaceAll(string(want), "\r\n", "\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// odd is evidence with something of everything: several failing rows, a
// warning, and names that try to be markup.
func odd(t *testing.T) *evidence.Evidence {
	e := level2(t)
	e.Implementation, e.SpecVersion = "shed `two`\u001b[31m", ""
	e.Accepted = nil
	e.ErrorTests[0].Response, _ = jsonv.Parse([]byte(`{"success":false,"error":{"code":"nope","message":"<b>x</b>","at*":1}}`))
	e.OperationDetails = append(e.OperationDetails, jsonv.Int(1), jsonv.Int(1), jsonv.String("x"))
	e.RoundTrips[0].Name = "first\nsecond"
	e.RoundTrips[0].Fields[0].Value = jsonv.String("Leek")
	e.Semantics[0].Name = "sow_seed <script> *now* [x](https://example.invalid) & ~~z~~"
	e.Semantics[0].RequiredPatterns = []string{"zeppelin"}
	e.Constraints = nil
	// Read it again, so that every value has its place in one text.
	return readBundle(t, "odd.json", e.JSON().Indent("", "  "))
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*verdict.Report{
		"pass":   aql.Evaluate(level2(t), aql.Options{Level: 2}),
		"odd":    aql.Evaluate(odd(t), aql.Options{Level: 2}),
		"strict": aql.Evaluate(odd(t), aql.Options{Level: 2, Rules: rule.Strict}),
		"empty":  aql.Evaluate(&evidence.Evidence{}, aql.Options{Level: 1, Rules: rule.Strict}),
	} {
		golden(t, "testdata/"+name+".json", r.FormatJSON())
		golden(t, "testdata/"+name+".txt", r.FormatText())
		golden(t, "testdata/"+name+".md", r.FormatMarkdown())
		golden(t, "testdata/"+name+".svg", r.DrawBadge())
	}
}

// The keys that the specification's report has come first, in its order.
func TestKeyOrder(t *testing.T) {
	t.Parallel()
	v, err := jsonv.Parse(aql.Evaluate(level2(t), aql.Options{}).FormatJSON())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"implementation", "version", "specVersion", "requestedLevel", "conformanceLevel", "summary", "categories", "exitCode",
		"rules", "achievedLevel", "complete", "coverage", "bundle",
	}
	if got := v.Keys(); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if got := v.Lookup("categories").At(0).Lookup("tests").At(0).Keys(); !slices.Equal(got[:3], []string{"name", "result", "detail"}) {
		t.Errorf("a test has %q", got)
	}
}

// Nothing of the evidence gets control characters or markup into a report
// for people.
func TestForeignTextIsEscaped(t *testing.T) {
	t.Parallel()
	r := aql.Evaluate(odd(t), aql.Options{Level: 2})
	if bad := regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f]`).Find(append(r.FormatText(), r.FormatMarkdown()...)); bad != nil {
		t.Errorf("control character %q", bad)
	}
	for _, bad := range []string{"<script", "<b>", " *now*", " [x](", "~~z~~"} {
		if strings.Contains(string(r.FormatMarkdown()), bad) {
			t.Errorf("markdown holds %q", bad)
		}
	}
}

func TestOtherToolsReports(t *testing.T) {
	t.Parallel()
	foreign := `{"implementation":"x","version":"1","specVersion":"1.0.0-draft","requestedLevel":1,"conformanceLevel":1,
	 "summary":{"total":2,"passed":1,"warned":1,"failed":0,"skipped":0},
	 "categories":[{"name":"Introspection Fidelity","required":true,"result":"PASS","tests":[{"name":"Parameter Accuracy","result":"PASS"},{"name":"Completeness","result":"WARN"}]}]}`
	r, ds := verdict.ReadReport(&source.File{Name: "r.json", Data: []byte(foreign)})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for _, part := range []string{"Parameter Accuracy", "WARN: Completeness", "1 passed, 1 warned"} {
		if !strings.Contains(string(r.FormatText()), part) || !strings.Contains(string(r.FormatMarkdown()), part) {
			t.Errorf("no %q in\n%s", part, r.FormatText())
		}
	}
	if strings.Contains(string(r.FormatText()), "Achieved") {
		t.Error("an achieved level is made up")
	}
	_, ds = verdict.ReadReport(&source.File{Name: "r.json", Data: []byte(`{"summary":{"total":"x"},"categories":[{"tests":[{"result":"MAYBE"}]},5]}`)})
	got := strings.Join(lines(ds), "\n")
	for _, part := range []string{`/summary/total: expected a number`, `missing key "passed"`, `/categories/0: missing key "name"`, `/categories/0/tests/0/result: expected PASS`, `/categories/1: expected an object`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

func TestBadges(t *testing.T) {
	t.Parallel()
	at := func(e *evidence.Evidence, level int) string {
		return aql.Evaluate(e, aql.Options{Level: level}).FormatBadgeMarkdown()
	}
	e := level2(t)
	if got, want := at(e, 2), "![MCP-AQL Level 2](https://img.shields.io/badge/MCP--AQL-Level%202-blue)\n\nMCP-AQL Level 2 Conformant (specification 1.0.0-draft)\n"; got != want {
		t.Error(got)
	}
	if got, want := at(e, 1), "![MCP-AQL Level 1](https://img.shields.io/badge/MCP--AQL-Level%201-green)\n\nMCP-AQL Level 1 Conformant (specification 1.0.0-draft)\n"; got != want {
		t.Error(got)
	}
	e.BatchOperations = false
	if got := at(e, 2); !strings.Contains(got, "Level 1]") {
		t.Error(got)
	}
	e.RoundTrips, e.Updates = nil, nil // passes under reference, proves nothing
	if got := at(e, 2); !strings.Contains(got, "not%20conformant-lightgrey") && !strings.Contains(got, "evidence%20incomplete-lightgrey") {
		t.Error(got)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	good := aql.Evaluate(level2(t), aql.Options{Level: 2})
	e := level2(t)
	e.FieldSelection = false
	e.Semantics = append(e.Semantics, evidence.SemanticCase{Name: "another"})
	bad := aql.Evaluate(e, aql.Options{Level: 2})
	d := verdict.Compare(good, bad)
	golden(t, "testdata/worse.diff", []byte(d.FormatText()))
	if !d.HasRegressed() {
		t.Error("a new FAIL is no regression")
	}
	d = verdict.Compare(bad, good)
	golden(t, "testdata/better.diff", []byte(d.FormatText()))
	e.Semantics = e.Semantics[:1]
	if d = verdict.Compare(aql.Evaluate(e, aql.Options{Level: 2}), good); d.HasRegressed() {
		t.Errorf("a repaired row is a regression:\n%s", d.FormatText())
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{"Required parameters are enforced", "REQUIRED", "required.case", "error quality", "leaks"} {
		text, ok := rule.Explain(topic)
		if !ok || !strings.Contains(text, "S 3.") {
			t.Errorf("%s: %v %q", topic, ok, text)
		}
	}
	if near, ok := rule.Explain("requird"); ok || near != "required" {
		t.Errorf("requird: %q, %v", near, ok)
	}
	for _, r := range rule.All() {
		text, ok := rule.Explain(r.ID)
		if !ok || !strings.Contains(text, r.Fix) || !strings.Contains(text, r.Section) {
			t.Errorf("%s is not explained: %q", r.ID, text)
		}
	}
	text, _ := rule.Explain("required")
	golden(t, "testdata/explain.txt", []byte(text))
}

func TestTableOfRules(t *testing.T) {
	t.Parallel()
	tests, seen := map[string]bool{}, map[string]bool{}
	for _, x := range rule.Tests() {
		tests[x.ID] = true
	}
	docs := map[string]bool{}
	for _, d := range rule.Documents() {
		docs[d[0]] = true
	}
	for _, r := range rule.All() {
		if seen[r.ID] || !tests[r.Test] || r.Says == "" || r.Fix == "" || r.Reference == rule.Off && r.Strict == rule.Off ||
			r.Requirement != rule.Must && r.Requirement != rule.Should {
			t.Errorf("rule %+v", r)
		}
		if doc, _, _ := strings.Cut(r.Section, " "); !docs[doc] {
			t.Errorf("%s cites %q, which is not in the list of documents", r.ID, r.Section)
		}
		seen[r.ID] = true
	}
}

// The printed reference has every rule and every row exactly once.
func TestRulesMarkdownIsComplete(t *testing.T) {
	t.Parallel()
	page := rule.WriteMarkdown()
	for _, r := range rule.All() {
		if row := "| `" + r.ID + "` |"; strings.Count(page, row) != 1 {
			t.Errorf("%s: %d rows", r.ID, strings.Count(page, row))
		}
	}
	for _, x := range rule.Tests() {
		if head := "### " + x.Name + "\n\n`" + x.ID + "` "; strings.Count(page, head) != 1 {
			t.Errorf("%s: %d headings", x.ID, strings.Count(page, head))
		}
	}
	for line := range strings.Lines(page) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && cells != 3 && cells != 7 {
			t.Errorf("a row with %d cell borders: %s", cells, line)
		}
	}
}
