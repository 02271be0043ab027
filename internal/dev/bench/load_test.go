package bench_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"mcptest/internal/client/protocol"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

func timed(fn func()) float64 {
	start := time.Now()
	fn()
	return float64(time.Since(start).Microseconds()) / 1000
}

// loadSuite does the work of `mcptest run` before anything starts.
func loadSuite(tb testing.TB, path string) *plan.Plan {
	tb.Helper()
	s, diags := suite.Load(path, suite.Options{})
	if diags.HasErrors() {
		tb.Fatal(diags[0])
	}
	var set plan.Settings
	for _, k := range protocol.ViolationKinds {
		set.ViolationKinds = append(set.ViolationKinds, k.Name)
	}
	p, diags := plan.Compile([]*suite.Suite{s}, set)
	if diags.HasErrors() {
		tb.Fatal(diags[0])
	}
	return p
}

func loadYAML(tb testing.TB, path string) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkLoad loads and compiles a suite of 1,000 explicit tests; the floor is the
// YAML library alone.
func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "suite.yml")
	if err := os.WriteFile(path, []byte(written(1000, "", "true")), 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("suite", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if p := loadSuite(b, path); p.Len() != 1000 {
				b.Fatal(p.Len())
			}
		}
	})
	b.Run("yaml", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			loadYAML(b, path)
		}
	})
}

// BenchmarkCase builds cases from their template one after another, as a run does.
func BenchmarkCase(b *testing.B) {
	t := &tools{dir: b.TempDir()}
	p := loadSuite(b, t.fromCases(b, 1000, 1, "true"))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if c := p.Case(i % p.Len()); len(c.Ops) != 1 {
			b.Fatal(c.Name)
		}
		i++
	}
}
