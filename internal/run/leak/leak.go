package leak

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"mcptest/internal/process/usage"
)

// Options say what is repeated and measured, and when to stop.
type Options struct {
	// Do makes unit i. An error ends the run, unless ctx is done.
	Do func(ctx context.Context, i int) error
	// Read measures; false means that the server has ended.
	Read  func() (usage.Usage, bool)
	Least float64       // growth of memory per unit that matters, in bytes
	Most  int           // units of a round; 0: Limit applies
	Limit time.Duration // of a round
	// Wait is the time after a round that shows a leak. A second round as long follows it,
	// and only what that adds counts. 0: no second round.
	Wait time.Duration
	// Doing is called after each unit, with the number and the time in the round; may be nil.
	Doing func(round, n int, took time.Duration, u usage.Usage)
}

// newMeasures are what is measured, in the order of reports.
func newMeasures(least float64) []Measure {
	return []Measure{
		{
			Name: "memory", Unit: "bytes", Bounds: MemoryBounds(least),
			of: func(u usage.Usage) float64 { return u.Memory },
		},
		{Name: "descriptors", Bounds: Count(), of: func(u usage.Usage) float64 { return u.Descriptors }},
		{Name: "threads", Bounds: Count(), of: func(u usage.Usage) float64 { return u.Threads }},
		{Name: "processes", Bounds: Count(), of: func(u usage.Usage) float64 { return u.Processes }},
	}
}

// ErrEnded is the error of a server that ended between two units.
var ErrEnded = errors.New("the server ended")

// Run repeats the unit until the verdict is clear, a limit is reached, the unit fails or
// ctx is done. It completes a report that says what the unit is.
func Run(ctx context.Context, o Options, r Report) Report {
	began := time.Now()
	r.Measures, r.Wait = newMeasures(o.Least), o.Wait.Seconds()
	err := r.runRound(ctx, o, 1, func(n int) bool {
		return n == o.Most && n > 0 || o.Most == 0 && time.Since(began) >= o.Limit
	})
	for i := range r.Measures {
		r.Measures[i].decide(r.Units)
	}
	r.Verdict = r.decideVerdict()
	if err == nil && r.Verdict == Leaks && o.Wait > 0 {
		err = r.runAgain(ctx, o)
	}
	if ctx.Err() != nil {
		r.Interrupted, err = true, nil
	}
	if err != nil {
		r.Failure, r.Err = err.Error(), err
	}
	r.Seconds = time.Since(began).Seconds()
	return r
}

// flood is a rise of memory after which an estimate does not wait for more units: the
// machine must not run out of it.
const flood = 1 << 30

// runRound repeats the unit and takes samples. The first round also ends when the estimates
// are clear.
func (r *Report) runRound(ctx context.Context, o Options, number int, over func(n int) bool) error {
	began, next, level := time.Now(), First, math.Inf(1)
	for n := 0; !over(n) && ctx.Err() == nil; n++ {
		if err := o.Do(ctx, n); err != nil {
			return err
		}
		u, ok := o.Read()
		if !ok {
			return ErrEnded
		}
		for i := range r.Measures {
			r.Measures[i].samples = append(r.Measures[i].samples, r.Measures[i].of(u))
		}
		if o.Doing != nil {
			o.Doing(number, n+1, time.Since(began), u)
		}
		if number > 1 {
			continue
		}
		r.Units++
		level = min(level, u.Memory)
		if r.Units < next && u.Memory < level+flood {
			continue
		}
		if r.Units == next {
			next *= 2
		}
		level = u.Memory
		if r.clear() {
			break
		}
	}
	return nil
}

// clear reports whether more samples would not change the verdict.
func (r *Report) clear() bool {
	undecided := false
	for i := range r.Measures {
		m := &r.Measures[i]
		m.decide(len(m.samples))
		switch {
		case m.Verdict == Leaks:
			return true
		case m.Verdict == Inconclusive && !m.Unknown:
			undecided = true
		}
	}
	return !undecided
}

// decide estimates from the first n samples.
func (m *Measure) decide(n int) {
	m.Unknown = slices.Contains(m.samples, usage.Unknown)
	m.Estimated = Estimated{Verdict: Inconclusive}
	if !m.Unknown {
		m.Estimated = Estimate(m.samples[:n], m.Bounds)
	}
}

// runAgain waits, makes a second round as long, and lets only that count which it added. What
// the server freed in the meantime, and what a heap can use again, adds nothing.
func (r *Report) runAgain(ctx context.Context, o Options) error {
	timer := time.NewTimer(o.Wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil
	}
	err := r.runRound(ctx, o, 2, func(n int) bool { return n == r.Units })
	if err != nil || ctx.Err() != nil {
		return err
	}
	for i := range r.Measures {
		m := &r.Measures[i]
		if m.Verdict != Leaks {
			continue
		}
		second := Estimate(m.samples[r.Units:], m.Bounds)
		added := (second.To - m.To) / float64(r.Units)
		m.Added = &added
		switch {
		case added >= keeps*m.Later.Value:
		case added < m.Bounds.Least || added < 0.2*m.Later.Value:
			m.Verdict = NoneShown
		default:
			m.Verdict = Inconclusive
		}
	}
	r.Verdict = r.decideVerdict()
	return nil
}

// decideVerdict sums up what is measured.
func (r *Report) decideVerdict() Verdict {
	out := NoneShown
	for _, m := range r.Measures {
		switch {
		case m.Verdict == Leaks:
			return Leaks
		case m.Verdict == Inconclusive && !m.Unknown:
			out = Inconclusive
		}
	}
	return out
}
