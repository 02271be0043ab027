package explore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/proc"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// testRun is a run of tests by another process of this program: the same command, events and
// records as on the command line.
type testRun struct {
	id      int
	record  io.WriteCloser
	process *proc.Process
	began   time.Time
	left    map[testName][]int // numbers of the tests that have not ended
	begun   map[string]bool    // indexes of the tests that have begun and not ended

	mu     sync.Mutex
	state  api.Run
	ended  []api.Outcome
	lines  map[int][]byte // what the run says about a test, by its number
	bytes  int            // of lines
	halted bool           // a person stopped it
	errors []string       // what failed the run outside of its tests
	exited chan struct{}
}

// Limits of a run.
const (
	maxFilter    = 96 << 10 // of the expression that selects tests by name
	maxEventLine = 64 << 20
	maxReports   = 64 << 20 // of what is kept of all tests
	maxOutcomes  = 1000     // in one answer
	maxErrors    = 20       // that are shown of a run
)

// runGrace is the time in which a run ends its servers before it is killed.
var runGrace = proc.Grace{Stdin: 20 * time.Second, Term: 5 * time.Second}

// startRun starts a run of tests, and keeps its record.
func startRun(
	in *inputs, to *shelf, id int, sel selection, failFast bool, changed func(),
) (*testRun, error) {
	if in.streams.Self == "" {
		return nil, refuse("this program was not found, so no test was run")
	}
	flags := []string{"-q", "-r", "ndjson", "--stop-at-eof"}
	if failFast {
		flags = append(flags, "--fail-fast")
	}
	if sel.names != nil {
		filter := "re:^(?:" + strings.Join(lists.Map(sel.names, matchExactly), "|") + ")$"
		if len(filter) > maxFilter {
			return nil, &live.RefusedError{
				Reason: "so many tests can't be selected by name: select fewer, or run all",
			}
		}
		flags = append(flags, "--filter", filter)
	}
	// The run is ended by tester.close, in order; not at once by the context of the page.
	p, err := proc.Start(context.WithoutCancel(in.shared.Context), proc.Spec{
		Name: "mcptest run", Argv: in.runArgs(sel.files, flags...), Dir: getwd(), Env: in.streams.Env,
		PipeStdin: true, PipeStdout: true, Registry: in.shared.World.Registry,
	})
	if err != nil {
		return nil, err
	}
	r := &testRun{
		id: id, record: to.create(), process: p, began: time.Now(), left: sel.numbers, begun: map[string]bool{},
		lines: map[int][]byte{}, exited: make(chan struct{}),
		state: api.Run{ID: id, Going: true, Total: len(sel.tests)},
	}
	go r.follow(changed)
	return r, nil
}

// matchExactly returns an expression for one name.
func matchExactly(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(keeping.ExactName(name), "re:^"), "$")
}

// follow reads the events of the run until it ends.
func (r *testRun) follow(changed func()) {
	defer close(r.exited)
	lines := bufio.NewScanner(r.process.Stdout())
	lines.Buffer(nil, maxEventLine)
	for lines.Scan() {
		fmt.Fprintf(r.record, "%s\n", lines.Bytes()) // a record that is cut says so when it is read
		r.note(lines.Bytes())
		changed()
	}
	lost := lines.Err()
	_ = r.record.Close()
	_, _ = io.Copy(io.Discard, r.process.Stdout())
	stopped := r.process.Stop(context.Background(), runGrace)
	r.mu.Lock()
	r.state.Going, r.state.Running = false, 0
	r.state.Seconds = time.Since(r.began).Seconds()
	if r.halted {
		r.state.Problem = "the run was stopped"
	} else {
		said := strings.Join(append(r.errors, r.process.Stderr().String()), "\n")
		r.state.Problem = describeProblem(r.state, stopped.Exit, lost, said)
	}
	r.mu.Unlock()
	changed()
}

// describeProblem says why a run has no result, or what failed it besides its tests; "" if the
// counters tell the whole verdict. said is what the run itself says about that.
func describeProblem(s api.Run, exit proc.Exit, lost error, said string) string {
	broken := s.Failed + s.Errors + s.Inconclusive
	complete := s.Total > 0 && s.Passed+s.Skipped+broken >= s.Total
	byTests := exit.Code == option.ExitFailed && broken > 0
	said = strings.TrimSpace(said)
	switch {
	case lost != nil:
		return fmt.Sprintf("the results can't be read any more: %v", lost)
	case complete && exit.Success():
		return ""
	case complete && byTests:
		return said
	}
	return strings.TrimSpace(fmt.Sprintf("the run failed outside of its tests: %v\n%s", exit, said))
}

// note adds an event.
func (r *testRun) note(line []byte) {
	v, err := jsonv.Parse(line)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch v.Lookup("event").Text() {
	case "run_started":
		if n, err := strconv.Atoi(v.Lookup("total").Literal()); err == nil {
			r.state.Total = n
		}
	case "test_started":
		r.begun[v.Lookup("index").Literal()] = true
	case "test_finished":
		delete(r.begun, v.Lookup("index").Literal())
		r.finish(v.Lookup("test"), line)
	case "finding":
		if f := v.Lookup("finding"); f.Lookup("severity").Text() == "error" && len(r.errors) < maxErrors {
			r.errors = append(r.errors, f.Lookup("kind").Text()+": "+f.Lookup("message").Text())
		}
	}
	r.state.Running = len(r.begun)
	r.state.Seconds = time.Since(r.began).Seconds()
}

// finish counts a test. The caller holds the lock.
func (r *testRun) finish(test jsonv.Value, line []byte) {
	status := test.Lookup("status").Text()
	switch status {
	case "pass":
		r.state.Passed++
	case "fail":
		r.state.Failed++
	case "error":
		r.state.Errors++
	case "inconclusive":
		r.state.Inconclusive++
	default:
		r.state.Skipped++
	}
	name := testName{test.Lookup("file").Text(), test.Lookup("name").Text()}
	numbers := r.left[name]
	if len(numbers) == 0 {
		return // it is not listed: there are too many
	}
	r.left[name] = numbers[1:]
	ms := test.Lookup("duration_ms").Float64()
	r.ended = append(r.ended, api.Outcome{Test: numbers[0], Status: status, MS: ms})
	if r.bytes += len(line); r.bytes <= maxReports {
		r.lines[numbers[0]] = append([]byte(nil), line...)
	}
}

// isGoing reports whether the run has not ended.
func (r *testRun) isGoing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Going
}

// stop ends the run as Ctrl-C does.
func (r *testRun) stop() {
	r.mu.Lock()
	r.halted = r.halted || r.state.Going
	r.mu.Unlock()
	_ = r.process.Stdin().Close()
}

// reportOf returns what an event says about its test.
func reportOf(event jsonv.Value) api.Report {
	test := event.Lookup("test")
	status := test.Lookup("status").Text()
	text := []string{status + ": " + test.Lookup("name").Text()}
	for _, more := range []string{test.Lookup("message").Text(), event.Lookup("explanation").Text()} {
		if more != "" {
			text = append(text, more)
		}
	}
	file, line := test.Lookup("file").Text(), test.Lookup("line").Literal()
	r := api.Report{Text: strings.Join(text, "\n\n"), Place: file + ":" + line}
	if abs, err := filepath.Abs(file); err == nil {
		r.Editor = "vscode://file" + filepath.ToSlash(abs) + ":" + line
	}
	for _, x := range test.Lookup("exchanges").Elems() {
		r.Exchanges = append(r.Exchanges, api.Exchanged{
			Request: x.Lookup("request").Text(), Response: x.Lookup("response").Text(),
		})
	}
	return r
}
