package aql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// drawEvidence takes a fixture and replaces some of its values, wherever
// they are, by odd ones. Skeletons that become mistakes are left as read.
func drawEvidence(t *rapid.T) *evidence.Evidence {
	all := fixturesOnce()
	f := rapid.SampledFrom(all).Draw(t, "fixture")
	v, err := jsonv.Parse(f.Data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "edits") {
		v = drawEdit(t, v, fmt.Sprint("edit ", i))
	}
	e, _ := evidence.Read(&source.File{Name: "b.json", Data: v.Append(nil)})
	return e
}

// drawEdit replaces one value somewhere inside v.
func drawEdit(t *rapid.T, v jsonv.Value, label string) jsonv.Value {
	stop := rapid.IntRange(0, 5).Draw(t, label) == 0
	switch {
	case stop || v.Len() == 0 || v.Kind() == jsonv.KindString:
		odd := rapid.SampledFrom([]string{
			`null`, `true`, `false`, `0`, `1e400`, `""`, `"at home"`, `"bed_id"`, `[]`, `["bed_id"]`, `{}`, `{"success":true,"data":1}`,
			`{"success":false,"error":{"code":"A","message":"x"}}`,
		}).Draw(t, label+" value")
		out, _ := jsonv.Parse([]byte(odd))
		return out
	case v.Kind() == jsonv.KindObject:
		key := rapid.SampledFrom(v.Keys()).Draw(t, label+" key")
		return v.With(key, drawEdit(t, v.Lookup(key), label+"."))
	}
	var elems []jsonv.Value
	for _, e := range v.Elems() {
		elems = append(elems, e)
	}
	i := rapid.IntRange(0, len(elems)-1).Draw(t, label+" index")
	elems[i] = drawEdit(t, elems[i], label+".")
	return jsonv.Array(elems...)
}

// takeAway removes one part of the evidence.
var takeAway = []func(e *evidence.Evidence){
	func(e *evidence.Evidence) { e.OperationsList = jsonv.Value{} },
	func(e *evidence.Evidence) { e.TypesList = jsonv.Value{} },
	func(e *evidence.Evidence) { e.OperationDetails = nil },
	func(e *evidence.Evidence) { e.Accepted = nil },
	func(e *evidence.Evidence) { e.MissingRequired = nil },
	func(e *evidence.Evidence) { // every case of one parameter
		if n := len(e.MissingRequired); n > 0 {
			last := e.MissingRequired[n-1]
			e.MissingRequired = slices.DeleteFunc(e.MissingRequired, func(c evidence.ParameterCase) bool {
				return c.Operation == last.Operation && c.Parameter == last.Parameter
			})
		}
	},
	func(e *evidence.Evidence) { e.UnknownParameter = nil },
	func(e *evidence.Evidence) { e.OptionalDefaults = nil },
	func(e *evidence.Evidence) { e.ErrorTests = nil },
	func(e *evidence.Evidence) { e.RoundTrips = nil },
	func(e *evidence.Evidence) { e.Updates = nil },
	func(e *evidence.Evidence) { e.EndpointModes = nil },
	func(e *evidence.Evidence) { e.FieldSelection = false },
	func(e *evidence.Evidence) { e.BatchOperations = false },
	func(e *evidence.Evidence) { e.BatchExample = jsonv.Value{} },
	func(e *evidence.Evidence) { e.Constraints = nil },
	func(e *evidence.Evidence) {
		for i := range e.Semantics {
			e.Semantics[i].ResponseText = jsonv.Value{}
		}
	},
	func(e *evidence.Evidence) {
		for i := range e.Semantics {
			e.Semantics[i].ToolCalls = nil
		}
	},
}

// aboutAnswers says that a row looks at the answers of every part: without a
// part it does not see what was wrong with the answers there, and the part's
// own row does not pass.
func aboutAnswers(row string) bool {
	return strings.HasSuffix(row, "discriminated union schema") || strings.HasSuffix(row, "leak implementation internals")
}

// Under strict, taking evidence away never makes a row that failed pass.
func TestRemovingEvidenceNeverTurnsFailIntoPass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		o := aql.Options{Level: 2, Rules: rule.Strict}
		before := rows(aql.Evaluate(e, o))
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(takeAway)-1), 1, 4).Draw(t, "take away") {
			takeAway[i](e)
		}
		for name, after := range rows(aql.Evaluate(e, o)) {
			codes := name == "Level 2 Features / Batch operations are supported" && e.ErrorTests == nil // with which batch.code compares
			if before[name] == verdict.Failed && after == verdict.Pass && !aboutAnswers(name) && !codes {
				t.Fatalf("%s was FAIL and is PASS", name)
			}
		}
	})
}

// The same for every fixture and every part, one at a time.
func TestRemovingOnePartOfEveryFixture(t *testing.T) {
	t.Parallel()
	o := aql.Options{Level: 2, Rules: rule.Strict}
	for _, f := range allFixtures(t) {
		e := readBundle(t, f.Name, f.Data)
		before := aql.Evaluate(e, o)
		for i, take := range takeAway {
			less := *e
			less.MissingRequired, less.Semantics = slices.Clone(e.MissingRequired), slices.Clone(e.Semantics)
			take(&less)
			after := aql.Evaluate(&less, o)
			for name, now := range rows(after) {
				// batch.code compares with the error tests, whose own rows do not pass without them.
				if rows(before)[name] == verdict.Failed && now == verdict.Pass && !aboutAnswers(name) && f.Rule != "batch.code" {
					t.Errorf("%s without part %d: %s was FAIL and is PASS", f.Name, i, name)
				}
			}
			if before.AchievedLevel == 0 && after.AchievedLevel > 0 {
				t.Errorf("%s without part %d: the achieved level rises to %d", f.Name, i, after.AchievedLevel)
			}
		}
	}
}

// A row whose rules weigh the same in both sets has the same result in both
// wherever strict has evidence to look at.
func TestRuleSetsAgreeWhereTheTableSaysSo(t *testing.T) {
	t.Parallel()
	differs := map[string]bool{}
	for _, r := range rule.All() {
		if r.Reference != r.Strict {
			differs[r.Test] = true
		}
	}
	var same []string
	for _, test := range rule.Tests() {
		if !differs[test.ID] && test.ID != "extensions" {
			same = append(same, test.Category+" / "+test.Name)
		}
	}
	if len(same) < 5 {
		t.Fatalf("only %q agree by the table", same)
	}
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		reference := rows(aql.Evaluate(e, aql.Options{Level: 2}))
		strict := rows(aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict}))
		for _, name := range same {
			// Whether a message must be looked at depends on whether the
			// answer is valid, and _meta on a failure is, under strict.
			if strings.HasSuffix(name, "actionable") && len(e.ErrorTests) > 0 {
				continue
			}
			if strict[name] != verdict.Skipped && reference[name] != strict[name] {
				t.Fatalf("%s: reference %s, strict %s", name, reference[name], strict[name])
			}
		}
	})
}

// A report reads back as itself, for any evidence.
func TestReportsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		e.Implementation = rapid.String().Draw(t, "implementation")
		r := aql.Evaluate(e, aql.Options{
			Level: rapid.IntRange(1, 2).Draw(t, "level"),
			Rules: rapid.SampledFrom([]rule.Set{rule.Reference, rule.Strict}).Draw(t, "rules"),
			Tier:  rapid.SampledFrom([]aql.Tier{aql.Tier1, aql.Tier2, aql.TierBoth}).Draw(t, "tier"),
		})
		again, ds := verdict.ReadReport(&source.File{Name: "r.json", Data: r.FormatJSON()})
		if len(ds) > 0 {
			t.Fatalf("%s", ds.Error())
		}
		if string(again.FormatJSON()) != string(r.FormatJSON()) || string(again.FormatText()) != string(r.FormatText()) || string(again.FormatMarkdown()) != string(r.FormatMarkdown()) {
			t.Fatalf("differs:\n%s", cmp.Diff(string(r.FormatJSON()), string(again.FormatJSON())))
		}
		if d := verdict.Compare(r, again); d.HasRegressed() || slices.ContainsFunc(d.Rows, func(c verdict.RowChange) bool { return c.Change != verdict.Same }) {
			t.Fatalf("differs from itself:\n%s", d.FormatText())
		}
		sum := r.Summary
		if sum.Total != sum.Passed+sum.Failed+sum.Warned+sum.Skipped || len(rows(r)) > sum.Total {
			t.Fatalf("%+v", sum)
		}
	})
}

// FuzzBundle: no bytes make the reader or the rules panic, and a bundle that can
// be read gives reports that can be read back.
func FuzzBundle(f *testing.F) {
	for _, b := range fixturesOnce() {
		f.Add(b.Data)
	}
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte(`{"semantic_tests":[{"name":"\ud800\u0000"}],"accepted_parameters":{"":[""]}}`))
	f.Add([]byte("{\"mentation\": ̐\x90")) // reaches code that no other seed does
	f.Fuzz(func(t *testing.T, data []byte) {
		e, ds := evidence.Read(&source.File{Name: "b.json", Data: data})
		if ds.HasErrors() {
			for _, d := range ds {
				_ = d.String()
			}
			return
		}
		for _, set := range []rule.Set{rule.Reference, rule.Strict} {
			r := aql.Evaluate(e, aql.Options{Level: 2, Rules: set})
			r.FormatText()
			r.FormatMarkdown()
			if _, ds := verdict.ReadReport(&source.File{Name: "r.json", Data: r.FormatJSON()}); ds.HasErrors() {
				t.Errorf("the report cannot be read back: %s", ds.Error())
			}
		}
		if _, ds := evidence.Read(&source.File{Name: "again.json", Data: e.JSON().Append(nil)}); ds.HasErrors() {
			t.Errorf("the evidence cannot be written: %s", ds.Error())
		}
	})
}

// FuzzReport: no bytes make the reader of reports panic.
func FuzzReport(f *testing.F) {
	f.Add(aql.Evaluate(&evidence.Evidence{}, aql.Options{}).FormatJSON())
	f.Add([]byte(`{"summary":{},"categories":[{}]}`))
	// Each reaches code that no other seed does.
	for _, seed := range []string{
		"\u2000",
		"\"ntat\xda\xda\xda\xda\xda\xdaion\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ds := verdict.ReadReport(&source.File{Name: "r.json", Data: data})
		if ds.HasErrors() {
			return
		}
		r.FormatText()
		r.FormatMarkdown()
		r.DrawBadge()
		_ = verdict.Compare(r, r).FormatText()
	})
}

// The aim is 1,000 bundles in 3 s on one core, reading included.
func BenchmarkBundles(b *testing.B) {
	all := allFixtures(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for i := range 1000 {
			f := all[i%len(all)]
			e, _ := evidence.Read(&source.File{Name: f.Name, Data: f.Data})
			if aql.Evaluate(e, aql.Options{Level: 2}).Summary.Total > 0 {
				n++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(n), "ms/bundle")
}
