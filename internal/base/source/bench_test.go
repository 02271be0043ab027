package source_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/base/testkit"
)

// bigSuite writes a realistic suite of n tests, about 350 bytes a test.
func bigSuite(n int) string {
	var b strings.Builder
	b.WriteString("name: big\nservers:\n  api:\n    command: [node, server.js]\n    timeout: 30s\ntools:\n")
	for i := range n {
		fmt.Fprintf(&b, `  # test number %[1]d
  - name: "adds %[1]d and two"
    tool: add
    tags: [fast]
    args:
      a: %[1]d
      b: 2
      note: some text that is plain, with a comma
      list: [1, 2, 3]
    timeout: 30s
    expect:
      - target: result.content[0].text
        matcher:
          contains: "the sum is"
      - target: result.isError
        matcher:
          equals: false
`, i)
	}
	return b.String()
}

func BenchmarkLoad1000Tests(b *testing.B) {
	text := []byte(bigSuite(1000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var s sample
		if ds := load(&source.File{Name: "suite.yaml", Data: text}, &s); len(ds) > 0 {
			b.Fatal(ds.Error())
		}
	}
}

func BenchmarkDecode1000Tests(b *testing.B) {
	n, ds := parse(bigSuite(1000))
	if len(ds) > 0 {
		b.Fatal(ds.Error())
	}
	b.ReportAllocs()
	for b.Loop() {
		var s sample
		if ds := source.Decode(n, &s); len(ds) > 0 {
			b.Fatal(ds.Error())
		}
	}
}

// TestLoadIsFast detects superlinear loading: the target is 60 ms, and test machines are
// busy. If loading takes ten times that, it is compared with a quarter of the tests.
func TestLoadIsFast(t *testing.T) {
	if !testkit.Bench() {
		t.Skip("only in make bench: it compares times")
	}
	best := quickestLoad(t, 1000)
	t.Logf("1000 tests in %v", best)
	limit := 600 * time.Millisecond
	if best <= limit {
		return
	}
	if quarter := quickestLoad(t, 250); best > 10*quarter || best > 10*limit {
		t.Errorf("a suite of 1000 tests takes %v to load, one of 250 takes %v", best, quarter)
	}
}

// quickestLoad is the best time of five in which a suite of n tests is loaded.
func quickestLoad(t *testing.T, n int) time.Duration {
	f := file(bigSuite(n))
	best := time.Hour
	for range 5 {
		start := testkit.ReadCPUTime()
		var s sample
		if ds := load(f, &s); len(ds) > 0 {
			t.Fatal(ds.Error())
		}
		best = min(best, testkit.ReadCPUTime()-start)
		if len(s.Tools) != n {
			t.Fatalf("%d tests, want %d", len(s.Tools), n)
		}
	}
	return best
}
