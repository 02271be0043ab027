package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// A metric has the same key in the block of a passed and of a failed test, and any
// name gives YAML.
func TestTAPMetricKeys(t *testing.T) {
	metrics := []result.Metric{{Name: "quality", Value: 1}, {Name: `a: b #c "d"`, Value: 0.5}}
	want := map[string]any{"metric quality": 1, `metric a: b #c "d"`: 0.5}
	s := newScenario(2, result.Suite{Name: "s", File: "s.yaml"})
	for _, status := range []result.Status{result.Pass, result.Fail} {
		s.test(result.Case{Name: string(status), Status: status, DerivedMetrics: metrics})
	}
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	for _, e := range s.finish(1, "") {
		rec.Send(e)
	}
	format, err := report.Find("tap")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := format.Write(&out, rec.Run(), render.Options{}); err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(out.String(), "  ---\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("want a block for each test, got:\n%s", &out)
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "  ...\n")
		got := map[string]any{}
		if err := yaml.Unmarshal([]byte(block), &got); err != nil {
			t.Fatalf("%v\n%s", err, block)
		}
		for key := range got {
			if !strings.HasPrefix(key, "metric") {
				delete(got, key)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("metrics (-want +got):\n%s", d)
		}
	}
}
