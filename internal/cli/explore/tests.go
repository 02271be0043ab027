package explore

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/run/allow"
	"mcptest/internal/spec/plan"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// tester lists the tests of the suites and runs them, and implements [api.Tester].
type tester struct {
	in  *inputs
	hub *live.Hub
	to  *shelf // for the records of the runs

	mu      sync.Mutex
	listed  listing
	run     *testRun          // the latest; nil: none
	runs    int               // that were started
	pending map[string]string // tokens of questions, and the selections that they are about
}

func newTester(in *inputs, hub *live.Hub, to *shelf) *tester {
	return &tester{in: in, hub: hub, to: to, pending: map[string]string{}}
}

// Version implements [api.Tester].
func (t *tester) Version() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version()
}

// version is Version. The caller holds the lock.
func (t *tester) version() string {
	t.in.mu.Lock()
	files := slices.Concat(t.in.paths, t.in.files, t.listed.inputs)
	t.in.mu.Unlock()
	sum := sha256.Sum256([]byte(stampOf(files)))
	return hex.EncodeToString(sum[:8])
}

// Tests implements [api.Tester].
func (t *tester) Tests() (api.Tests, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list()
	return t.listed.tests, nil
}

// list lists the tests, unless the suites are the same. The caller holds the lock.
func (t *tester) list() {
	if v := t.listed.tests.Version; v != "" && v == t.version() {
		return
	}
	// The files that it depends on are known afterwards: if they are others, it is read again.
	for range 3 {
		inputs := t.listed.inputs
		version := t.version()
		t.listed = t.read()
		t.listed.tests.Version = version
		if slices.Equal(inputs, t.listed.inputs) {
			break
		}
	}
}

// read lists the tests of the suites.
func (t *tester) read() (l listing) {
	if len(t.in.paths) == 0 || t.in.creates {
		l.tests.Problem = "there is no suite yet: a call that is kept creates one"
		return l
	}
	l.defs = map[server]*plan.Server{}
	var said bytes.Buffer
	p, _ := t.in.compile(&said, nil)
	if p == nil {
		l.tests.Problem = t.in.redactor.String(said.String())
		return l
	}
	for _, f := range p.Files {
		l.tests.Files = append(l.tests.Files, f.Path)
		l.work = append(l.work, describeWork(f))
	}
	for i := range min(p.Len(), maxTests) {
		l.add(p.Case(i), p.FileOf(i))
	}
	l.tests.Omitted = p.Len() - len(l.tests.List)
	for _, f := range p.Files {
		l.inputs = append(l.inputs, f.Inputs()...)
	}
	return l
}

// Start implements [api.Tester].
func (t *tester) Start(s api.Selection) (*api.Question, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != nil && t.run.isGoing() {
		return nil, &live.RefusedError{Reason: "a run is going on"}
	}
	t.list()
	sel, err := t.listed.choose(s)
	if err != nil {
		return nil, err
	}
	confirmed := t.pending[s.Confirm] == sel.key && s.Confirm != ""
	delete(t.pending, s.Confirm)
	if calls := t.listNotReadOnly(sel); len(calls) > 0 && !confirmed {
		return t.ask(sel, calls), nil
	}
	t.runs++
	run, err := startRun(t.in, t.to, t.runs, sel, s.FailFast, t.hub.Touch)
	if err != nil {
		return nil, err
	}
	t.run = run
	return nil, nil
}

// maxAsked bounds the lines of a question.
const maxAsked = 50

// ask remembers a selection that a person is asked about. The caller holds the lock.
func (t *tester) ask(sel selection, calls []string) *api.Question {
	if len(t.pending) > 100 {
		clear(t.pending)
	}
	token := rand.Text()
	t.pending[token] = sel.key
	if more := len(calls) - maxAsked; more > 0 {
		calls = append(calls[:maxAsked], fmt.Sprintf("… and %d more", more))
	}
	return &api.Question{Token: token, Calls: calls}
}

// listNotReadOnly returns what a selection does without knowing that it changes nothing, each once.
// Nothing is known of the tools of a server without a session. The caller holds the lock.
func (t *tester) listNotReadOnly(sel selection) []string {
	known := map[server]live.View{}
	views, _ := t.hub.Servers()
	for _, v := range views {
		known[newServer(v.Def)] = v
		if v.Def != t.in.one {
			continue
		}
		for key, def := range t.listed.defs { // the suite may declare the server of the command line
			if keeping.IsSame(def, t.in.one) {
				known[key] = v
			}
		}
	}
	var out []string
	for i, path := range t.listed.tests.Files {
		if work := t.listed.work[i]; work != "" && slices.Contains(sel.files, path) {
			out = append(out, work)
		}
	}
	seen := map[call]bool{}
	for _, i := range sel.tests {
		for _, c := range t.listed.calls[i] {
			if seen[c] {
				continue
			}
			seen[c] = true
			if why := findObjection(known[c.server], c); why != "" {
				out = append(out, why)
			}
		}
	}
	return out
}

// findObjection says why a call may change something; "" if its tool declares that it does not.
func findObjection(v live.View, c call) string {
	if c.other != "" {
		return c.other
	}
	tool := v.Tool(c.tool)
	switch {
	case v.Offer == nil:
		return fmt.Sprintf("%s of %s, which is not connected, so nothing is known of the tool", c.tool, c.server.name)
	case tool.IsAbsent():
		return fmt.Sprintf("%s of %s, which does not list it", c.tool, c.server.name)
	case allow.ReadOnly(tool):
		return ""
	}
	return fmt.Sprintf("%s of %s, which %s", c.tool, c.server.name, allow.FindObjection(tool))
}

// Stop implements [api.Tester].
func (t *tester) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != nil && t.run.isGoing() {
		t.run.stop()
	}
}

// close ends the run that is going on, and waits for its end.
func (t *tester) close() {
	t.mu.Lock()
	run := t.run
	t.mu.Unlock()
	if run == nil {
		return
	}
	run.stop()
	select {
	case <-run.exited:
	case <-time.After(runGrace.Stdin + runGrace.Term):
		run.process.Kill()
	}
}

// Run implements [api.Tester].
func (t *tester) Run() api.Run {
	t.mu.Lock()
	run := t.run
	t.mu.Unlock()
	if run == nil {
		return api.Run{}
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	return run.state
}

// findLatest returns the latest run, which must have this number.
func (t *tester) findLatest(id int) (*testRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run == nil || t.run.id != id {
		return nil, &live.RefusedError{Reason: "this run is no longer kept"}
	}
	return t.run, nil
}

// Outcomes implements [api.Tester].
func (t *tester) Outcomes(id, after int) ([]api.Outcome, error) {
	r, err := t.findLatest(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	after = min(max(after, 0), len(r.ended))
	return slices.Clone(r.ended[after:min(after+maxOutcomes, len(r.ended))]), nil
}

// Report implements [api.Tester].
func (t *tester) Report(id, test int) (api.Report, error) {
	r, err := t.findLatest(id)
	if err != nil {
		return api.Report{}, err
	}
	r.mu.Lock()
	line := r.lines[test]
	r.mu.Unlock()
	v, err := jsonv.Parse(line)
	if line == nil || err != nil {
		return api.Report{}, &live.RefusedError{Reason: "nothing is kept of this test: it has not ended, or the results were too long"}
	}
	return reportOf(v), nil
}
