package result

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
)

// Note describes in one line which part of a run a shard is.
func (s *Shard) Note() string {
	if len(s.Places) == 0 {
		return fmt.Sprintf("shard %d of %d has no test: the %s in the others", s.Index, s.Total, countOthers(s.Tests))
	}
	return fmt.Sprintf("shard %d of %d: %d of %d tests", s.Index, s.Total, len(s.Places), s.Tests)
}

// countOthers returns the subject and the verb of a sentence about tests.
func countOthers(tests int) string {
	if tests == 1 {
		return "only test is"
	}
	return strconv.Itoa(tests) + " tests are"
}

// Part is the record of one shard.
type Part struct {
	Name string // the file it was read from, for messages
	Run  *Run
}

// Merge merges the records of all shards into the record of one run: cases are in
// plan order, counts and roll-ups are computed again, and the exit code is the worst
// of the shards. Times are relative to the start of the first shard, by the clocks of
// the machines.
//
// The error lists every unsuitable part: a missing, duplicate or unfinished shard,
// one of other suites, or a record that is not a shard. Merge does not change the
// parts; the caller must close the Run.
func Merge(parts []Part) (*Run, error) {
	if len(parts) == 0 {
		return nil, errors.New("no records to merge")
	}
	parts = slices.Clone(parts)
	if err := checkFit(parts); err != nil {
		return nil, err
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.Run.Shard.Index, b.Run.Shard.Index) })
	m := merger{run: &Run{Schema: Schema, Cases: NewSpool("")}, parts: parts}
	if err := m.merge(); err != nil {
		m.run.Close()
		return nil, err
	}
	return m.run, nil
}

// checkFit returns an error if the parts are not the shards of one run.
func checkFit(parts []Part) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	first := parts[0]
	have := map[int]string{}
	for _, p := range parts {
		s := p.Run.Shard
		switch {
		case s == nil:
			add("%s is not a shard: it contains a whole run (shards are written by runs with --shard)", p.Name)
			continue
		case !s.isValid():
			add("%s is damaged: it is shard %d of %d, with %d tests", p.Name, s.Index, s.Total, s.Tests)
			continue
		case first.Run.Shard == nil:
			first = p
		}
		if err := checkAlike(first, p); err != nil {
			errs = append(errs, err)
			continue
		}
		if other, twice := have[s.Index]; twice {
			add("shard %d of %d occurs twice: %s and %s", s.Index, s.Total, other, p.Name)
			continue
		}
		have[s.Index] = p.Name
		if n := p.Run.Summary.Total; n != len(s.Places) {
			add("%s contains %d of its %d tests: its run did not finish", p.Name, n, len(s.Places))
		}
	}
	if len(errs) == 0 {
		if missing := describeMissing(have, first.Run.Shard.Total); missing != "" {
			errs = append(errs, errors.New(missing))
		}
	}
	return errors.Join(errs...)
}

// isValid reports whether the numbers of a shard are possible.
func (s *Shard) isValid() bool {
	isOneOf := 1 <= s.Index && s.Index <= s.Total && s.Total <= maxCases
	return isOneOf && 0 <= s.Tests && s.Tests <= maxCases
}

// checkAlike returns an error if two shards do not belong to the same run.
func checkAlike(a, b Part) error {
	x, y := a.Run.Shard, b.Run.Shard
	switch {
	case !slices.Equal(a.Run.Suites, b.Run.Suites):
		return fmt.Errorf("%s and %s are of different suites: %s, and %s", a.Name, b.Name, joinFiles(a.Run),
			joinFiles(b.Run))
	case x.Total != y.Total:
		return fmt.Errorf("%s is one of %d shards, %s one of %d", a.Name, x.Total, b.Name, y.Total)
	case x.Digest != y.Digest || x.Tests != y.Tests:
		return fmt.Errorf("%s and %s are of different suites: the files have the same names, but their text or the selected tests differ", a.Name, b.Name)
	}
	return nil
}

func joinFiles(r *Run) string {
	out := lists.Map(r.Suites, func(s Suite) string { return s.File })
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// describeMissing describes the missing shards, or returns "".
func describeMissing(have map[int]string, total int) string {
	var missing []string
	for i := 1; i <= total; i++ {
		if _, ok := have[i]; !ok {
			missing = append(missing, strconv.Itoa(i))
		}
	}
	switch {
	case len(missing) == 0:
		return ""
	case len(missing) == 1:
		return fmt.Sprintf("shard %s of %d is missing", missing[0], total)
	case len(missing) > missingMost:
		missing = append(missing[:missingMost], "…")
	}
	return fmt.Sprintf("shards of %d are missing: %s", total, strings.Join(missing, ", "))
}

// missingMost limits the missing shards that a message names.
const missingMost = 12

// merger is the state of one Merge.
type merger struct {
	run   *Run
	parts []Part
	began time.Time // of the first shard
	owner []int32   // index in the plan → number of its part, from 1
	flaky []string
}

func (m *merger) merge() error {
	m.begin()
	if err := m.mergeAllCases(); err != nil {
		return err
	}
	m.mergeServers()
	m.mergePhases()
	m.mergeFindings()
	m.mergeNotes()
	m.finish()
	return nil
}

// begin applies the start of the run: that of the first shard.
func (m *merger) begin() {
	first := m.parts[0].Run
	m.owner = make([]int32, first.Shard.Tests)
	m.began = first.Started
	parallel := 0
	for _, p := range m.parts {
		if p.Run.Started.Before(m.began) {
			m.began = p.Run.Started
		}
		parallel = max(parallel, p.Run.Parallel)
	}
	m.run.Apply(RunStarted{
		Tool:     first.Tool,
		Suites:   first.Suites,
		Started:  m.began,
		Total:    first.Shard.Tests,
		Parallel: parallel,
		Command:  first.Command,
		Dir:      first.Dir,
		Origin:   first.Origin,
	})
}

// mergeAllCases adds the cases of all parts, each of which must be in exactly one.
func (m *merger) mergeAllCases() error {
	for n, p := range m.parts {
		if err := m.mergeCases(n, p); err != nil {
			return err
		}
	}
	for at, n := range m.owner {
		if n == 0 {
			return fmt.Errorf("test %d of %d is in none of the records: %s", at+1, len(m.owner), splitDiffers)
		}
	}
	return nil
}

// finish applies the end of the run: the last end of a shard, and the worst exit code.
func (m *merger) finish() {
	end := RunFinished{}
	if c := mergeCoverage(m.parts); c != nil {
		m.run.Apply(CoverageMeasured{c})
		for _, f := range c.Findings() {
			m.run.Apply(FindingSeen{f})
			end.ExitCode = ExitGate
		}
	}
	for _, p := range m.parts {
		end.DurationMS = max(end.DurationMS, m.computeDelay(p)+p.Run.DurationMS)
		end.ExitCode = chooseWorse(end.ExitCode, p.Run.ExitCode)
		end.Interrupted = cmp.Or(end.Interrupted, p.Run.Interrupted)
	}
	m.run.Apply(end)
}

const splitDiffers = "the shards were not split by the same recorded times; give each of them the same .mcptest folder"

// computeDelay returns how long after the first shard a part began, in milliseconds.
func (m *merger) computeDelay(p Part) float64 {
	return float64(p.Run.Started.Sub(m.began).Microseconds()) / 1000
}

// mergeCases adds the cases of one part.
func (m *merger) mergeCases(n int, p Part) error {
	shard, late := p.Run.Shard, m.computeDelay(p)
	next := 0 // index in the places of the shard
	for c, err := range p.Run.Cases.All() {
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if next >= len(shard.Places) {
			return fmt.Errorf("%s is damaged: it contains more tests than it announces", p.Name)
		}
		at := shard.Places[next]
		next++
		if at < 0 || at >= len(m.owner) {
			return fmt.Errorf("%s is damaged: test %q has the position %d of %d", p.Name, c.Name, at, len(m.owner))
		}
		if o := m.owner[at]; o != 0 {
			return fmt.Errorf("test %q is in %s and in %s: %s", c.Name, m.parts[o-1].Name, p.Name, splitDiffers)
		}
		m.owner[at] = int32(n + 1)
		c.Index = at
		c.delay(late)
		if c.Flaky {
			m.flaky = append(m.flaky, c.Name)
		}
		if err := m.run.Cases.Put(c); err != nil {
			return err
		}
		m.run.Apply(CaseFinished{c})
	}
	return nil
}

// delay adds milliseconds to all times of a case.
func (c *Case) delay(ms float64) {
	c.StartMS += ms
	for i := range c.Phases {
		c.Phases[i].StartMS += ms
	}
	for x := range c.walkTraffic() {
		x.StartMS += ms
	}
	for i := range c.Attempts {
		for j := range c.Attempts[i].Phases {
			c.Attempts[i].Phases[j].StartMS += ms
		}
	}
}

// mergeServers merges the servers of all parts and adds up their starts.
func (m *merger) mergeServers() {
	starts := map[[2]string]int{}
	for _, p := range m.parts {
		for _, s := range p.Run.Servers {
			key := [2]string{s.File, s.Name}
			starts[key] += s.Starts
			s.Starts = starts[key]
			m.run.Apply(ServerDown{s})
		}
	}
}

// mergePhases merges hooks and steps in the order of their times.
func (m *merger) mergePhases() {
	var all []Phase
	for _, p := range m.parts {
		for _, ph := range p.Run.Phases {
			ph.StartMS += m.computeDelay(p)
			all = append(all, ph)
		}
	}
	slices.SortStableFunc(all, func(a, b Phase) int { return cmp.Compare(a.StartMS, b.StartMS) })
	for _, ph := range all {
		m.run.Apply(PhaseFinished{ph})
	}
}

// mergeFindings merges findings. A finding about the suites that every shard reports is
// added once, and flaky tests are counted together.
func (m *merger) mergeFindings() {
	said := map[Finding]int{} // largest number of occurrences in one shard
	gated := false            // a shard was configured to fail on flaky tests
	for _, p := range m.parts {
		here := map[Finding]int{}
		for _, f := range p.Run.Findings {
			if f.Kind == flakyKind {
				gated = true
				continue
			}
			here[f]++
			if here[f] > said[f] {
				said[f] = here[f]
				m.run.Apply(FindingSeen{f})
			}
		}
	}
	if gated {
		m.run.Apply(FindingSeen{NewFlakyFinding(m.flaky)})
	}
}

func (m *merger) mergeNotes() {
	var notes, versions []string
	for _, p := range m.parts {
		versions = appendNew(versions, p.Run.Tool.Version)
		for _, n := range p.Run.Notes {
			if n != p.Run.Shard.Note() {
				notes = appendNew(notes, n)
			}
		}
	}
	notes = append(notes, "merged from "+display.Count(len(m.parts), "shard"))
	if len(versions) > 1 {
		notes = append(notes, "the shards were run by different versions: "+strings.Join(versions, ", "))
	}
	if err := m.run.Cases.Err(); err != nil {
		notes = append(notes, "the results were kept in memory: "+err.Error())
	}
	for _, n := range notes {
		m.run.Apply(Noted{n})
	}
}

// appendNew appends a text that the list does not have yet.
func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// ExitGate is the exit code of a run without a failure whose coverage is too low or in
// which a test was inconclusive.
const ExitGate = 6

// chooseWorse returns the exit code that takes precedence: a signal, then 2, 1, 3, 4, then
// the others.
func chooseWorse(a, b int) int {
	if rankExit(b) < rankExit(a) {
		return b
	}
	return a
}

// rankExit returns the place of an exit code in the order of chooseWorse.
func rankExit(code int) int {
	switch {
	case code > 128: // a signal
		return 0
	case code == 2:
		return 1
	case code == 1:
		return 2
	case code == 3:
		return 3
	case code == 4:
		return 4
	case code != 0:
		return 5
	}
	return 6
}

// flakyKind is the kind of NewFlakyFinding.
const flakyKind = "flaky"

// flakyMost limits the tests that NewFlakyFinding names.
const flakyMost = 10

// NewFlakyFinding returns the finding that fails a run because of flaky tests.
func NewFlakyFinding(names []string) Finding {
	total, more := len(names), ""
	if total > flakyMost {
		names = names[:flakyMost]
		more = fmt.Sprintf(" and %d more", total-flakyMost)
	}
	return Finding{
		Kind: flakyKind, Severity: "error",
		Message: fmt.Sprintf("%s passed only after a retry (--fail-on-flaky): %s%s", display.Count(total, "test"), strings.Join(names, ", "), more),
	}
}
