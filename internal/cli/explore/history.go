package explore

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/secret"
	"mcptest/internal/report/compare"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// history reads the records of the current folder and those of the page, and implements
// [api.Historian].
type history struct {
	redactor *secret.Redactor
	runs     *shelf

	mu    sync.Mutex
	known []*pastRun // by their number; files that are gone stay
}

// pastRun is a record.
type pastRun struct {
	id     int
	path   string
	own    bool   // of the page
	stamp  string // of the file when it was read
	record api.Record
	tests  []pastTest
}

// pastTest is a test in a record.
type pastTest struct {
	name    testName
	outcome api.Outcome
	flaky   bool // it passed after a retry
}

// Limits of what is read.
const (
	maxRecords    = 20
	maxRecordSize = 32 << 20
	maxPastTests  = 5_000
)

// History implements [api.Historian].
func (h *history) History() (api.History, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out api.History
	found := h.find()
	if more := len(found) - maxRecords; more > 0 {
		out.Omitted = more
		found = found[:maxRecords]
	}
	for _, r := range found {
		r.read()
		out.Records = append(out.Records, r.record)
	}
	out.Tests = testsOf(found)
	if more := len(out.Tests) - maxPastTests; more > 0 {
		out.Omitted += more
		out.Tests = out.Tests[:maxPastTests]
	}
	return out, nil
}

// find returns the records that exist, the latest first. The caller holds the lock.
func (h *history) find() []*pastRun {
	var found []*pastRun
	for _, path := range h.runs.listFiles() {
		found = append(found, h.readAt(path, true))
	}
	for _, pattern := range []string{"*.json", "*.ndjson"} {
		paths, _ := filepath.Glob(pattern) // the patterns are valid
		for _, path := range paths {
			found = append(found, h.readAt(path, false))
		}
	}
	found = slices.DeleteFunc(found, func(r *pastRun) bool { return !r.isRecord() })
	slices.SortStableFunc(found, func(a, b *pastRun) int { return b.record.Started.Compare(a.record.Started) })
	return found
}

// readAt returns the record of a path. The caller holds the lock.
func (h *history) readAt(path string, own bool) *pastRun {
	for _, r := range h.known {
		if r.path == path {
			return r
		}
	}
	r := &pastRun{id: len(h.known), path: path, own: own}
	h.known = append(h.known, r)
	return r
}

// isRecord reads the head of a file, and reports whether it is a record.
func (r *pastRun) isRecord() bool {
	if r.stamp != "" && r.stamp == stampOf([]string{r.path}) {
		return true
	}
	// A pipe would be waited for when it is opened.
	if info, err := os.Stat(r.path); err != nil || !info.Mode().IsRegular() || info.Size() > maxRecordSize {
		return false
	}
	f, err := os.Open(r.path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := result.ReadHead(f)
	if err != nil {
		return false
	}
	defer head.Close()
	r.record.Started = head.Started
	return true
}

// findName returns what a person calls the record.
func (r *pastRun) findName() string {
	if r.own {
		return "run of this page"
	}
	return r.path
}

// read reads the record, unless the file is the same.
func (r *pastRun) read() {
	stamp := stampOf([]string{r.path})
	if r.stamp == stamp {
		return
	}
	started := r.record.Started
	r.stamp, r.tests = stamp, nil
	r.record = api.Record{ID: r.id, Name: r.findName(), Started: started}
	run, err := r.open()
	if err != nil {
		r.record.Problem = err.Error()
		return
	}
	defer run.Close()
	sum := run.Summary
	r.record.Run = api.Run{
		Total: sum.Total, Passed: sum.Passed, Failed: sum.Failed, Errors: sum.Errored, Inconclusive: sum.Inconclusive,
		Skipped: sum.Skipped,
	}
	r.record.Seconds, r.record.ExitCode = run.DurationMS/1000, run.ExitCode
	if run.Origin != nil {
		r.record.Commit = run.Origin.Commit
	}
	r.record.Problem = run.DescribeUnfinished()
	for c, err := range run.Cases.All() {
		if err != nil {
			r.record.Problem = err.Error()
			return
		}
		r.tests = append(r.tests, pastTest{
			name: testName{c.File, c.Name}, flaky: c.Flaky,
			outcome: api.Outcome{Status: string(c.Status), MS: c.DurationMS},
		})
	}
}

func (r *pastRun) open() (*result.Run, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return result.Read(f)
}

// testsOf returns the tests of records, those that are not reliable first.
func testsOf(records []*pastRun) []api.TestHistory {
	var out []api.TestHistory
	at := map[testName]int{}
	flaky := map[testName]bool{}
	for n, r := range records {
		for _, t := range r.tests {
			i, ok := at[t.name]
			if !ok {
				i = len(out)
				at[t.name] = i
				out = append(out, api.TestHistory{
					File: t.name.file, Name: t.name.name, Runs: make([]*api.Outcome, len(records)),
				})
			}
			outcome := t.outcome
			out[i].Runs[n] = &outcome
			flaky[t.name] = flaky[t.name] || t.flaky
		}
	}
	for i := range out {
		out[i].Flaky = explainFlaky(&out[i], records, flaky[testName{out[i].File, out[i].Name}])
	}
	slices.SortStableFunc(out, func(a, b api.TestHistory) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return out
}

// rank orders tests: unreliable ones, then those that did not pass in the latest run.
func rank(t api.TestHistory) int {
	switch {
	case t.Flaky != "":
		return 0
	case len(t.Runs) > 0 && t.Runs[0] != nil && t.Runs[0].Status != "pass":
		return 1
	}
	return 2
}

// explainFlaky says why a test is not reliable: it passed only after a retry, or it passed and did
// not pass on the same commit. Without a commit nothing is known about what was tested.
func explainFlaky(t *api.TestHistory, records []*pastRun, retried bool) string {
	if retried {
		return "passed only after a retry"
	}
	passed, broke := map[string]bool{}, map[string]bool{}
	for i, o := range t.Runs {
		commit := records[i].record.Commit
		if o == nil || commit == "" {
			continue
		}
		switch o.Status {
		case "pass":
			passed[commit] = true
		case "fail", "error", "inconclusive":
			broke[commit] = true
		}
	}
	for commit := range passed {
		if broke[commit] {
			return "passed and did not pass on commit " + commit[:min(len(commit), 8)]
		}
	}
	return ""
}

// Compare implements [api.Historian].
func (h *history) Compare(older, newer int) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var runs [2]*result.Run
	for i, id := range []int{older, newer} {
		if id < 0 || id >= len(h.known) {
			return "", &live.RefusedError{Reason: "there is no record with this number"}
		}
		if !h.known[id].isRecord() {
			return "", &live.RefusedError{Reason: h.known[id].findName() + " is no longer a record"}
		}
		run, err := h.known[id].open()
		if err != nil {
			return "", &live.RefusedError{Reason: err.Error()}
		}
		defer run.Close()
		runs[i] = run
	}
	c, err := compare.Runs(runs[0], runs[1], compare.Options{})
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := c.WriteText(&text, render.Options{Verbose: true}); err != nil {
		return "", err
	}
	return strings.TrimSpace(text.String()), nil
}
