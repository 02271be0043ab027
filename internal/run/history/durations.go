package history

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"time"

	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

const (
	durationsSchema = "mcptest.durations/v1"
	durationsFile   = "durations.json"
	// maxTimed is how many tests of a suite are remembered. Very many tests
	// are balanced by their number.
	maxTimed = 1_000
)

// durations is the content of durations.json: how long tests took in their last
// run.
type durations struct {
	Schema string               `json:"schema"`
	Suites map[string]fileTimes `json:"suites"` // by file name
}

// fileTimes are times in milliseconds.
type fileTimes struct {
	Around float64            `json:"around_ms,omitempty"` // of the file's own hooks and steps
	Tests  map[string]float64 `json:"tests"`
}

func readDurations(dir string) durations {
	var have durations
	if read(dir, durationsFile, &have) && have.Schema == durationsSchema && have.Suites != nil {
		return have
	}
	return durations{Schema: durationsSchema, Suites: map[string]fileTimes{}}
}

// Costs returns the known durations of the suites, for the plan to balance
// shards.
func Costs(suites []*suite.Suite) []plan.Costs {
	of := func(ms float64) time.Duration { return time.Duration(math.Min(ms, 1e9) * float64(time.Millisecond)) }
	out := make([]plan.Costs, len(suites))
	for i, su := range suites {
		if su.File == nil {
			continue
		}
		known := readDurations(filepath.Dir(su.File.Path)).Suites[filepath.Base(su.File.Path)]
		out[i] = plan.Costs{SetupAndTeardown: of(known.Around), Cases: make(map[string]time.Duration, len(known.Tests))}
		for name, ms := range known.Tests {
			out[i].Cases[name] = of(ms)
		}
	}
	return out
}

// Stopwatch is a listener that measures the tests of a run and what is around
// them, by the suite file as reports show it.
type Stopwatch map[string]*fileTimes

// Event takes the time of a finished test, hook or step.
func (w Stopwatch) Event(e result.Event, _ *result.Run) {
	switch e := e.(type) {
	case result.CaseFinished:
		w.test(e.Case)
	case result.PhaseFinished:
		w.findFile(e.Phase.File).Around += e.Phase.DurationMS
	}
}

func (w Stopwatch) findFile(file string) *fileTimes {
	if w[file] == nil {
		w[file] = &fileTimes{Tests: map[string]float64{}}
	}
	return w[file]
}

func (w Stopwatch) test(c *result.Case) {
	if c.Status != result.Pass && c.Status != result.Fail {
		return // skipped, or there was no response to wait for
	}
	t := w.findFile(c.File)
	if len(t.Tests) >= maxTimed {
		return
	}
	ms := c.DurationMS
	for i := range c.Phases {
		ms += c.Phases[i].DurationMS
	}
	t.Tests[c.Name] = math.Round(ms*100) / 100
}

// keep stores the durations of the suite at path. If every test of it ran
// (complete), durations of other tests are dropped.
func (t *fileTimes) keep(path string, complete bool) error {
	if len(t.Tests) == 0 {
		return nil
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	st := readDurations(dir)
	before := st.Suites[base]
	now := fileTimes{Around: smooth(before.Around, math.Round(t.Around*100)/100), Tests: map[string]float64{}}
	if !complete {
		maps.Copy(now.Tests, before.Tests)
	}
	for name, ms := range t.Tests {
		now.Tests[name] = smooth(before.Tests[name], ms)
	}
	if now.Around == before.Around && maps.Equal(now.Tests, before.Tests) {
		return nil
	}
	st.Suites[base] = now
	return write(dir, durationsFile, st)
}

// smooth returns the old time when the new one is much the same, so that the
// file does not change with every run.
func smooth(old, now float64) float64 {
	if old > 0 && math.Abs(now-old) <= math.Max(5, old/4) {
		return old
	}
	return now
}

// Keep stores the durations of a run of the suites.
func (w Stopwatch) Keep(suites []*suite.Suite, complete bool) error {
	var errs []error
	for _, su := range suites {
		if t := w[su.File.Name]; t != nil {
			errs = append(errs, t.keep(su.File.Path, complete))
		}
	}
	return errors.Join(errs...)
}

// KeepMerged stores the durations of a merged record next to its suites, which
// must be where the record says they were.
func KeepMerged(r *result.Run) error {
	w := Stopwatch{}
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		w.test(c)
	}
	for _, p := range r.Phases {
		w.findFile(p.File).Around += p.DurationMS
	}
	for _, su := range r.Suites {
		if _, err := os.Stat(su.File); err != nil {
			return fmt.Errorf("suite %s was not found here, so its durations were not saved; run the command where the shards were run", su.File)
		}
		if t := w[su.File]; t != nil {
			if err := t.keep(su.File, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// Digest is equal for plans of the same files and selection in any folder, so that
// shards of different plans are not merged.
func Digest(p *plan.Plan, suites []*suite.Suite) (string, error) {
	h := sha256.New()
	for _, su := range suites {
		for _, path := range su.Files {
			if err := digestFile(h, path); err != nil {
				return "", err
			}
		}
	}
	for i := range p.Len() {
		fmt.Fprintf(h, "%d %q\n", p.FileOf(i), p.Name(i))
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func digestFile(h io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	one := sha256.New()
	if _, err := io.Copy(one, file); err != nil {
		return err
	}
	_, err = h.Write(one.Sum(nil))
	return err
}
