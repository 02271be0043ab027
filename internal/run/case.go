package run

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"mcptest/internal/display"
	"mcptest/internal/expect"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// fill puts in what is known of a case before it is run.
func (f *fileRun) fill(c *plan.Case, out *result.Case) {
	*out = result.Case{
		Index: c.Index, Name: c.Name, File: f.file.Path, Line: c.Pos.Line, Column: c.Pos.Col,
		Description: c.Description, Suite: f.file.Name, Block: string(c.Block), Tags: c.Tags, StartMS: f.since(f.start),
	}
	if c.Pos.File != nil {
		out.File = c.Pos.File.Name
		out.Source = strings.TrimRight(c.Pos.File.Line(c.Pos.Line), "\r\n")
	}
	if c.Server != nil {
		out.Server = c.Server.Name
	}
	if len(c.Ops) == 1 {
		out.Call = callName(c.Ops[0])
	} else {
		out.Call = fmt.Sprintf("%d steps", len(c.Ops))
	}
}

func callName(op *plan.Op) string {
	switch {
	case op.Raw != nil:
		return "raw bytes"
	case op.Subject != "":
		return op.Method + " " + op.Subject
	}
	return op.Method
}

// runCase runs a case with its retries or repetitions into out.
func (f *fileRun) runCase(ctx context.Context, c *plan.Case, out *result.Case) {
	if c.Repeat != nil {
		f.repeat(ctx, c, out)
	} else {
		f.retry(ctx, c, out)
	}
	if out.Status == result.Fail || out.Status == result.Error {
		out.Repro = repro(f.file, c, f.w.Again)
	}
}

// retry runs a case until it passes, at most once more than its retries. A
// pass after a failure is flaky. A try that was kept from beginning, that a
// hook skipped or that a signal ended, says nothing of what the one before it
// found: that stands.
func (f *fileRun) retry(ctx context.Context, c *plan.Case, out *result.Case) {
	blank := *out
	all := tries{word: "try"}
	for try := 0; ; try++ {
		before := *out
		*out = blank
		if !f.attempt(ctx, c, out) && try > 0 {
			*out = before
			all.settle(out, try-1)
			return
		}
		all.add(out)
		failed := out.Status == result.Fail || out.Status == result.Error
		_, stopped := f.halted(ctx)
		switch {
		case try > 0 && out.Status == result.Skip:
			*out = before
			all.settle(out, try-1)
		case !failed || try >= c.Retries || stopped:
			out.Flaky = out.Status == result.Pass && try > 0
			all.settle(out, try)
		default:
			continue
		}
		if len(out.Attempts) == 1 {
			out.Attempts = nil
		}
		return
	}
}

// repeat runs a case several times and wants a share of passes. The details
// shown are those of the first run that failed, or of the last one. A run that
// a hook skips ends it: the case is a failure when one before it failed, and
// is skipped otherwise, for the share is not known.
func (f *fileRun) repeat(ctx context.Context, c *plan.Case, out *result.Case) {
	blank := *out
	var shown *result.Case
	at := 0
	all := tries{word: "run"}
	rep := &result.Repeat{Times: c.Repeat.Times, Rate: c.Repeat.Rate}
	for i := range c.Repeat.Times {
		one := blank
		if !f.attempt(ctx, c, &one) && shown != nil {
			break
		}
		all.add(&one)
		if one.Status == result.Pass {
			rep.Passed++
		}
		if shown == nil || shown.Status == result.Pass {
			shown, at = &one, i
		}
		if ctx.Err() != nil || one.Status == result.Skip {
			break
		}
	}
	*out = *shown
	out.Repeat = rep
	all.settle(out, at)
	if out.Status == result.Skip {
		if rep.Passed > 0 {
			out.Message = fmt.Sprintf("%s (run %d of %d; those before it passed)", out.Message, at+1, rep.Times)
		}
		return
	}
	if len(all.done) < rep.Times {
		if out.Status == result.Pass {
			out.Status, out.Message = result.Skip, interruptedReason
		}
		return
	}
	rate := float64(rep.Passed) / float64(rep.Times)
	// Inclusive, with the tolerance all thresholds have.
	if expect.Reaches(rate, rep.Rate) {
		out.Status, out.Message = result.Pass, ""
		return
	}
	if out.Status == result.Pass {
		out.Status = result.Fail
	}
	out.Message = fmt.Sprintf("%d of %d runs passed, wanted a share of %v: %s", rep.Passed, rep.Times, rep.Rate, out.Message)
}

// attempt runs a case once, inside its bracket. It returns false when the run
// was halted while the case waited for its servers.
func (f *fileRun) attempt(ctx context.Context, c *plan.Case, out *result.Case) bool {
	out.StartMS = f.since(f.start)
	l := f.lease(c)
	defer l.release()
	if reason, stopped := f.halted(ctx); stopped {
		out.Status, out.Message = result.Skip, reason
		return false
	}
	a := &attempt{fileRun: f, c: c, out: out, lease: l, script: f.scriptOf(c)}
	if f.file.Serial {
		a.bracket(ctx)
		return true
	}
	a.guard(func() { a.calls(ctx) })
	a.recycle()
	return true
}

func (f *fileRun) scriptOf(c *plan.Case) *script {
	if c.Respond == nil && (c.Server == nil || c.Server.Respond == nil) {
		return nil
	}
	s := c.Respond
	if c.Server != nil {
		return newScript(s, c.Server.Respond)
	}
	return newScript(s)
}

// repro is a shell line that runs one case again.
func repro(f *plan.File, c *plan.Case, again []string) string {
	return "mcptest run " + proc.Quote(f.Path) + " --filter " + proc.Quote("re:^"+pattern(c.Name)+"$") + suffix(again)
}

// suffix is what is added to a command line.
func suffix(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return " " + proc.QuoteAll(args)
}

// pattern matches a name exactly. What a terminal does not show, or would act
// on, is written as RE2 writes it, so the line survives being printed.
func pattern(name string) string {
	var b strings.Builder
	for _, r := range regexp.QuoteMeta(name) {
		if display.Hidden(r) {
			fmt.Fprintf(&b, `\x{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// elapsed adds a duration to the case's time.
func (a *attempt) elapsed(d time.Duration) { a.out.DurationMS += ms(d) }
