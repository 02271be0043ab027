package expect_test

import (
	"testing"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// FuzzCompile: for any text, compiling returns diagnostics without a panic, and a compiled
// tree can be evaluated.
func FuzzCompile(f *testing.F) {
	for _, row := range match.Matchers() {
		f.Add("expect: [{target: text, name: a, matcher: {"+row.Example+"}}]\nderivedMetrics: [{name: m, value: {weighted_sum: [{ref: a}]}}]", row.Passes)
	}
	f.Add("threshold: 0.5\nexpect: {assertions: [{assert-set: {assertions: [{target: 'result[*]', matcher: {not: {exact: 1}}}]}}], max_duration_ms: 3}", `[1]`)
	// Each seed reaches code that no other seed does.
	f.Add("expect: [{rget: text, name: a, matcher: {schema: {type: tbject, required: [id], properties: {id: {type: integer}}}}}]\nderivedMetrics: [{nage: m, value: {weighoed_sum: [{ref: a}]}}]", "$\"iJ/  u3u")
	f.Add("expect: [{target: text, name: a, matcher: {icontains-any: [Rust, GO]}}]\nderivedMetrics: [{name: m, value: {weighted_sum: [{ref: a}]}}]", "\"\xe6\xe6\xe6\xe6\xe6\xe6\xe6\x7fo\"")
	f.Add("expect: [{rget: texo, name: a, matcher: {none-of: [{ctntains: password}, {regex: '\\d{ted'}]}}]\nderivedMetrics: [{name: m, value: {weighted_sum: [{ref: a}]}}]", "\"h\x9en\xe2\xe5#\x8e/\v\xeb\x95B\xa5\xe1_\xf4\xcbCa\ndel\x00\xff(\xa0\xaf\"")
	f.Add("expect: [{target: text, name: a, matcher: {icontains: RTST}}]\ndiedveMretrics: [{name: m, value: {weighted_sum: [{ref: a}]}}]", "\"\xd3}\x82tt\xd3\xd3}e\xebӄjn")
	f.Add("\uf000", "\"us\xde\xff\xff\x7fgo\"")
	f.Fuzz(func(t *testing.T, suite, res string) {
		n, ds := source.Parse(&source.File{Name: "f.yaml", Data: []byte(suite)})
		if ds.HasErrors() || n == nil {
			return
		}
		var d source.Decoder
		tr := expect.Merge(parts(n, "", &d), parts(n.Get("defaultTest"), "", &d))
		tr.Check("", &d)
		tr.Uses()
		for _, diag := range d.Diagnostics() {
			if diag.Msg == "" || len(diag.Msg) > 5000 {
				t.Fatalf("%q", diag.Msg)
			}
		}
		if d.Diagnostics().HasErrors() {
			return
		}
		v, _ := jsonv.Parse([]byte(res))
		for _, o := range []*target.Observation{{Result: v}, {Error: v}, textResult(res)} {
			if got := tr.Evaluate(t.Context(), o, nil); got.Pass != (got.Message == "") {
				t.Fatalf("%+v", got)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for name, text := range map[string]string{
		"simple": `[{target: result.isError, matcher: {exact: false}}, {target: text, matcher: {contains: rust}}]`,
		"schema": `[{target: result, matcher: {schema: {type: object, required: [a], properties: {a: {type: string}}}}}]`,
		"regex":  `[{target: text, matcher: {regex: '^\d+ items$'}}]`,
	} {
		b.Run(name, func(b *testing.B) {
			n := node(b, text)
			b.ReportAllocs()
			for b.Loop() {
				var d source.Decoder
				expect.CompileExpect(n, "expect", &d)
				if d.Diagnostics().HasErrors() {
					b.Fatal(d.Diagnostics())
				}
			}
		})
	}
}
