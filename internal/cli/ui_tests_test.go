package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// testedSuite has a test of each verdict, two with names that begin alike, and one of a tool
// that may change something.
const testedSuite = `servers: {c: {command: [counting, log]}}
tools:
  - {name: reads, tool: read, tags: [quick], expect: [{target: text, matcher: {exact: done read}}]}
  - {name: reads more, tool: read, expect: [{target: text, matcher: {exact: other}}]}
  - {name: writes, tool: write, expect: [{target: text, matcher: {exact: done write}}]}
  - name: rows
    tool: read
    cases: [{n: 1}, {n: 2}]
    args: {n: "${case.n}"}
    expect: [{target: text, matcher: {exact: done read}}]
  - {name: later, tool: write, skip: not yet, expect: [{target: text, matcher: {exact: x}}]}
`

// tested is the page of a suite with tests.
func tested(t *testing.T) *explored {
	t.Helper()
	e := explore(t)
	e.write("mcptest.yaml", testedSuite)
	e.awaitTests("later")
	return e
}

// awaitTests waits until the page knows a test, and returns the version of the list.
func (e *explored) awaitTests(name string) (version string) {
	e.t.Helper()
	testkit.Wait(e.t, "the test "+name, func() bool {
		list := e.post("tests", "{}")
		version = list.Lookup("version").Text()
		return strings.Contains(list.Lookup("tests").String(), `"name":"`+name+`"`)
	})
	return version
}

// runTests runs a selection, after the question about it, and returns the run.
func (e *explored) runTests(selection string) jsonv.Value {
	e.t.Helper()
	body := `{"version":"` + e.awaitTests("reads") + `",` + selection
	answer := e.post("tests-run", body+"}")
	if token := answer.Lookup("confirm").Text(); token != "" {
		answer = e.post("tests-run", body+`,"confirm":"`+token+`"}`)
	}
	if !answer.Lookup("ok").Bool() {
		e.t.Fatalf("%s: %s", selection, answer)
	}
	var run jsonv.Value
	e.await("the end of the run", func(state jsonv.Value) bool {
		run = state.Lookup("run")
		return !run.Lookup("going").Bool()
	})
	return run
}

func counts(run jsonv.Value) string {
	var out []string
	for _, name := range []string{"total", "passed", "failed", "errors", "inconclusive", "skipped"} {
		out = append(out, run.Lookup(name).Literal())
	}
	return strings.TrimSpace(strings.Join(out, " ") + " " + run.Lookup("problem").Text())
}

// The page runs all tests, chosen ones and the failed ones with the verdicts of `mcptest run`,
// and asks first about tools that are not known to be read-only.
func TestUIRunsTests(t *testing.T) {
	t.Parallel()
	e := tested(t)
	version := e.awaitTests("reads")
	ask := e.post("tests-run", `{"version":"`+version+`","all":true}`)
	want := `["read of c, which is not connected, so nothing is known of the tool","write of c, which is not connected, so nothing is known of the tool"]`
	testkit.Equal(t, "the question", ask.Lookup("calls").String(), want)
	testkit.Equal(t, "before the answer", e.read("log"), "")
	token := ask.Lookup("confirm").Text()
	other := e.post("tests-run", `{"version":"`+version+`","tests":[2],"confirm":"`+token+`"}`)
	if other.Lookup("confirm").Text() == "" {
		t.Errorf("the answer about one selection was taken for another: %s", other)
	}
	testkit.Equal(t, "all", counts(e.runTests(`"all":true`)), "6 4 1 0 0 1")
	testkit.Equal(t, "calls of write", fmt.Sprint(e.count("call write")), "1")
	outcomes := e.post("outcomes", `{"run":1,"after":0}`).Lookup("outcomes")
	status := map[string]string{}
	for _, o := range outcomes.Elems() {
		status[o.Lookup("test").Literal()] = o.Lookup("status").Text()
	}
	testkit.Equal(t, "outcomes", fmt.Sprint(status), "map[0:pass 1:fail 2:pass 3:pass 4:pass 5:skip]")
	report := e.post("test", `{"run":1,"test":1}`)
	for _, want := range []string{`expected "other", got "done read"`, "mcptest run mcptest.yaml --filter", "tools/call"} {
		if !strings.Contains(report.String(), want) && !strings.Contains(report.Lookup("text").Text(), want) {
			t.Errorf("the report lacks %s: %s", want, report)
		}
	}
	testkit.Equal(t, "place", report.Lookup("place").Text(), "mcptest.yaml:4")

	// A name that begins like another is not that one.
	testkit.Equal(t, "one", counts(e.runTests(`"tests":[0]`)), "1 1 0 0 0 0")
	testkit.Equal(t, "two", counts(e.runTests(`"tests":[1,4]`)), "2 1 1 0 0 0")
	testkit.Equal(t, "calls of write, still", fmt.Sprint(e.count("call write")), "1")
}

// A tool of a connected server that declares readOnlyHint: true is run without a question.
func TestUIAsksBeforeTests(t *testing.T) {
	t.Parallel()
	e := tested(t)
	e.connect()
	version := e.awaitTests("reads")
	if answer := e.post("tests-run", `{"version":"`+version+`","tests":[0,1]}`); !answer.Lookup("ok").Bool() {
		t.Errorf("read-only tools: %s", answer)
	}
	e.await("the end of the run", func(state jsonv.Value) bool { return !state.Lookup("run", "going").Bool() })
	ask := e.post("tests-run", `{"version":"`+version+`","tests":[2]}`)
	testkit.Equal(t, "the question", ask.Lookup("calls").String(), `["write of c, which does not declare readOnlyHint: true"]`)
	testkit.Equal(t, "calls of write", fmt.Sprint(e.count("call write")), "0")

	// The list that was shown has to be the one that is run.
	e.write("mcptest.yaml", strings.Replace(testedSuite, "name: reads,", "name: other,", 1))
	e.awaitTests("other")
	if why := e.post("tests-run", `{"version":"`+version+`","tests":[0]}`).Lookup("problem").Text(); !strings.Contains(why, "changed") {
		t.Errorf("an old list: %s", why)
	}
	for _, body := range []string{`"tests":[99]`, `"tests":[-1]`, `"tests":[]`} {
		if why := e.post("tests-run", `{"version":"`+e.awaitTests("other")+`",`+body+`}`).Lookup("problem").Text(); why == "" {
			t.Errorf("%s was run", body)
		}
	}
}

// Stop ends a run that hangs, and its servers.
func TestUIStopsTests(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.write("mcptest.yaml", "servers: {c: {command: [counting, log]}}\ntools:\n  - {name: hangs, tool: hang, expect: [{target: text, matcher: {exact: x}}]}\n"+
		"  - {name: waits, tool: read, expect: [{target: text, matcher: {exact: x}}]}\n")
	version := e.awaitTests("hangs")
	token := e.post("tests-run", `{"version":"`+version+`","all":true}`).Lookup("confirm").Text()
	e.post("tests-run", `{"version":"`+version+`","all":true,"confirm":"`+token+`"}`)
	testkit.Wait(t, "the call", func() bool { return e.count("call hang") == 1 })
	e.await("the counters", func(state jsonv.Value) bool {
		run := state.Lookup("run")
		return run.Lookup("running").Literal()+" "+run.Lookup("queued").Literal() == "1 1"
	})
	if why := e.post("tests-run", `{"version":"`+version+`","all":true}`).Lookup("problem").Text(); why != "a run is going on" {
		t.Errorf("a second run: %s", why)
	}
	e.post("tests-stop", "{}")
	var run jsonv.Value
	e.await("the end of the run", func(state jsonv.Value) bool {
		run = state.Lookup("run")
		return !run.Lookup("going").Bool()
	})
	testkit.Equal(t, "problem", run.Lookup("problem").Text(), "the run was stopped")
	testkit.Equal(t, "running after the end", run.Lookup("running").Literal(), "0")
	testkit.Wait(t, "the end of the server", func() bool { return e.count("end") == 1 })
}

// A suite with mistakes shows them in place of tests.
func TestUITestsOfAnInvalidSuite(t *testing.T) {
	t.Parallel()
	e := explore(t)
	e.write("mcptest.yaml", "servers: {c: {command: [counting, log]}}\ntools:\n  - {nme: x}\n")
	testkit.Wait(t, "the diagnostics", func() bool {
		return strings.Contains(e.post("tests", "{}").Lookup("problem").Text(), "nme")
	})
}

// The history has the runs of the page and the records of the folder, says which tests are
// flaky, and compares two.
func TestUIHistory(t *testing.T) {
	t.Parallel()
	e := tested(t)
	if got := e.post("history", "{}"); got.Lookup("records").Len() != 0 {
		t.Errorf("before any run: %s", got)
	}
	e.runTests(`"tests":[0,1]`)
	e.write("mcptest.yaml", strings.Replace(testedSuite, "exact: other", "exact: done read", 1))
	testkit.Wait(t, "the saved suite", func() bool { return e.post("tests", "{}").Lookup("version").Text() != "" })
	e.runTests(`"tests":[0,1]`)
	record := func(name, started, status string) {
		e.write(name, `{"event":"run_started","schema":"mcptest.run/v1","tool":{"name":"mcptest"},"suites":[{"name":"x","file":"x.yaml"}],"started":"`+started+`","total":1,"origin":{"commit":"0123456789abcdef"}}
{"event":"test_finished","index":0,"test":{"name":"sometimes","status":"`+status+`","duration_ms":5,"start_ms":0,"file":"x.yaml","line":1,"assertions":[]}}
{"event":"run_finished","duration_ms":9,"exit_code":0}
`)
	}
	record("one.ndjson", "2026-01-02T03:04:05Z", "pass")
	record("two.ndjson", "2026-01-02T03:04:06Z", "fail")
	e.write("package.json", `{"name":"no record"}`)
	past := e.post("history", "{}")
	var names []string
	for _, r := range past.Lookup("records").Elems() {
		names = append(names, r.Lookup("name").Text()+" "+r.Lookup("passed").Literal()+" "+r.Lookup("failed").Literal())
	}
	want := "run of this page 2 0, run of this page 1 1, two.ndjson 0 1, one.ndjson 1 0"
	testkit.Equal(t, "records", strings.Join(names, ", "), want)
	first := past.Lookup("tests").At(0)
	testkit.Equal(t, "the first test", first.Lookup("name").Text(), "sometimes")
	testkit.Equal(t, "why", first.Lookup("flaky").Text(), "passed and did not pass on commit 01234567")
	id := func(i int) string { return past.Lookup("records").At(i).Lookup("id").Literal() }
	text := e.post("compare", `{"older":`+id(1)+`,"newer":`+id(0)+`}`).Lookup("text").Text()
	if !strings.Contains(text, "reads more") || !strings.Contains(text, "ixed") {
		t.Errorf("the comparison: %s", text)
	}
	if why := e.post("compare", `{"older":99,"newer":0}`).Lookup("problem").Text(); why == "" {
		t.Error("a record that does not exist was compared")
	}
}

// What a run does besides read-only calls is asked about: hooks, steps, other servers, probes,
// raw requests. A list whose rows have changed is not run.
func TestUIAsksAboutOtherWork(t *testing.T) {
	t.Parallel()
	suite := func(more string) string {
		return "servers: {c: {command: [counting, log], protocol: 2025-11-25}, d: {command: [counting, log], protocol: 2025-11-25}}\n" +
			"default_server: c\n" + more
	}
	const read = "tools: [{name: a, tool: read, expect: [{target: text, matcher: {exact: done read}}]}]\n"
	for name, tt := range map[string]struct{ suite, want string }{
		"nothing":  {read, "null"},
		"steps":    {"setup: [{call: {tool: write}}]\n" + read, "the steps of setup and teardown in mcptest.yaml"},
		"hooks":    {"hooks: {beforeAll: touch x}\n" + read, "the hooks in mcptest.yaml"},
		"same_as":  {"tools: [{name: a, tool: read, same_as: {server: d}}]\n", "the same calls on other servers, for same_as of a"},
		"probe":    {"probe: [{name: a, allow_writes: [write]}]\n", "probe of c"},
		"protocol": {"protocol: [{name: a, method: tools/call, params: {name: write}, expect: [{target: error.code, matcher: {exact: 1}}]}]\n", "a request tools/call to c with its own params"},
		"raw":      {"protocol: [{name: a, raw: 'x', expect: [{target: error.code, matcher: {exact: 1}}]}]\n", "raw bytes to c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := exploreFiles(t, map[string]string{"mcptest.yaml": suite(tt.suite)})
			e.connect()
			version := e.awaitTests("a")
			answer := e.post("tests-run", `{"version":"`+version+`","tests":[0]}`)
			if got := answer.Lookup("calls").String(); !strings.Contains(got, tt.want) {
				t.Errorf("asked about %s (%s), want %s", got, answer, tt.want)
			}
		})
	}
}

// The rows of a test are part of what was listed.
func TestUIListsRowsAgain(t *testing.T) {
	t.Parallel()
	e := exploreFiles(t, map[string]string{
		"rows.csv":     "tool\nread\n",
		"mcptest.yaml": "servers: {c: {command: [counting, log]}}\ntools: [{name: a, tool: \"${case.tool}\", cases: rows.csv}]\n",
	})
	version := e.awaitTests("a [1]")
	e.write("rows.csv", "tool\nwrite\n")
	if why := e.post("tests-run", `{"version":"`+version+`","all":true}`).Lookup("problem").Text(); !strings.Contains(why, "changed") {
		t.Errorf("rows that changed: %q", why)
	}
}
