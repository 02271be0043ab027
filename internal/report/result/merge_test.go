package result_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/report/result"
)

// shard makes the record of one shard, with passing cases at the given places.
func shard(t *testing.T, index, total, tests int, places []int, change ...func(*result.RunStarted)) *result.Run {
	t.Helper()
	start := result.RunStarted{
		Tool: result.Tool{Name: "mcptest", Version: "1"}, Suites: []result.Suite{{Name: "s", File: "s.yml"}},
		Started: time.Unix(int64(100*index), 0), Total: len(places),
		Shard: &result.Shard{Index: index, Total: total, Tests: tests, Digest: "d", Places: places},
	}
	for _, c := range change {
		c(&start)
	}
	events := []result.Event{start}
	for i, at := range places {
		events = append(events, result.CaseFinished{Case: &result.Case{Index: i, Name: "test " + strconv.Itoa(at), Status: result.Pass, StartMS: 1}})
	}
	if start.Shard != nil {
		events = append(events, result.Noted{Note: start.Shard.Note()})
	}
	return recorded(t, append(events, result.RunFinished{DurationMS: 50}))
}

// recorded folds events as the end of a program would have left them.
func recorded(t interface{ Fatal(...any) }, events []result.Event) *result.Run {
	_, text := record(t, events, result.RecorderOptions{})
	r, err := result.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parts(runs ...*result.Run) []result.Part {
	var out []result.Part
	for i, r := range runs {
		out = append(out, result.Part{Name: string(rune('a'+i)) + ".json", Run: r})
	}
	return out
}

func TestMergeRefuses(t *testing.T) {
	whole := func(e *result.RunStarted) { e.Shard = nil }
	other := func(e *result.RunStarted) { e.Suites = []result.Suite{{Name: "o", File: "o.yml"}} }
	edited := func(e *result.RunStarted) { e.Shard.Digest = "e" }
	half := shard(t, 2, 2, 3, []int{1})
	half.Shard.Places = []int{1, 2}
	for name, c := range map[string]struct {
		parts []result.Part
		want  string
	}{
		"nothing":      {nil, "no records to merge"},
		"a whole run":  {parts(shard(t, 1, 2, 2, []int{0, 1}, whole)), "a.json is not a shard: it contains a whole run (shards are written by runs with --shard)"},
		"missing":      {parts(shard(t, 1, 3, 3, []int{0}), shard(t, 3, 3, 3, []int{2})), "shard 2 of 3 is missing"},
		"many missing": {parts(shard(t, 3, 4, 3, []int{2})), "shards of 4 are missing: 1, 2, 4"},
		"double":       {parts(shard(t, 1, 2, 2, []int{0}), shard(t, 1, 2, 2, []int{0})), "shard 1 of 2 occurs twice: a.json and b.json"},
		"totals":       {parts(shard(t, 1, 2, 2, []int{0}), shard(t, 2, 3, 2, []int{1})), "a.json is one of 2 shards, b.json one of 3"},
		"other suites": {parts(shard(t, 1, 2, 2, []int{0}), shard(t, 2, 2, 2, []int{1}, other)), "a.json and b.json are of different suites: s.yml, and o.yml"},
		"edited":       {parts(shard(t, 1, 2, 2, []int{0}), shard(t, 2, 2, 2, []int{1}, edited)), "a.json and b.json are of different suites: the files have the same names, but their text or the selected tests differ"},
		"unfinished":   {parts(shard(t, 1, 2, 3, []int{0}), half), "b.json contains 1 of its 2 tests: its run did not finish"},
		"split twice":  {parts(shard(t, 1, 2, 2, []int{0}), shard(t, 2, 2, 2, []int{0})), `test "test 0" is in a.json and in b.json: the shards were not split by the same recorded times; give each of them the same .mcptest folder`},
		"split never":  {parts(shard(t, 1, 2, 2, []int{0}), shard(t, 2, 2, 2, nil)), "test 2 of 2 is in none of the records: the shards were not split by the same recorded times; give each of them the same .mcptest folder"},
		"damaged":      {parts(shard(t, 4, 2, 2, []int{0})), "a.json is damaged: it is shard 4 of 2, with 2 tests"},
		"out of range": {parts(shard(t, 1, 1, 2, []int{0, 7})), `a.json is damaged: test "test 7" has the position 7 of 2`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := result.Merge(c.parts)
			if err == nil {
				r.Close()
				t.Fatal("no error")
			}
			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
		})
	}
}

// A run that is split into shards in any way and merged again has the cases, counts and
// roll-ups of the original run.
func TestMergeIsTheWholeRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "cases")
		total := rapid.IntRange(1, 4).Draw(t, "shards")
		places := make([][]int, total)
		cases := make([][]*result.Case, total)
		started := result.RunStarted{Tool: result.Tool{Name: "mcptest"}, Suites: []result.Suite{{Name: "s", File: "s"}}, Started: time.Unix(1e9, 0), Total: n}
		whole := []result.Event{started}
		for i := range n {
			c := drawCase(t, i)
			mine := *c
			s := rapid.IntRange(0, total-1).Draw(t, "shard")
			places[s] = append(places[s], i)
			mine.Index = len(places[s]) - 1
			cases[s] = append(cases[s], &mine)
			whole = append(whole, result.CaseFinished{Case: c})
		}
		want := recorded(t, append(whole, result.RunFinished{DurationMS: 7}))
		var all []result.Part
		for s := range total {
			begin := started
			begin.Total = len(places[s])
			begin.Shard = &result.Shard{Index: s + 1, Total: total, Tests: n, Digest: "d", Places: places[s]}
			events := []result.Event{begin}
			for _, c := range cases[s] {
				events = append(events, result.CaseFinished{Case: c})
			}
			all = append(all, result.Part{Name: strconv.Itoa(s), Run: recorded(t, append(events, result.RunFinished{DurationMS: 7}))})
		}
		got, err := result.Merge(rapid.Permutation(all).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		got.Notes = nil
		if d := cmp.Diff(toJSON(t, want), toJSON(t, got)); d != "" {
			t.Fatal(d)
		}
	})
}

// Data that belongs to no case is merged too: times count from the first start, the worst
// exit code is used, and equal messages of all shards occur once.
func TestMergeRunData(t *testing.T) {
	stale := result.Finding{Kind: "baseline", Severity: "error", Message: "stale"}
	warning := result.Finding{Kind: "load-warning", Severity: "warning", Message: "a short secret"}
	ended := func(index, exit int, name string) *result.Run {
		return recorded(t, []result.Event{
			result.RunStarted{
				Tool: result.Tool{Name: "mcptest", Version: "1." + name}, Started: time.Unix(int64(10-index), 0), Total: 1, Parallel: index,
				Shard: &result.Shard{Index: index, Total: 2, Tests: 2, Digest: "d", Places: []int{2 - index}},
			},
			result.ServerUp{Server: result.Server{Name: "api", Transport: "stdio"}},
			result.PhaseFinished{Phase: result.Phase{Phase: "setup", Name: name, Status: result.Pass, StartMS: 5}},
			result.CaseFinished{Case: &result.Case{Name: name, Status: result.Pass, Flaky: true, StartMS: 1, Phases: []result.Phase{{Phase: "beforeEach", StartMS: 2, Status: result.Pass}}}},
			result.FindingSeen{Finding: warning},
			result.FindingSeen{Finding: stale},
			result.FindingSeen{Finding: result.NewFlakyFinding([]string{name})},
			result.ServerDown{Server: result.Server{Name: "api", Exit: "exit 0"}},
			result.RunFinished{DurationMS: 500, ExitCode: exit},
		})
	}
	got, err := result.Merge(parts(ended(1, 1, "x"), ended(2, 2, "y")))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	var names []string
	var starts []float64
	for c, err := range got.Cases.All() {
		if err != nil {
			t.Fatal(err)
		}
		names, starts = append(names, c.Name), append(starts, c.StartMS, c.Phases[0].StartMS)
	}
	for what, diff := range map[string]string{
		"names":  cmp.Diff([]string{"y", "x"}, names),
		"starts": cmp.Diff([]float64{1, 2, 1001, 1002}, starts),
		"phases": cmp.Diff([]result.Phase{{Phase: "setup", Name: "y", Status: result.Pass, StartMS: 5}, {Phase: "setup", Name: "x", Status: result.Pass, StartMS: 1005}}, got.Phases),
		"findings": cmp.Diff([]result.Finding{warning, stale, {
			Kind: "flaky", Severity: "error", Message: "2 tests passed only after a retry (--fail-on-flaky): x, y",
		}}, got.Findings),
		"servers":     cmp.Diff([]result.Server{{Name: "api", Transport: "stdio", Starts: 2, Exit: "exit 0"}}, got.Servers),
		"notes":       cmp.Diff([]string{"merged from 2 shards", "the shards were run by different versions: 1.x, 1.y"}, got.Notes),
		"exit code":   cmp.Diff(2, got.ExitCode),
		"duration":    cmp.Diff(1500.0, got.DurationMS),
		"parallel":    cmp.Diff(2, got.Parallel),
		"no shard":    cmp.Diff(true, got.Shard == nil),
		"its warning": cmp.Diff(1, got.Summary.Warnings),
	} {
		if diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// Every field of the start of a shard is that of the whole run, unless it is about the
// shard.
func TestMergeOfOneShard(t *testing.T) {
	var started result.RunStarted
	part := shard(t, 1, 1, 2, []int{0, 1}, func(s *result.RunStarted) {
		written := *s
		fill(reflect.ValueOf(s).Elem(), 0)
		s.Shard, s.Total, s.Started, s.Suites[0].Name = written.Shard, written.Total, written.Started, "s"
		started = *s
	})
	r, err := result.Merge(parts(part))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Summary.Total != 2 || !slices.Equal(r.Notes, []string{"merged from 1 shard"}) {
		t.Errorf("%d tests, notes %q", r.Summary.Total, r.Notes)
	}
	for i := range reflect.TypeOf(started).NumField() {
		name := reflect.TypeOf(started).Field(i).Name
		if name == "Shard" || name == "Total" {
			continue
		}
		want, got := reflect.ValueOf(*part).FieldByName(name), reflect.ValueOf(*r).FieldByName(name)
		if d := cmp.Diff(want.Interface(), got.Interface()); d != "" {
			t.Errorf("%s is lost in Merge: %s", name, d)
		}
	}
}

// Coverage by one shard counts for all; the minimums are judged once.
func TestMergeCoverage(t *testing.T) {
	least := 60
	covering := func(partial string, total int, missing ...string) *result.Run {
		r := shard(t, 1, 1, 0, []int{})
		r.Coverage = &result.Coverage{Partial: partial, Servers: []result.ServerCoverage{{
			Server: "a", Parts: []result.Covered{{Of: result.Tools, Covered: total - len(missing), Total: total, Minimum: &least, Missing: missing}},
			Unasserted: missing[:min(1, len(missing))],
		}}}
		for _, name := range missing {
			r.Coverage.Servers[0].Skeletons = append(r.Coverage.Servers[0].Skeletons, result.Skeleton{Of: result.Tools, Name: name})
		}
		return r
	}
	failed := covering("", 4, "x")
	failed.ExitCode = 1
	other := covering("", 4, "z")
	other.Coverage.Servers[0].Server = "b"
	for name, c := range map[string]struct {
		runs []*result.Run
		exit int
		want string // servers and findings
	}{
		"reached":      {[]*result.Run{covering("", 4, "x", "y"), covering("", 4, "y", "z", "w")}, 0, "a 3/4 [y] [y] [y]"},
		"missed":       {[]*result.Run{covering("", 4, "x", "y", "z"), covering("", 4, "x", "y")}, 6, "a 2/4 [x y] [x] [x y] tools: the minimum is 60 %, and the coverage is 2 of 4 (50 %)"},
		"not judged":   {[]*result.Run{covering("", 4, "x", "y"), covering("a filter", 4, "x", "y")}, 0, "a 2/4 [x y] [x] [x y]"},
		"after all":    {[]*result.Run{covering("", 4, "x", "y"), failed}, 1, "a 3/4 [x] [x] [x]"},
		"two servers":  {[]*result.Run{other, covering("", 4, "x")}, 0, "a 3/4 [x] [x] [x] b 3/4 [z] [z] [z]"},
		"other offers": {[]*result.Run{covering("", 4, "x"), covering("", 5, "x")}, 6, "a 3/4 [x] [x] [x] tools: the minimum is 60 %, and the coverage is unknown, because the server offered 4 tools to one shard and 5 to another"},
		"not measured": {[]*result.Run{shard(t, 1, 1, 0, []int{}), shard(t, 1, 1, 0, []int{})}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for i, r := range c.runs {
				r.Shard.Index, r.Shard.Total = i+1, len(c.runs)
			}
			r, err := result.Merge(parts(c.runs...))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var got []string
			if r.Coverage != nil {
				for _, s := range r.Coverage.Servers {
					p := s.Parts[0]
					drafts := []string{}
					for _, k := range s.Skeletons {
						drafts = append(drafts, k.Name)
					}
					got = append(got, fmt.Sprintf("%s %d/%d %v %v %v", s.Server, p.Covered, p.Total, p.Missing, s.Unasserted, drafts))
				}
			}
			for _, f := range r.Findings {
				got = append(got, f.Message)
			}
			if strings.Join(got, " ") != c.want || r.ExitCode != c.exit {
				t.Errorf("exit %d, %s\nexpected %d, %s", r.ExitCode, strings.Join(got, " "), c.exit, c.want)
			}
		})
	}
}
