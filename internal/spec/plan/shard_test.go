package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// shardFile describes a suite file of a generated plan.
type shardFile struct {
	tests, rows int
	extra       string
}

// shardedPlan compiles suites of echo tests: tests with one case each, and one test with
// rows if there are any.
func shardedPlan(t interface{ Fatalf(string, ...any) }, dir string, files []shardFile) *plan.Plan {
	var suites []*suite.Suite
	for i, f := range files {
		var b strings.Builder
		fmt.Fprintf(&b, "servers: {m: {command: [mcptest]}}\n%stools:\n", f.extra)
		for n := range f.tests {
			fmt.Fprintf(&b, "  - {name: test %d, tool: echo}\n", n)
		}
		if f.rows > 0 {
			b.WriteString("  - {name: row, tool: echo, cases: [" + strings.TrimSuffix(strings.Repeat("{a: 1}, ", f.rows), ", ") + "]}\n")
		}
		path := filepath.Join(dir, fmt.Sprintf("s%d.yaml", i))
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
		s, diags := suite.Load(path, suite.Options{BaseDir: dir})
		if diags.HasErrors() {
			t.Fatalf("load: %v", diags)
		}
		suites = append(suites, s)
	}
	p, diags := plan.Compile(suites, plan.Settings{})
	if diags.HasErrors() {
		t.Fatalf("compile: %v", diags)
	}
	return p
}

const (
	bracket  = "teardown: [{run: [sleep, \"0\"]}]\n"
	promised = bracket + "run_options: {parallel: 4}\n"
	inOrder  = "run_options: {parallel: false}\n"
)

// For all files, numbers of shards and recorded durations: each case is in exactly one
// shard, in plan order, and a bound file is in one shard.
func TestEachCaseIsInExactlyOneShard(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		files := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) shardFile {
			return shardFile{
				tests: rapid.IntRange(1, 6).Draw(t, "tests"), rows: rapid.IntRange(0, 9).Draw(t, "rows"),
				extra: rapid.SampledFrom([]string{"", "", bracket, promised, inOrder}).Draw(t, "extra"),
			}
		}), 1, 4).Draw(rt, "files")
		total := rapid.IntRange(1, 12).Draw(rt, "shards")
		whole := shardedPlan(rt, dir, files)
		costs := make([]plan.Costs, rapid.IntRange(0, len(files)).Draw(rt, "known files"))
		for n := range costs {
			costs[n] = plan.Costs{SetupAndTeardown: time.Duration(rapid.IntRange(0, 1000).Draw(rt, "around")) * time.Millisecond, Cases: map[string]time.Duration{}}
			for i := range whole.Len() {
				if whole.FileOf(i) == n && rapid.Bool().Draw(rt, "known") {
					costs[n].Cases[whole.Name(i)] = time.Duration(rapid.IntRange(0, 3_000_000).Draw(rt, "us")) * time.Microsecond
				}
			}
		}
		in := make([]int, whole.Len()) // place → shard
		for s := 1; s <= total; s++ {
			p := shardedPlan(rt, dir, files)
			places := p.Shard(s, total, costs)
			if !slices.IsSorted(places) || len(places) != p.Len() {
				rt.Fatalf("shard %d has the places %v and %d cases", s, places, p.Len())
			}
			for i, at := range places {
				if in[at] != 0 {
					rt.Fatalf("case %d is in the shards %d and %d", at, in[at], s)
				}
				in[at] = s
				if p.Name(i) != whole.Name(at) || p.FileOf(i) != whole.FileOf(at) {
					rt.Fatalf("shard %d: case %d is %q, at place %d there is %q", s, i, p.Name(i), at, whole.Name(at))
				}
			}
		}
		home := map[int]int{}
		for at, s := range in {
			n := whole.FileOf(at)
			if s == 0 {
				rt.Fatalf("case %d is in no shard", at)
			}
			if h, ok := home[n]; ok && whole.Files[n].Bound() && h != s {
				rt.Fatalf("file %d is bound and in the shards %d and %d", n, h, s)
			}
			home[n] = s
		}
	})
}

func TestShardsWithoutDurations(t *testing.T) {
	for s, want := range [][]int{{0, 3, 6}, {1, 4}, {2, 5}} {
		p := shardedPlan(t, t.TempDir(), []shardFile{{tests: 5, rows: 2}})
		if diff := cmp.Diff(want, p.Shard(s+1, 3, nil)); diff != "" {
			t.Errorf("shard %d (-want +got):\n%s", s+1, diff)
		}
	}
}

// The slow test has a separate shard; a test without a recorded duration counts as the
// average of the others.
func TestShardsAreBalancedByTime(t *testing.T) {
	costs := []plan.Costs{{Cases: map[string]time.Duration{
		"test 0": 10 * time.Millisecond, "test 1": 10 * time.Millisecond, "test 2": 100 * time.Millisecond, "test 3": 10 * time.Millisecond,
	}}}
	for s, want := range [][]int{{2}, {0, 1, 3, 4}} {
		p := shardedPlan(t, t.TempDir(), []shardFile{{tests: 5}})
		if diff := cmp.Diff(want, p.Shard(s+1, 2, costs)); diff != "" {
			t.Errorf("shard %d (-want +got):\n%s", s+1, diff)
		}
	}
}

func TestBound(t *testing.T) {
	for extra, want := range map[string]bool{"": false, bracket: true, promised: false, inOrder: true, "hooks: {beforeEach: 'true'}\n": false, "hooks: {afterAll: 'true'}\n": true} {
		if got := shardedPlan(t, t.TempDir(), []shardFile{{tests: 1, extra: extra}}).Files[0].Bound(); got != want {
			t.Errorf("%q: bound %v, want %v", extra, got, want)
		}
	}
}

// The duration of hooks and setup counts if the file stays in one shard.
func TestSetupDurationCounts(t *testing.T) {
	costs := []plan.Costs{{SetupAndTeardown: time.Second}, {}, {}}
	for s, want := range [][]int{{0}, {1, 2}} {
		p := shardedPlan(t, t.TempDir(), []shardFile{{tests: 1, extra: bracket}, {tests: 1}, {tests: 1}})
		if diff := cmp.Diff(want, p.Shard(s+1, 2, costs)); diff != "" {
			t.Errorf("shard %d (-want +got):\n%s", s+1, diff)
		}
	}
}
