package aql_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// dialer serves a handler in-process, anew for every session.
func dialer(t testing.TB, serve func(variant string) mcpserver.Handler) func(context.Context, string) (*mcp.Session, error) {
	return func(ctx context.Context, variant string) (*mcp.Session, error) {
		h := serve(variant)
		if h == nil {
			return nil, nil
		}
		client, server := wire.NewPipe()
		go func() {
			_ = mcpserver.ServeStdio(context.Background(), server, server, h)
			_ = server.Close()
		}()
		return mcp.Open(ctx, client, mcp.Options{ConnectTimeout: 5 * time.Second})
	}
}

var launches = struct {
	sync.Mutex
	n int
}{}

func library(t testing.TB, o demo.Options) func(context.Context, string) (*mcp.Session, error) {
	return dialer(t, func(variant string) mcpserver.Handler {
		o := o
		if variant != "" {
			if variant == "semantic" {
				return nil
			}
			o.Mode = variant
		}
		launches.Lock()
		launches.n++
		o.Launch = fmt.Sprint(launches.n)
		launches.Unlock()
		a, err := demo.New(o)
		if err != nil {
			t.Error(err)
			return nil
		}
		return a
	})
}

// collect runs live against a dialer, and reads the bundle as it is written.
// The clock is synctest's, so that limits of time cost none; a run that asks a
// model over HTTP needs the real one.
func collect(t *testing.T, o guard.Options) *evidence.Evidence {
	t.Helper()
	e, _ := collectTimed(t, o)
	return e
}

// collectTimed is collect that also returns how long the run took by its clock.
func collectTimed(t *testing.T, o guard.Options) (e *evidence.Evidence, took time.Duration) {
	t.Helper()
	if o.Spread == 0 {
		o.Spread = time.Millisecond
	}
	var err error
	run := func(*testing.T) {
		begin := time.Now()
		e, err = live.Collect(context.Background(), o)
		took = time.Since(begin)
	}
	if o.Asking.Model == nil {
		synctest.Test(t, func(t *testing.T) {
			run(t)
			<-time.After(2 * hang) // every handler has ended
		})
	} else {
		run(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	return readBundle(t, "live.json", e.JSON().Indent("", " ")), took
}

// hang is how long handlers that hang do so, by the clock of synctest.
const hang = time.Hour

func judgeLive(e *evidence.Evidence) *verdict.Report {
	return aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict})
}

// rowsByID maps a report's rows to the ids of their tests.
func rowsByID(r *verdict.Report) map[string]verdict.TestResult {
	out := map[string]verdict.TestResult{}
	for _, c := range r.Categories {
		for _, row := range c.Tests {
			for _, known := range rule.Tests() {
				if known.Category == c.Name && known.Name == row.Name {
					out[known.ID] = row
				}
			}
		}
	}
	for _, n := range r.NotApplicable {
		for _, known := range rule.Tests() {
			if known.Category == n.Category && known.Name == n.Test {
				out[known.ID] = verdict.TestResult{Name: n.Test, Result: verdict.Skipped, Detail: n.Reason}
			}
		}
	}
	return out
}

func TestConformantAdapter(t *testing.T) {
	t.Parallel()
	e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Mode: guard.ModeWrite})
	for _, level := range []int{1, 2} {
		r := aql.Evaluate(e, aql.Options{Level: level, Rules: rule.Strict})
		for _, c := range r.Categories {
			for _, row := range c.Tests {
				skipped := row.Result == verdict.Skipped && row.Name == "EXECUTE operations answer with a state"
				if row.Result != verdict.Pass && !skipped || len(row.Missing) > 0 {
					t.Errorf("level %d: %s: %s: %s", level, row.Result, row.Name, row.Detail)
				}
			}
			if c.Result != verdict.Pass && (c.Name != rule.Semantic || c.Result != verdict.Skipped) {
				t.Errorf("level %d: %s is %s (%s)", level, c.Name, c.Result, c.Note)
			}
		}
		if r.Summary.Skipped != 1 || r.Summary.Failed+r.Summary.Warned > 0 || len(r.NotApplicable) == 0 {
			t.Errorf("level %d: %s, and %v does not apply", level, r.Summary, r.NotApplicable)
		}
		for _, text := range []string{string(r.FormatText()), string(r.FormatMarkdown()), string(r.FormatJSON())} {
			for _, n := range r.NotApplicable {
				if !strings.Contains(text, n.Test) || !strings.Contains(text, n.Reason) {
					t.Errorf("level %d: %s is not reported:\n%s", level, n.Test, text)
				}
			}
		}
		if r.ExitCode != 0 || r.AchievedLevel != level || !r.Complete {
			t.Errorf("level %d: exit %d, achieved %d, complete %v", level, r.ExitCode, r.AchievedLevel, r.Complete)
		}
	}
	if n := e.Live.Lookup("leftovers").Len(); n != 0 {
		t.Errorf("%d leftovers", n)
	}
	calls, _ := e.Live.Lookup("calls").Int64()
	t.Logf("%d calls", calls)
}

func TestSafeModeCallsNothingAboveRiskZero(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := collect(t, guard.Options{Dial: library(t, demo.Options{Log: &log})})
	onlyReads(t, log.String())
	r := judgeLive(e)
	if got := categories(r)[rule.RoundTrip]; got != verdict.Skipped {
		t.Errorf("round trips are %s", got)
	}
	if r.Complete || r.AchievedLevel != 0 || r.ExitCode == 1 {
		t.Errorf("complete %v, achieved %d, exit %d", r.Complete, r.AchievedLevel, r.ExitCode)
	}
	for id, row := range rowsByID(r) {
		if row.Result == verdict.Failed || row.Result == verdict.Warned {
			t.Errorf("%s: %s: %s", id, row.Result, row.Detail)
		}
	}
	for _, n := range r.NotApplicable { // what was not examined may apply
		if n.Test == "Append-only data is not changed" || n.Test == "Confirmation tokens are good for one call" {
			t.Errorf("%s does not apply: %s", n.Test, n.Reason)
		}
	}
	if r.Coverage.SkippedByPolicy != 7 || r.Coverage.Probed == 0 {
		t.Errorf("coverage %+v", r.Coverage)
	}
}

// onlyReads holds an adapter's own log against the promise of safe mode: what
// was called does nothing but read, regardless of its declaration.
func onlyReads(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		v, err := jsonv.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Lookup("does").Text(); got != "read" {
			t.Errorf("called %s", line)
		}
	}
	if log == "" {
		t.Error("nothing was called at all")
	}
}

// An adapter that is wrong about itself is not harmed either.
func TestSafeModeIgnoresDeclarations(t *testing.T) {
	t.Parallel()
	for j, mode := range []string{demo.ModeAll, demo.ModeSingle} {
		for i, d := range demo.Defects() {
			if raceEnabled && i%8 != 0 || !testkit.Deep() && i%16 != 8*j {
				continue // what is looked for is no race
			}
			t.Run(mode+" "+d.Name, func(t *testing.T) {
				var log bytes.Buffer
				collect(t, guard.Options{Dial: library(t, demo.Options{Log: &log, Mode: mode, Defects: []string{d.Name}})})
				onlyReads(t, log.String())
			})
		}
	}
}

// What existed before a run is as it was after it, in every mode.
func TestNothingOfOthersIsTouched(t *testing.T) {
	t.Parallel()
	for j, mode := range []string{guard.ModeWrite, guard.ModeFull} {
		for i, d := range append(demo.Defects(), demo.Defect{}) {
			telling := []string{"consistency", "confirmation", "deleted", "routing", "required"}
			aboutItself := d.Name == "" || slices.ContainsFunc(d.Rows, func(row string) bool { return slices.Contains(telling, row) })
			part := !raceEnabled && (testkit.Deep() || i%8 == 4*j) || d.Name == ""
			if d.Name == "reading-writes" || !aboutItself || !part {
				continue
			}
			t.Run(mode+" "+d.Name, func(t *testing.T) {
				t.Parallel()
				state := t.TempDir() + "/library.json"
				o := demo.Options{State: state}
				if d.Name != "" {
					o.Defects = []string{d.Name}
				}
				if _, err := demo.New(o); err != nil { // writes the file
					t.Fatal(err)
				}
				before, _ := itemsIn(t, state)
				e := collect(t, guard.Options{Dial: library(t, o), Mode: mode})
				after, ours := itemsIn(t, state)
				if diff := cmp.Diff(before, after); diff != "" {
					t.Error(diff)
				}
				if left := e.Live.Lookup("leftovers"); left.Len() != ours {
					t.Errorf("%d things are left, and the run tells of %s", ours, left)
				}
			})
		}
	}
}

// shared serves one library to every session, as an adapter over HTTP does.
func shared(t testing.TB, o demo.Options) func(context.Context, string) (*mcp.Session, error) {
	a, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return a.NewSession()
	})
}

// Each defect changes its rows and no others.
func TestDefectsFlipTheirRows(t *testing.T) {
	t.Parallel()
	look := func(t *testing.T, feature string, http bool, defects ...string) map[string]verdict.TestResult {
		o := demo.Options{Defects: defects}
		dial := library
		if feature != "" && feature != "stress" {
			o.Features = []string{feature}
		}
		if http { // as the page of defects says
			dial = shared
		}
		mode := guard.ModeWrite
		if feature == "executions" {
			mode = guard.ModeFull
		}
		return rowsByID(judgeLive(collect(t, guard.Options{Dial: dial(t, o), Mode: mode, Confirm: feature == "confirm", Stress: feature == "stress", Follow: 100 * time.Millisecond})))
	}
	type run struct {
		feature string
		http    bool
	}
	conformant := map[run]map[string]verdict.TestResult{}
	for i, d := range demo.Defects() {
		if (raceEnabled || !testkit.Deep()) && i%6 != 0 {
			continue
		}
		as := run{d.Feature, overHTTP(d)}
		if conformant[as] == nil {
			conformant[as] = look(t, as.feature, as.http)
		}
		before := conformant[as]
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			want := map[string]bool{}
			for _, id := range d.Rows {
				want[id] = true
			}
			for id, row := range look(t, as.feature, as.http, d.Name) {
				switch changed := row.Result != before[id].Result; {
				case changed && !want[id]:
					t.Errorf("%s is %s: %s", id, row.Result, row.Detail)
				case !changed && want[id]:
					t.Errorf("%s is still %s", id, row.Result)
				case changed && row.Result == verdict.Skipped && row.Detail == "":
					t.Errorf("%s is skipped without a reason", id)
				}
			}
		})
	}
}

// A library with any of the features conforms too.
func TestFeaturesConform(t *testing.T) {
	t.Parallel()
	for _, f := range demo.Features() {
		for _, confirm := range []bool{true, false} {
			if !confirm && f.Name != "confirm" {
				continue
			}
			t.Run(fmt.Sprint(f.Name, " ", confirm), func(t *testing.T) {
				state := t.TempDir() + "/library.json"
				o := demo.Options{Features: []string{f.Name}, State: state}
				if _, err := demo.New(o); err != nil { // writes the file
					t.Fatal(err)
				}
				before, _ := itemsIn(t, state)
				e := collect(t, guard.Options{Dial: shared(t, o), Mode: guard.ModeWrite, Confirm: confirm})
				for id, row := range rowsByID(judgeLive(e)) {
					if row.Result == verdict.Failed || row.Result == verdict.Warned && id != "modes" || row.Result == verdict.Skipped && f.Name == "confirm" && confirm && id == "confirmation" {
						t.Errorf("%s: %s: %s", id, row.Result, row.Detail)
					}
				}
				after, ours := itemsIn(t, state)
				if diff := cmp.Diff(before, after); diff != "" || ours > 0 {
					t.Errorf("%d left\n%s", ours, diff)
				}
				if left := e.Live.Lookup("leftovers"); left.Len() > 0 {
					t.Errorf("left behind: %s", left)
				}
			})
		}
	}
}

func TestSeventyFiveOperations(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	e := collect(t, guard.Options{Dial: library(t, demo.Options{Operations: 75}), Mode: guard.ModeWrite, MaxCalls: 20000})
	if r := judgeLive(e); r.AchievedLevel != 2 || r.Coverage.OperationsTotal != 75 {
		t.Errorf("achieved %d, coverage %+v\n%s", r.AchievedLevel, r.Coverage, r.FormatText())
	}
	took := time.Since(begin)
	calls, _ := e.Live.Lookup("calls").Int64()
	t.Logf("%d calls, %s", calls, took)
	if took > 60*time.Second && !raceEnabled {
		t.Errorf("took %s", took)
	}
}

// What the normative document demands fails when the user says so.
func TestNormative(t *testing.T) {
	t.Parallel()
	for defect, id := range map[string]string{"update-flat": "input", "unknown-warned": "unknown", "limits-code": ""} {
		e := collect(t, guard.Options{Dial: library(t, demo.Options{Defects: []string{defect}}), Mode: guard.ModeWrite})
		mild := aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict})
		hard := aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict, Normative: true})
		if id == "" { // a run that shows nothing
			if hard.ExitCode != 0 {
				t.Errorf("%s: exit %d\n%s", defect, hard.ExitCode, hard.FormatText())
			}
			continue
		}
		if got := rowsByID(mild)[id].Result; got != verdict.Warned {
			t.Errorf("%s: %s is %s", defect, id, got)
		}
		if got := rowsByID(hard)[id].Result; got != verdict.Failed || hard.ExitCode != 1 || !hard.Normative {
			t.Errorf("%s: %s is %s, exit %d, normative %v", defect, id, got, hard.ExitCode, hard.Normative)
		}
	}
}

// A bundle of what was called alone passes the prototype's rules, and claims
// nothing about the rest.
func TestProbedBundle(t *testing.T) {
	t.Parallel()
	for _, probed := range []bool{false, true} {
		if probed {
			e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Mode: guard.ModeWrite, Probed: true})
			for _, rules := range []rule.Set{rule.Reference, rule.Strict} {
				if r := aql.Evaluate(e, aql.Options{Level: 1, Rules: rules}); r.ExitCode == 1 {
					t.Errorf("mode write: exit 1\n%s", r.FormatText())
				}
			}
		}
		e := collect(t, guard.Options{Dial: library(t, demo.Options{}), Probed: probed})
		r := aql.Evaluate(e, aql.Options{Level: 1, Rules: rule.Reference})
		if want := verdict.Failed; !probed && rowsByID(r)["required"].Result != want {
			t.Errorf("whole bundle: required is %s", rowsByID(r)["required"].Result)
		}
		if probed && r.ExitCode == 1 {
			t.Errorf("exit %d\n%s", r.ExitCode, r.FormatText())
		}
		strict := aql.Evaluate(e, aql.Options{Level: 1, Rules: rule.Strict})
		if strict.ExitCode == 1 || strict.Complete || strict.AchievedLevel != 0 {
			t.Errorf("probed %v: exit %d, complete %v, achieved %d", probed, strict.ExitCode, strict.Complete, strict.AchievedLevel)
		}
	}
}

// A run in full mode ends what it started, and tells of what it cannot end.
func TestExecutionsAreAborted(t *testing.T) {
	t.Parallel()
	for defect, want := range map[string]string{"": "", "execution-endless": "", "abort-refused": "it could not be aborted: PERMISSION_DENIED"} {
		o := demo.Options{Features: []string{"executions"}}
		if defect != "" {
			o.Defects = []string{defect}
		}
		e := collect(t, guard.Options{Dial: shared(t, o), Mode: guard.ModeFull, Follow: 100 * time.Millisecond})
		left := e.Live.Lookup("leftovers")
		if (left.Len() > 0) != (want != "") || !strings.Contains(left.String(), want) {
			t.Errorf("%q: left behind: %s", defect, left)
		}
		if r := judgeLive(e); want == "" && (r.AchievedLevel == 0 || !r.Complete) {
			t.Errorf("%q: achieved %d, complete %v\n%s", defect, r.AchievedLevel, r.Complete, r.FormatText())
		}
	}
}
