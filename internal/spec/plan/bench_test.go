package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// writtenSuite is a suite of n tests without rows.
func writtenSuite(n int) string {
	var b strings.Builder
	b.WriteString("servers:\n  api: {command: [server]}\ndefaultTest:\n  expect:\n    - target: result.isError\n      matcher: {exact: false}\ntools:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - name: test %d
    tool: echo
    tags: [smoke, t%d]
    args: {message: "hello %d", limit: %d, nested: {a: [1, 2, 3], b: true}}
    expect:
      - target: result.content[0].text
        matcher: {contains: "hello %d"}
      - target: text
        matcher: {regex: "^hello [0-9]+$"}
`, i, i%10, i, i, i)
	}
	return b.String()
}

// rowsSuite is a suite of one test with n rows, and the rows.
func rowsSuite(n int) (suite, csv string) {
	var b strings.Builder
	b.WriteString("id,name,q,limit,want\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,row-%d,query text %d,%d,\"hello, %d\"\n", i, i, i, i%50, i)
	}
	return `servers:
  api: {command: [server]}
tools:
  - name: search
    tool: echo
    cases: rows.csv
    args: {message: "${case.q}", limit: "${case.limit}", nested: {id: "${case.id}"}}
    expect:
      - target: result.isError
        matcher: {exact: false}
      - target: text
        matcher: {contains: "${case.want}"}
`, b.String()
}

func loadAndCompile(tb testing.TB, path string) *plan.Plan {
	tb.Helper()
	s, diags := suite.Load(path, suite.Options{})
	if s == nil || diags.HasErrors() {
		tb.Fatal(diags)
	}
	p, diags := plan.Compile([]*suite.Suite{s}, plan.Settings{})
	if diags.HasErrors() {
		tb.Fatal(diags)
	}
	return p
}

func BenchmarkWrittenTests(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.yml")
	if err := os.WriteFile(path, []byte(writtenSuite(1000)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		loadAndCompile(b, path)
	}
}

func BenchmarkRows(b *testing.B) {
	const n = 10_000
	dir := b.TempDir()
	text, csv := rowsSuite(n)
	for name, data := range map[string]string{"s.yml": text, "rows.csv": csv} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		loadAndCompile(b, filepath.Join(dir, "s.yml"))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

func BenchmarkBuildRow(b *testing.B) {
	dir := b.TempDir()
	text, csv := rowsSuite(1000)
	for name, data := range map[string]string{"s.yml": text, "rows.csv": csv} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	p := loadAndCompile(b, filepath.Join(dir, "s.yml"))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		p.Case(i % p.Len())
		i++
	}
}
