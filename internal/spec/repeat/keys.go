package repeat

import (
	"math"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/base/stats"
)

// Repeat configures repeated runs of a test.
type Repeat struct {
	Pos source.Pos
	// The number of runs.
	Times int `yaml:"times,required" example:"10" range:"1-100000"`
	// The share of passes needed, 0 to 1; 1 when left out.
	PassRate *float64 `yaml:"pass_rate" default:"1" example:"0.9" range:"0-1"`
	// The most that the median of the runs may take; needs 20 runs.
	P50 *time.Duration `yaml:"p50" example:"50ms" range:">0"`
	// The most that 95 % of the runs may take; needs 20 runs.
	P95 *time.Duration `yaml:"p95" example:"200ms" range:">0"`
	// The most that a run may take.
	Max *time.Duration `yaml:"max" example:"1s" range:">0"`
}

// Percentile is the number of runs below which a percentile decides nothing.
const Percentile = 20

// Rate returns the share of passes that is needed.
func (r *Repeat) Rate() float64 {
	if r.PassRate == nil {
		return 1
	}
	return *r.PassRate
}

// Trials configure a sequential test: a test is run until the share of passes is known
// well enough.
type Trials struct {
	Pos source.Pos
	// The share of passes of a good version, up to 1; 1 means that one failure decides.
	Want float64 `yaml:"want,required" example:"0.9" range:"0-1"`
	// The share of passes of a bad version; less than want.
	Floor float64 `yaml:"floor,required" example:"0.7" range:"0-1"`
	// How probable a right verdict is for both; more than 0.5 and less than 1.
	Confidence *float64 `yaml:"confidence" default:"0.95" example:"0.9" range:"0-1"`
	// The number of trials after which the test is inconclusive; about 1.5 times what a fixed number would need when left out.
	Max *int `yaml:"max" example:"60" range:"1-10000"`
}

// mostTrials is the largest number of trials.
const mostTrials = 10_000

// Design returns the sequential test, with defaults.
func (t *Trials) Design() stats.Sequential {
	d := stats.Sequential{Want: t.Want, Floor: t.Floor, Confidence: 0.95}
	if t.Confidence != nil {
		d.Confidence = *t.Confidence
	}
	if t.Max != nil {
		d.Max = *t.Max
	} else {
		// Half as many again as without a decision, in steps of five.
		fives := math.Round(1.5 * float64(d.CountFixed()) / 5)
		d.Max = min(mostTrials, max(d.CountLeast(), int(fives)*5))
	}
	return d
}

// Check reports what is wrong with the keys of the test n.
func Check(r *Repeat, t *Trials, retries *int, n *source.Node, path string, d *source.Decoder) {
	retried := retries != nil && *retries > 0
	if at := n.Get("repeat"); r != nil && at.Kind == source.KindMap {
		if retried {
			d.Errorf(at, path+".repeat", "repeat and retries exclude each other: repeat measures the share of passes, retries stops at the first pass")
		}
		if r.PassRate != nil && *r.PassRate == 0 {
			d.Errorf(at.Get("pass_rate"), path+".repeat.pass_rate", "pass_rate: 0 passes if every run fails").Hint = "write the share of runs that must pass, such as 0.9"
		}
		for key, budget := range map[string]*time.Duration{"p50": r.P50, "p95": r.P95} {
			if budget != nil && r.Times > 0 && r.Times < Percentile {
				d.Errorf(at.Get(key), path+".repeat."+key, "%s needs at least %d runs, and times is %d", key, Percentile, r.Times).Hint = "write times: 20 or more, or use max"
			}
		}
	}
	at := n.Get("trials")
	if t == nil || at.Kind != source.KindMap {
		return
	}
	if r != nil {
		d.Errorf(at, path+".trials", "trials and repeat exclude each other: trials stop when the share of passes is known well enough, repeat runs a fixed number")
	}
	if retried {
		d.Errorf(at, path+".trials", "trials and retries exclude each other: an attempt that is retried until it passes is not a trial")
	}
	t.check(at, path+".trials", d)
}

func (t *Trials) check(n *source.Node, path string, d *source.Decoder) {
	wrong := func(key, format string, args ...any) {
		if v := n.Get(key); v != nil {
			n = v
		}
		d.Errorf(n, path+"."+key, format, args...)
	}
	c := t.Confidence
	switch {
	case n.Get("want") == nil || n.Get("floor") == nil: // reported already
	case t.Floor <= 0:
		wrong("floor", "floor must be more than 0, got %v", t.Floor)
	case t.Floor >= t.Want:
		wrong("floor", "floor must be less than want (%v), got %v", t.Want, t.Floor)
	case t.Want > 1: // reported already
	case c != nil && (*c <= 0.5 || *c >= 1):
		wrong("confidence", "confidence must be more than 0.5 and less than 1, got %v", *c)
	case t.Design().CountLeast() > mostTrials:
		wrong("floor", "%d passes in a row are needed to decide between %v and %v, and a test has at most %d trials: choose them farther apart", t.Design().CountLeast(), t.Floor, t.Want, mostTrials)
	case t.Max != nil && *t.Max < t.Design().CountLeast():
		wrong("max", "no verdict is possible with %d trials: %d passes in a row are needed to decide between %v and %v", *t.Max, t.Design().CountLeast(), t.Floor, t.Want)
	}
}
