package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"time"

	"mcptest/internal/cmdutil"
	"mcptest/internal/plan"
	"mcptest/internal/result"
	"mcptest/internal/suite"
)

const (
	durationsSchema = "mcptest.durations/v1"
	durationsFile   = "durations.json"
	// maxTimed is how many tests of a suite are remembered. Very many tests
	// are balanced by their number.
	maxTimed = 1_000
)

// durations is what the file beside the suites of a folder holds: how long
// tests took when they last ran. Shards are balanced by it.
type durations struct {
	Schema string               `json:"schema"`
	Suites map[string]fileTimes `json:"suites"` // by file name
}

// fileTimes are times in milliseconds.
type fileTimes struct {
	Around float64            `json:"around_ms,omitempty"` // of the file's own bracket
	Tests  map[string]float64 `json:"tests"`
}

// readDurations reads what is known of a folder; nothing when the file is
// missing or of another form: it is only a memory.
func readDurations(dir string) durations {
	none := durations{Schema: durationsSchema, Suites: map[string]fileTimes{}}
	data, err := os.ReadFile(filepath.Join(dir, hereDir, durationsFile))
	if err != nil {
		return none
	}
	var have durations
	if json.Unmarshal(data, &have) == nil && have.Schema == durationsSchema && have.Suites != nil {
		return have
	}
	return none
}

// recordedCosts is what is known of the suites, for their plan.
func recordedCosts(suites []*suite.Suite) []plan.Costs {
	of := func(ms float64) time.Duration { return time.Duration(math.Min(ms, 1e9) * float64(time.Millisecond)) }
	out := make([]plan.Costs, len(suites))
	for i, su := range suites {
		if su.File == nil {
			continue
		}
		known := readDurations(filepath.Dir(su.File.Path)).Suites[filepath.Base(su.File.Path)]
		out[i] = plan.Costs{Around: of(known.Around), Cases: make(map[string]time.Duration, len(known.Tests))}
		for name, ms := range known.Tests {
			out[i].Cases[name] = of(ms)
		}
	}
	return out
}

// stopwatch listens to a run and keeps what its tests and brackets take, by
// the suite file as reports show it.
type stopwatch map[string]*fileTimes

// Event takes the time of a test that was judged, or of a step around them.
func (w stopwatch) Event(e result.Event, _ *result.Run) {
	switch e := e.(type) {
	case result.CaseFinished:
		w.test(e.Case)
	case result.PhaseFinished:
		w.of(e.Phase.File).Around += e.Phase.DurationMS
	}
}

func (w stopwatch) of(file string) *fileTimes {
	if w[file] == nil {
		w[file] = &fileTimes{Tests: map[string]float64{}}
	}
	return w[file]
}

func (w stopwatch) test(c *result.Case) {
	if c.Status != result.Pass && c.Status != result.Fail {
		return // skipped, or it waited for an answer in vain
	}
	t := w.of(c.File)
	if len(t.Tests) >= maxTimed {
		return
	}
	ms := c.DurationMS
	for i := range c.Phases {
		ms += c.Phases[i].DurationMS
	}
	t.Tests[c.Name] = math.Round(ms*100) / 100
}

// keep writes what was measured beside the suite at path. Complete says that
// every test of it ran: what is known of others is then out of date.
func (t *fileTimes) keep(path string, complete bool) error {
	if len(t.Tests) == 0 {
		return nil
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	st := readDurations(dir)
	before := st.Suites[base]
	now := fileTimes{Around: steady(before.Around, math.Round(t.Around*100)/100), Tests: map[string]float64{}}
	if !complete {
		maps.Copy(now.Tests, before.Tests)
	}
	for name, ms := range t.Tests {
		now.Tests[name] = steady(before.Tests[name], ms)
	}
	if now.Around == before.Around && maps.Equal(now.Tests, before.Tests) {
		return nil
	}
	st.Suites[base] = now
	return writeState(dir, durationsFile, st)
}

// steady returns the old time when the new one is much the same, so that the
// file does not change with every run.
func steady(old, now float64) float64 {
	if old > 0 && math.Abs(now-old) <= math.Max(5, old/4) {
		return old
	}
	return now
}

// rememberTimes keeps the times of a run. A shard keeps none: the shards after
// it would split what is left in another way. In CI nobody would read them.
func (f *runFlags) rememberTimes(s Streams, w stopwatch, suites []*suite.Suite, log *slog.Logger) {
	if f.part != nil || f.setupOnly || cmdutil.LookupEnv(s.Env, "CI") != "" {
		return
	}
	var errs []error
	for _, su := range suites {
		if t := w[su.File.Name]; t != nil {
			errs = append(errs, t.keep(su.File.Path, f.settled.complete))
		}
	}
	if err := errors.Join(errs...); err != nil {
		log.Debug("the test durations were not saved", "error", err)
	}
}

// keepTimes keeps the times of a merged record beside its suites, which are
// looked for where the record says they were.
func keepTimes(r *result.Run) error {
	w := stopwatch{}
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		w.test(c)
	}
	for _, p := range r.Phases {
		w.of(p.File).Around += p.DurationMS
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
