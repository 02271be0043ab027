package jsonv_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func show(changes []jsonv.Change) []string {
	var out []string
	for _, c := range changes {
		switch c.Kind {
		case jsonv.Added:
			out = append(out, fmt.Sprintf("+%s %s", c.Path, c.Got))
		case jsonv.Removed:
			out = append(out, fmt.Sprintf("-%s %s", c.Path, c.Want))
		default:
			out = append(out, fmt.Sprintf("~%s %s -> %s", c.Path, c.Want, c.Got))
		}
	}
	return out
}

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		changes   []string
	}{
		{`{"a":1,"b":[1,2]}`, `{"b":[1.0,2],"a":1e0}`, nil},
		{`1`, `"1"`, []string{`~ 1 -> "1"`}},
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, []string{`-a 1`, `~b 2 -> 3`, `+c 4`}},
		{`[1,2,3]`, `[0,1,2,3]`, []string{`+[0] 0`}},
		{`[1,2,3]`, `[1,3]`, []string{`-[1] 2`}},
		{`[1,2,3]`, `[1,9,3]`, []string{`~[1] 2 -> 9`}},
		{`[]`, `[1,2]`, []string{`+[0] 1`, `+[1] 2`}},
		{`[{"id":1,"n":"a"},{"id":2,"n":"b"}]`, `[{"id":1,"n":"a"},{"id":2,"n":"c"}]`, []string{`~[1].n "b" -> "c"`}},
		{ // an insertion next to a change
			`{"items":[{"id":1,"n":"a"},{"id":2,"n":"b"}]}`,
			`{"items":[{"id":7,"n":"x"},{"id":1,"n":"z"},{"id":2,"n":"b"}]}`,
			[]string{`+items[0] {"id":7,"n":"x"}`, `~items[1].n "a" -> "z"`},
		},
		{`[1,2,3,4]`, `[2,3,4,5]`, []string{`-[0] 1`, `+[3] 5`}},
		{`{"a b":{"c":[[1]]}}`, `{"a b":{"c":[[2]]}}`, []string{`~["a b"].c[0][0] 1 -> 2`}},
		{`{"a":1,"a":2}`, `{"a":2}`, nil},
		{`{"a":null}`, `{}`, []string{`-a null`}},
		{`{"a":[]}`, `{"a":{}}`, []string{`~a [] -> {}`}},
	} {
		got := show(jsonv.Diff(mustParse(t, tt.want), mustParse(t, tt.got)))
		if diff := cmp.Diff(tt.changes, got); diff != "" {
			t.Errorf("Diff(%s, %s) (-want +got):\n%s", tt.want, tt.got, diff)
		}
	}
	if got := show(jsonv.Diff(jsonv.Value{}, jsonv.Int(1))); !cmp.Equal(got, []string{"+ 1"}) {
		t.Errorf("from absent: %v", got)
	}
	if got := jsonv.Diff(jsonv.Value{}, jsonv.Value{}); got != nil {
		t.Errorf("absent to absent: %v", got)
	}
}

func TestEqualProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := values(3).Draw(t, "a")
		b := edits(a).Draw(t, "b")
		if !jsonv.Equal(a, a) {
			t.Fatal("not reflexive")
		}
		equal := jsonv.Equal(a, b)
		if jsonv.Equal(b, a) != equal {
			t.Fatal("not symmetric")
		}
		if changes := jsonv.Diff(a, b); (len(changes) == 0) != equal {
			t.Fatalf("equal: %v, changes: %v", equal, show(changes))
		}
		if changes := jsonv.Diff(b, a); (len(changes) == 0) != equal {
			t.Fatalf("equal: %v, changes back: %v", equal, show(changes))
		}
	})
}

// TestDiffCountsLengths checks that additions and removals account for the
// difference in length of two lists.
func TestDiffCountsLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Map(rapid.IntRange(0, 3), func(i int) jsonv.Value { return jsonv.Int(int64(i)) })
		a := jsonv.Array(rapid.SliceOfN(small, 0, 12).Draw(t, "a")...)
		b := jsonv.Array(rapid.SliceOfN(small, 0, 12).Draw(t, "b")...)
		balance := 0
		for _, c := range jsonv.Diff(a, b) {
			switch c.Kind {
			case jsonv.Added:
				balance++
			case jsonv.Removed:
				balance--
			}
		}
		if balance != b.Len()-a.Len() {
			t.Fatalf("%s to %s: balance %d", a, b, balance)
		}
	})
}

func TestDiffIsBounded(t *testing.T) {
	row := func(n, first int) jsonv.Value {
		vals := make([]jsonv.Value, n)
		for i := range vals {
			vals[i] = jsonv.Int(int64(first + i))
		}
		return jsonv.Array(vals...)
	}
	if got := len(jsonv.Diff(row(50_000, 0), row(50_000, 1_000_000))); got != 10_000 {
		t.Errorf("%d changes", got)
	}
	// Deep lists that differ only at the bottom must not be compared anew on
	// every level.
	pad := strings.Repeat(`"pad",`, 200)
	a := mustParse(t, nested("["+pad, "1", "]", 900))
	b := mustParse(t, nested("["+pad, "2", "]", 900))
	if got := jsonv.Diff(a, b); len(got) != 1 {
		t.Errorf("%d changes", len(got))
	}
}
