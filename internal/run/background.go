package run

import (
	"fmt"
	"strings"
	"time"

	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
	"mcptest/internal/source"
)

// background are the background steps of a bracket, in order of start.
type background struct {
	steps []bgStep
}

type bgStep struct {
	step *plan.Step
	p    *proc.Process
	// failed: it was never ready, and its step has said so.
	failed bool
	// early: it had ended when the tests were over.
	early bool
}

// testsOver notes which steps have ended by now: what ends later may have been
// ended by teardown.
func (b *background) testsOver() {
	for i := range b.steps {
		select {
		case <-b.steps[i].p.Exited():
			b.steps[i].early = !b.steps[i].failed
		default:
		}
	}
}

// stepWarning is something that came to light when a background step was
// stopped.
type stepWarning struct {
	kind    string
	step    *plan.Step
	message string
	excerpt string
}

func (w stepWarning) finding() result.Finding {
	return result.Finding{Kind: w.kind, Severity: "warning", File: fileName(w.step.Pos), Line: w.step.Pos.Line, Message: w.message, Excerpt: w.excerpt}
}

// stop ends the background steps, the last started first. One that ended while
// the tests ran is a warning, and so is what one left running.
func (b *background) stop(r *runner) []stepWarning {
	var out []stepWarning
	for len(b.steps) > 0 {
		s := b.steps[len(b.steps)-1]
		b.steps = b.steps[:len(b.steps)-1]
		if s.early {
			w := stepWarning{kind: "background-ended", step: s.step}
			why := s.step.CaptureFailure // replaces what the program says, and how it ended
			if why == "" {
				why, w.excerpt = s.p.Exit().String(), strings.Join(lastOutput(s.p), "\n")
			}
			w.message = fmt.Sprintf("background step %q ended before the tests did: %s", s.step.Name, why)
			out = append(out, w)
		}
		stop, cancel := r.clean.part(len(b.steps) + 1)
		began := time.Now()
		st := s.p.Stop(stop, r.w.Grace)
		cut := stop.Err() != nil
		cancel()
		for _, l := range st.Leftovers {
			out = append(out, stepWarning{
				kind: "leftover-process", step: s.step,
				message: fmt.Sprintf("background step %q %s", s.step.Name, leftWarning(l)),
			})
		}
		if st.Forced {
			w := stepWarning{kind: "forced-stop", step: s.step}
			w.message = fmt.Sprintf("background step %q did not end on SIGTERM; it was killed", s.step.Name)
			if cut {
				w.message = fmt.Sprintf("background step %q was killed: the %v that clean-up after %s had left for it were over", s.step.Name, round(time.Since(began)), signalOf(r.clean.run))
			}
			out = append(out, w)
		}
		r.logBackground(s, st)
	}
	return out
}

// lastOutput is the beginning and the end of what a background step wrote, standard error last.
func lastOutput(p *proc.Process) []string {
	out := p.Output().Ends(20)
	if p.Stderr() != p.Output() {
		out = append(out, p.Stderr().Ends(20)...)
	}
	return out
}

// release hands the background steps over to whoever ends them later.
func (b *background) release() {
	for _, s := range b.steps {
		_, _ = s.p.Release() // it has ended meanwhile: there is nothing to hand over
	}
	b.steps = nil
}

func fileName(pos source.Pos) string {
	if pos.File == nil {
		return ""
	}
	return pos.File.Name
}
