//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/dev/flaky"
)

// TestSoak makes random runs: random servers with random faults, hooks, fixtures, restarts
// and parallelism, ended in random ways. In every run each test has one status, and no
// process or file is left. MCPTEST_SOAK sets the number of runs, MCPTEST_SOAK_SEED the
// first seed. A failed run is repeated twice, and counts only if it fails again.
func TestSoak(t *testing.T) {
	runs, from := 3, uint64(time.Now().UnixNano())
	if v := os.Getenv("MCPTEST_SOAK"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		runs = n
	}
	if v := os.Getenv("MCPTEST_SOAK_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		from = n
	}
	ends, peaks, equal := map[string]int{}, []int{}, 0
	for i := range runs {
		seed := from + uint64(i)
		once := func(tb testing.TB) {
			s := &soak{rnd: rand.New(rand.NewPCG(seed, 7))}
			if seed%5 == 4 {
				s.sameAtAnyParallelism(tb)
				equal++
				return
			}
			tr := s.one(tb)
			ends[s.end+": "+tr.state.String()]++
			peaks = append(peaks, tr.peak())
		}
		ok := t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			flaky.Retry(t, fmt.Sprintf("soak seed %d", seed), once)
		})
		if !ok {
			t.Fatalf("run %d of %d: repeat it with MCPTEST_SOAK=1 MCPTEST_SOAK_SEED=%d", i+1, runs, seed)
		}
	}
	early := slices.Max(append([]int{0}, peaks[:len(peaks)/2]...))
	late := slices.Max(append([]int{0}, peaks[len(peaks)/2:]...))
	t.Logf("%d runs from seed %d; peak memory %d MiB in the first half, %d MiB in the second; %d suites compared at three parallelisms", runs, from, early, late, equal)
	for _, k := range slices.Sorted(mapKeys(ends)) {
		t.Logf("%5d  %s", ends[k], k)
	}
}

func mapKeys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// soak is one random run.
type soak struct {
	rnd   *rand.Rand
	end   string
	tests int
}

func (s *soak) pick(list ...string) string { return list[s.rnd.IntN(len(list))] }

// fault returns a fault of a server over stdio that needs nothing else of its row.
func (s *soak) fault(families ...string) string {
	rows := table()
	for {
		r := &rows[s.rnd.IntN(len(rows))]
		family, _, _ := strings.Cut(r.id, "/")
		if slices.Contains(families, family) && r.http == nil && r.suite == "" && r.server == "" && r.files == nil && (r.stdio.say != "" || r.stdio.act != nil) {
			return r.id
		}
	}
}

// write makes a suite of tests on servers that have the given faults.
func (s *soak) write(names []string, extra string) string {
	var b strings.Builder
	b.WriteString("servers:\n")
	for i, id := range names {
		fmt.Fprintf(&b, "  s%d: {command: [\"$EXE\", --fault, %q], connect_timeout: 4s, sessions: %d}\n", i, id, 1+s.rnd.IntN(2))
	}
	b.WriteString(extra + "tools:\n")
	for i := range s.tests {
		fmt.Fprintf(&b, "  - {name: t%d, server: s%d, tool: t, timeout: 400ms, args: {fault: %v}, expect: [{target: text, matcher: {exact: ok}}]}\n",
			i, s.rnd.IntN(len(names)), s.rnd.IntN(4) == 0)
	}
	return b.String()
}

// one starts a run and ends it in a random way.
func (s *soak) one(t testing.TB) *trial {
	s.tests = 2 + s.rnd.IntN(12)
	var names []string
	for range 1 + s.rnd.IntN(3) {
		names = append(names, s.fault("start", "process", "framing", "message", "result"))
	}
	maybe := func(text string) string {
		if s.rnd.IntN(3) > 0 {
			return ""
		}
		return text + "\n"
	}
	extra := "run_options: {parallel: " + s.pick("1", "2", "8") + ", restart_policy: " + s.pick("per_run", "per_run", "per_test") + ", retries: " + s.pick("0", "0", "1") + "}\n" +
		maybe(`hooks: {timeout: 1s, beforeAll: "`+s.pick("true", "sh -c 'sleep 300 &'", "false", "sleep 300")+`", afterEach: "`+s.pick("true", "false")+`"}`) +
		maybe(`setup: [{run: [sh, -c, "`+s.pick("trap '' TERM; sleep 300", "sleep 300 & sleep 300", "exit 3", "sleep 0.1")+`"], background: true}]`) +
		maybe(`teardown: [{run: [sh, -c, "`+s.pick("true", "sleep 300", "exit 1")+`"], timeout: 500ms}]`)
	s.end = s.pick("nothing", "nothing", "nothing", "INT", "TERM", "HUP", "KILL", "INT INT")
	r := &row{
		id: "soak", files: map[string]string{"s.yml": s.write(names, extra)}, within: 100 * time.Second, during: s.interrupt,
		args: []string{"run", "s.yml", "--reporter", "pretty", "--reporter", "json=../run.json"},
	}
	tr := newTrial(t, r)
	tr.start()
	s.judge(tr)
	if t.Failed() {
		t.Logf("%s: %s after %s\n%s\n--- stdout\n%s--- stderr\n%s", s.end, tr.state, tr.took, r.files["s.yml"], short(tr.out.String()), short(tr.err.String()))
	}
	return tr
}

// interrupt sends the signals of the run's end after a while.
func (s *soak) interrupt(p *os.Process, _ *trial) {
	if s.end == "nothing" {
		return
	}
	wait, gap := time.Duration(s.rnd.IntN(1500))*time.Millisecond, time.Duration(s.rnd.IntN(300))*time.Millisecond
	go func() {
		delay(wait)
		for _, name := range strings.Fields(s.end) {
			_ = p.Signal(map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[name])
			delay(gap)
		}
	}()
}

// judge checks the properties of every run.
func (s *soak) judge(t *trial) {
	ws := t.state.Sys().(syscall.WaitStatus)
	t.r.dead = ws.Signaled() && ws.Signal() == syscall.SIGKILL
	switch code := t.state.ExitCode(); {
	case t.r.dead && strings.HasPrefix(s.end, "KILL"):
	case ws.Signaled() && t.out.Len() == 0 && s.end != "nothing": // before it watched for signals
		t.r.dead = true
	case ws.Signaled() || !slices.Contains([]int{0, 1, 2, 129, 130, 143}, code):
		t.tb.Errorf("ended with %s", t.state)
	case code < 128 || len(strings.Fields(s.end)) == 1:
		s.checkRecord(t)
	}
	if p := t.peak(); p > 96 {
		t.tb.Errorf("it needed %d MiB", p)
	}
	t.checkOutput()
	t.checkLeft()
}

// checkRecord checks that each test of the suite has one verdict.
func (s *soak) checkRecord(t *trial) {
	raw, err := os.ReadFile(filepath.Join(t.dir, "run.json"))
	var rec record
	if err == nil {
		err = json.Unmarshal(raw, &rec)
	}
	if err != nil {
		t.tb.Errorf("the record: %v", err)
		return
	}
	if rec.ExitCode != t.state.ExitCode() || len(rec.Tests) != s.tests {
		t.tb.Errorf("the record says exit code %d and has %d tests; it ended with %s and %d were planned", rec.ExitCode, len(rec.Tests), t.state, s.tests)
	}
	for i, c := range rec.Tests {
		if c.Name != fmt.Sprintf("t%d", i) || !slices.Contains([]string{"pass", "fail", "error", "skip"}, c.Status) {
			t.tb.Errorf("test %d is %q with verdict %q", i, c.Name, c.Status)
		}
	}
}

// sameAtAnyParallelism runs one suite with 1, 3 and 8 calls in flight: reports are equal
// except for times. Its servers respond wrongly, and name the call.
func (s *soak) sameAtAnyParallelism(t testing.TB) {
	s.tests = 20 + s.rnd.IntN(60)
	var names []string
	for range 1 + s.rnd.IntN(3) {
		names = append(names, s.pick("framing/odd-crlf", "framing/bom", "framing/pretty", "framing/duplicate-key", "message/id-text", "message/no-version", "result/is-error", "result/text", "message/error", "framing/broken-json", "message/result-and-error"))
	}
	text := s.write(names, "")
	text = regexp.MustCompile(`timeout: 400ms`).ReplaceAllString(text, "timeout: 20s")
	var first []string
	for _, n := range []string{"1", "3", "8"} {
		r := &row{
			id: "soak", files: map[string]string{"s.yml": text}, within: 60 * time.Second,
			args: []string{"run", "s.yml", "--parallel", n, "--reporter", "pretty", "--reporter", "junit=../r.xml", "--reporter", "tap=../r.tap", "--reporter", "md=../r.md", "--reporter", "json=../r.json"},
		}
		tr := newTrial(t, r)
		tr.start()
		tr.checkOutput()
		tr.checkLeft()
		var got []string // not standard output: it says "as above" where two messages that hold ids are equal by chance
		for _, name := range []string{"r.xml", "r.tap", "r.md", "r.json"} {
			b, err := os.ReadFile(filepath.Join(tr.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, masked(string(b)))
		}
		if first == nil {
			first = got
			continue
		}
		for i := range got {
			if got[i] != first[i] {
				a, b := difference(first[i], got[i])
				t.Errorf("report %d differs at --parallel %s:\n%s\n%s", i, n, a, b)
			}
		}
	}
}

var (
	// A summary says where the time went only if most of it was no calls.
	spent = regexp.MustCompile(` \(\d+(\.\d+)? ?(ms|s) [a-z][^()\n]*\)`)
	// Short times are left out, so the object of times goes whole.
	times = regexp.MustCompile(`"times": ?\{[^}]*\}|\(?\b\d+(\.\d+)? ?(ms|s)\b\)?|\b[a-z_]*_ms"?: ?[\d.e+-]+|"(started_at|at|started|finished|ended_at)": ?"[^"]*"|time(stamp)?="[^"]*"|"run_id": ?"[^"]*"|\d{4}-\d\d-\d\d[T ][\d:.]+( UTC|Z)?`)
	// Ids and offsets in the stream follow the order of the calls.
	ids = regexp.MustCompile(`"id": ?"?\d+|(\bid |had |at byte |"offset": ?|response_bytes": ?|at: )\d+|is "\d+"`)
	// The number of parallel calls is part of some reports.
	asked = regexp.MustCompile(` · \d calls in flight per server|--parallel",? ?"?\d|--parallel \d|"parallel": ?\d`)
	place = regexp.MustCompile(`/tmp/[^" ]*/work`)
	// What else happened in a session depends on which calls share it.
	also  = regexp.MustCompile(`; in this session also: [^"<\n]*|"side_events": \[[^\]]*\],?\s*`)
	quote = strings.NewReplacer("&quot;", `"`, "&#34;", `"`, `\"`, `"`)
)

// masked removes the parts of a report that may differ between runs.
func masked(text string) string {
	text = asked.ReplaceAllString(quote.Replace(text), "")
	text = spent.ReplaceAllString(text, "")
	for _, m := range []*regexp.Regexp{also, times, ids, place} {
		text = m.ReplaceAllString(text, "…")
	}
	return text
}

// difference returns the first line in which two texts differ, of each, with the lines
// around it.
func difference(a, b string) (string, string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	around := func(lines []string, i int) string {
		return short(strings.Join(lines[max(0, i-8):min(len(lines), i+3)], "\n"))
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return around(x, i), around(y, i)
		}
	}
	return fmt.Sprint(len(x), " lines"), fmt.Sprint(len(y), " lines")
}
