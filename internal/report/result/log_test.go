package result_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcptest/internal/report/result"
)

// record sends events to a recorder and returns the log and the JSON record.
func record(t interface{ Fatal(...any) }, events []result.Event, o result.RecorderOptions) (log, record string) {
	var lb, rb bytes.Buffer
	lw := result.NewLogWriter(&lb)
	o.Listeners = append(o.Listeners, lw)
	rec := result.NewRecorder(o)
	defer rec.Close()
	for _, e := range events {
		rec.Send(e)
	}
	if err := rec.Err(); err != nil {
		t.Fatal(err)
	}
	if err := lw.Err(); err != nil {
		t.Fatal(err)
	}
	if err := result.WriteJSON(&rb, rec.Run()); err != nil {
		t.Fatal(err)
	}
	return lb.String(), rb.String()
}

func toJSON(t interface{ Fatal(...any) }, r *result.Run) string {
	var b bytes.Buffer
	if err := result.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFoldOfLogIsRecord checks the guarantee of the event stream: the live record, the
// record folded from the log, the record read back, and one from a log of the record are
// the same bytes.
func TestFoldOfLogIsRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, live := record(t, drawEvents(t), result.RecorderOptions{})
		folded, err := result.Fold(strings.NewReader(log))
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		defer folded.Close()
		if d := cmp.Diff(live, toJSON(t, folded)); d != "" {
			t.Fatal(d)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(toJSON(t, folded))); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{compact.String(), toJSON(t, folded)} {
			back, err := result.Read(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(live, toJSON(t, back)); d != "" {
				t.Fatal(d)
			}
			back.Close()
		}
		var second bytes.Buffer
		if err := result.WriteLog(&second, folded, nil); err != nil {
			t.Fatal(err)
		}
		again, err := result.Read(&second)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if d := cmp.Diff(live, toJSON(t, again)); d != "" {
			t.Fatal(d)
		}
	})
}

// TestOrderOfEndingDoesNotMatter: the record of a parallel run is the one of
// a serial run.
func TestOrderOfEndingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		var cases []*result.Case
		for i := range n {
			cases = append(cases, drawCase(t, i))
		}
		var want string
		for _, order := range [][]int{count(n), rapid.Permutation(count(n)).Draw(t, "order")} {
			events := []result.Event{result.RunStarted{Total: n}}
			for _, i := range order {
				c := *cases[i]
				events = append(events, result.CaseFinished{Case: &c})
			}
			_, got := record(t, append(events, result.RunFinished{}), result.RecorderOptions{})
			if want == "" {
				want = got
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestFoldOfCutLog(t *testing.T) {
	events := []result.Event{
		result.RunStarted{Total: 3},
		result.CaseFinished{Case: smallCase(0)},
		result.CaseFinished{Case: smallCase(1)},
		result.CaseFinished{Case: smallCase(2)},
		result.RunFinished{DurationMS: 5},
	}
	log, _ := record(t, events, result.RecorderOptions{})
	lines := strings.SplitAfter(log, "\n")
	cut := strings.Join(lines[:2], "") + lines[2][:40]
	r, err := result.Fold(strings.NewReader(cut))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const want = "the record ends before the run does: it has 1 of 3 tests"
	if r.Summary.Total != 1 || r.ExitCode != 1 || len(r.Findings) != 1 || r.Findings[0].Message != want || r.DescribeUnfinished() != want {
		t.Errorf("got %+v, exit %d, findings %v", r.Summary, r.ExitCode, r.Findings)
	}

	_, err = result.Fold(strings.NewReader(strings.Join(append(lines[:1:1], lines[2:]...), "")))
	if err == nil || err.Error() != "the log is damaged: it announces 3 tests, but contains 2" {
		t.Errorf("a log with a hole: %v", err)
	}
}

func TestFoldFaults(t *testing.T) {
	const start = `{"event":"run_started","schema":"mcptest.run/v1","tool":{"name":"x","version":"1"},"suites":null,"started":"2026-01-01T00:00:00Z","total":1,"parallel":1}` + "\n"
	for name, tc := range map[string]struct{ log, want string }{
		"empty":         {"", "no run_started event"},
		"not a log":     {`{"event":"note","note":"x"}` + "\n", `line 1: event "note" before run_started`},
		"other schema":  {strings.Replace(start, "run/v1", "run/v9", 1), `line 1: schema "mcptest.run/v9": this program reads "mcptest.run/v1"`},
		"two starts":    {start + start, "line 2: a second run_started"},
		"bad line":      {start + "{\n" + start, "line 2: unexpected end of JSON input"},
		"bad status":    {start + `{"event":"test_finished","index":0,"test":{"name":"a","status":"great"}}` + "\n", `status "great": must be pass, fail, error, skip or inconclusive`},
		"twice":         {start + strings.Repeat(`{"event":"test_finished","index":0,"test":{"name":"a","status":"pass"}}`+"\n", 2), `line 3: test "a" (index 0) ended twice`},
		"huge index":    {start + `{"event":"test_finished","index":4000000000,"test":{"name":"a","status":"pass"}}` + "\n", "outside 0 to"},
		"wrong type":    {start + `{"event":"finding","finding":{"line":"x"}}` + "\n", "line 2: finding.line: unexpected string"},
		"after the end": {start + `{"event":"run_finished"}` + "\n" + `{"event":"note","note":"x"}` + "\n", "line 3: event \"note\" after run_finished"},
		"late event":    {start + `{"test":{},"event":"test_finished"}` + "\n", `no "status"`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := result.Fold(strings.NewReader(tc.log))
			if err == nil {
				r.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q, want %q in it", err, tc.want)
			}
		})
	}
	// Events and members of a later version are accepted.
	r, err := result.Fold(strings.NewReader(start + `{"event":"cost_seen","cost":3}` + "\n" + `{"event":"test_finished","index":0,"test":{"name":"a","status":"pass","new":{}}}` + "\n" + `{"event":"run_finished","exit_code":0,"new":[1]}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}

func FuzzFold(f *testing.F) {
	log, rec := record(f, []result.Event{
		result.RunStarted{Total: 1},
		result.ServerUp{},
		result.PhaseFinished{},
		result.CaseFinished{Case: smallCase(0)},
		result.FindingSeen{},
		result.Noted{Note: "n"},
		result.RunFinished{},
	}, result.RecorderOptions{})
	f.Add(log)
	f.Add(rec)
	// Each seed reaches code that no other seed does.
	for _, seed := range []string{
		"{\"\xa4a\":\"st.run/v1\",\"too\xa4\xa4\xa4\xa4\xa4mme\xa4\"",
		"{\"event\":\"_s\\",
		"{\"event\":\"run_started\",\"schema\":\"mcptest.run/v1\"}\n{\"event\":\"test_finished\"}",
		"{\"schema\":\"mcptest.run/v1\",\"summary\":{\"totAl\":1},\"tests\":[{}]}",
		"0",
		"{\"schema\":\"mcptest.run/v1\",\"summary\":{\"totAl\":1},\"t\x81sts\":[{}]}",
		"{\"event\":\"rted\x96\x96\x96\x96.ru\xd0\xd0\xd0\xd0\xd0n/v1\"}",
		"{\"ema\":\"mcptest.run/v1\",\"tool\":{\"name\":\"\",\"version\":\"\"},\"staeted\":\"0001-01-01T00:00:00Z\",\"duration_ms\":0,\"exit_code\":0,\"summary\":{\"total\":1,\r\"passed\":1,\"failed\":0,\"errored\":0,\"skipped\":0}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := result.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		defer r.Close()
		out := toJSON(t, r)
		back, err := result.ReadJSON(strings.NewReader(out))
		if err != nil {
			t.Fatalf("can't read what was written: %v\n%s", err, out)
		}
		back.Close()
	})
}
