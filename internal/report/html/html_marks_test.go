package html

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/report/result"
)

// TestMarkedLinesHoldBothValues: what is unmarked and expected is the expected
// value, what is unmarked and actual is the response; nothing is lost or made up.
func TestMarkedLinesHoldBothValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, got := container(t, 3, "want"), container(t, 3, "got")
		lines := markDifferences(&result.Assertion{Matcher: "exact", Expected: want.String(), Actual: got.String()})
		if want.Kind() != got.Kind() {
			if lines != nil {
				t.Fatalf("values of different kinds were compared: %v", lines)
			}
			return
		}
		for _, side := range []struct {
			class string
			value jsonv.Value
		}{{"del", want}, {"add", got}} {
			var texts []string
			for _, l := range lines {
				if l.Class == "eq" || l.Class == side.class {
					texts = append(texts, strings.TrimSuffix(l.Text, ","))
				}
			}
			whole := strings.Split(string(side.value.Indent("", "  ")), "\n")
			for i := range whole {
				whole[i] = strings.TrimSuffix(whole[i], ",")
			}
			slices.Sort(texts)
			slices.Sort(whole)
			if diff := cmp.Diff(whole, texts); diff != "" {
				t.Fatalf("%s of %s and %s (-value +lines):\n%s", side.class, want, got, diff)
			}
		}
	})
}

// TestMarkedSubset: members that a subset does not name are no difference.
func TestMarkedSubset(t *testing.T) {
	got := markDifferences(&result.Assertion{Matcher: "subset", Expected: `{"a":{"b":1}}`, Actual: `{"a":{"b":2,"c":3},"d":4}`})
	want := []markedLine{{"eq", "{"}, {"eq", `  "a": {`}, {"del", `    "b": 1,`}, {"add", `    "b": 2,`}, {"eq", `    "c": 3`}, {"eq", "  },"}, {"eq", `  "d": 4`}, {"eq", "}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lines := markDifferences(&result.Assertion{Matcher: "exact", Expected: `{"a":1}`, Actual: `{"a":…`}); lines != nil {
		t.Errorf("a shortened value was compared: %v", lines)
	}
}

func container(t *rapid.T, depth int, label string) jsonv.Value {
	if rapid.Bool().Draw(t, label+" array") {
		return array(t, depth, label)
	}
	return object(t, depth, label)
}

func object(t *rapid.T, depth int, label string) jsonv.Value {
	var members []jsonv.Member
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID).Draw(t, label+" keys") {
		members = append(members, jsonv.Member{Key: key, Value: value(t, depth-1, label+"."+key)})
	}
	return jsonv.Object(members...)
}

func array(t *rapid.T, depth int, label string) jsonv.Value {
	var elems []jsonv.Value
	for range rapid.IntRange(0, 3).Draw(t, label+" length") {
		elems = append(elems, value(t, depth-1, label+"[]"))
	}
	return jsonv.Array(elems...)
}

func value(t *rapid.T, depth int, label string) jsonv.Value {
	switch n := rapid.IntRange(0, 3).Draw(t, label); {
	case n == 0 && depth > 0:
		return object(t, depth, label)
	case n == 1 && depth > 0:
		return array(t, depth, label)
	case n == 2:
		return jsonv.String(rapid.SampledFrom([]string{"x", "y", "{"}).Draw(t, label+" text"))
	}
	return jsonv.Bool(rapid.Bool().Draw(t, label+" bool"))
}

// TestFailuresInTheBar: each of a few failures has a segment of at least 1.2 % of the
// bar, no segment is outside, and the shares of all others are kept.
func TestFailuresInTheBar(t *testing.T) {
	for _, c := range []struct {
		sum                result.Summary
		fail, error, total int // segments
	}{
		{result.Summary{Total: 5000, Passed: 4998, Failed: 2}, 2, 0, 3},
		{result.Summary{Total: 5000, Passed: 4900, Failed: 1, Errored: 3, Skipped: 96}, 1, 3, 6},
		{result.Summary{Total: 5000, Passed: 4979, Failed: 21}, 1, 0, 2},
		{result.Summary{Total: 3, Failed: 3}, 3, 0, 3},
		{result.Summary{Total: 40, Failed: 20, Errored: 20}, 20, 20, 40},
	} {
		bars := (&htmlPage{Run: &result.Run{Summary: c.sum}}).Ratio()
		count := map[string]int{}
		end := 0.0
		for _, b := range bars {
			count[b.Class]++
			if float64(b.X) < end-0.01 || b.W < 1 || float64(b.X+b.W) > 1000.01 || (b.Class == "fail" || b.Class == "error") && b.W < 10 {
				t.Errorf("%+v: segment %s from %v, %v wide", c.sum, b.Class, b.X, b.W)
			}
			end = float64(b.X + b.W)
		}
		if count["fail"] != c.fail || count["error"] != c.error || len(bars) != c.total || end < 995 {
			t.Errorf("%+v: segments %v up to %v", c.sum, count, end)
		}
	}
}
