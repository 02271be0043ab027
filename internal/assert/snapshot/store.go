package snapshot

import (
	"maps"
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
)

// Mode is how a run handles values that are not stored.
type Mode uint8

// The modes of a run.
const (
	Add    Mode = iota // new values are stored
	Check              // nothing is stored: a value without a snapshot fails
	Update             // new and changed values are stored, unused ones are removed
)

// Run is the state of a snapshot file during one run. It is safe for concurrent use.
type Run struct {
	file *File
	mode Mode

	mu       sync.Mutex
	set      map[string]map[string]jsonv.Value // new and changed values of tests that passed
	seen     map[string]map[string]bool        // the names that tests used which passed
	withheld int
}

// Begin starts a run.
func (f *File) Begin(mode Mode) *Run {
	return &Run{
		file: f,
		mode: mode,
		set:  map[string]map[string]jsonv.Value{},
		seen: map[string]map[string]bool{},
	}
}

// Test is one test of a run, with its retries or repetitions. It belongs to one
// goroutine.
type Test struct {
	run    *Run
	name   string
	now    map[string]jsonv.Value // of the current attempt
	passed map[string]jsonv.Value // of the attempts that passed, the first one counting
}

// Test begins a test.
func (r *Run) Test(name string) *Test {
	return &Test{run: r, name: name, passed: map[string]jsonv.Value{}}
}

// Attempt begins an attempt.
func (t *Test) Attempt() { t.now = nil }

// Mark returns a function that forgets what is compared between the two calls.
func (t *Test) Mark() (rewind func()) {
	before := maps.Clone(t.now)
	return func() { t.now = maps.Clone(before) }
}

// AttemptPassed ends an attempt that passed.
func (t *Test) AttemptPassed() {
	for name, v := range t.now {
		if _, had := t.passed[name]; !had {
			t.passed[name] = v
		}
	}
}

// Comparison is the outcome of comparing a value with its snapshot.
type Comparison struct {
	Pass      bool
	Want, Got jsonv.Value // Want is absent if nothing is stored
	Problem   string      // why it did not pass, unless the values differ
	Notes     []string
	Unused    []string // paths of ignore that selected nothing
}

// Compare compares a masked value with the snapshot of that name; fix is the
// command that stores it.
func (t *Test) Compare(name string, got jsonv.Value, fix string) Comparison {
	c := Comparison{Got: got}
	if _, twice := t.now[name]; twice {
		c.Problem = "the test has two snapshots called " + jsonv.String(name).Short(80) + ": give one of them a name"
		return c
	}
	if t.now == nil { // most tests have no snapshot
		t.now = map[string]jsonv.Value{}
	}
	t.now[name] = got
	have, known := t.run.file.tests[t.name][name]
	first, repeated := t.passed[name]
	switch {
	case t.run.mode != Update && known:
		c.Want = have.value
	case t.run.mode == Check:
		c.Problem = "no snapshot called " + jsonv.String(name).Short(80) + " is stored in " + t.run.file.Name + ", and none is written in CI"
		c.Notes = []string{"store it on your machine and commit the file: " + fix}
		return c
	case repeated:
		c.Want = first
		c.Notes = []string{"the value differs between runs of this test: mask or ignore what changes"}
	default:
		c.Pass = true
		return c
	}
	if c.Pass = jsonv.Equal(c.Want, got); c.Pass {
		c.Notes = nil
	} else if c.Notes == nil {
		c.Notes = []string{"if the change is intended: " + fix}
	}
	return c
}

// Done ends the test. Its values are stored if it passed.
func (t *Test) Done(passed bool) {
	r := t.run
	r.mu.Lock()
	defer r.mu.Unlock()
	values := t.passed
	if !passed {
		values = t.now
	}
	for name, v := range values {
		have, known := r.file.tests[t.name][name]
		if known && (r.mode != Update || jsonv.Equal(have.value, v)) || r.mode == Check {
			continue
		}
		if !passed {
			r.withheld++
			continue
		}
		if r.set[t.name] == nil {
			r.set[t.name] = map[string]jsonv.Value{}
		}
		r.set[t.name][name] = v
	}
	if passed && r.file.tests[t.name] != nil {
		r.seen[t.name] = map[string]bool{}
		for name := range values {
			r.seen[t.name][name] = true
		}
	}
}

// Stale is a snapshot that no test uses.
type Stale struct {
	Test, Name string
	Line       int
}

// stale lists what no test uses: names that a test which passed did not use,
// and tests that are not among all, unless that is nil.
func (r *Run) stale(all map[string]bool) []Stale {
	var out []Stale
	for _, test := range slices.Sorted(maps.Keys(r.file.tests)) {
		seen, passed := r.seen[test]
		if !passed && (all == nil || all[test]) {
			continue
		}
		entries := r.file.tests[test]
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if !seen[name] {
				out = append(out, Stale{test, name, entries[name].line})
			}
		}
	}
	return out
}
