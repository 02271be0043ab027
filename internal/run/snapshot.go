package run

import (
	"context"
	"fmt"
	"strings"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
)

const updateFlag = " --update-snapshots"

// snapshotsOf returns the snapshots of a case, or nil if its suite has no snapshot
// file.
func (f *fileRun) snapshotsOf(c *plan.Case) *snapshot.Test {
	if f.snapshots == nil {
		return nil
	}
	return f.snapshots.Test(f.run.redact(c.Name))
}

func (r *runner) redact(s string) string {
	if r.deps.Redactor == nil {
		return s
	}
	return r.deps.Redactor.String(s)
}

// compare compares a selected value with its snapshot.
func (a *attempt) compare(name string, o *snapshot.Options, s target.Subject) snapshot.Comparison {
	f := a.file.file
	masked, unused := o.Mask(s.Target, a.redactValue(s), f.Dir)
	again := repro(f, a.c, a.file.run.opts.RerunFlags) + updateFlag
	c := a.snapshots.Compare(a.file.run.redact(name), masked, again)
	c.Unused = unused
	return c
}

// redactValue returns a value without secrets. Credentials that the exchanges reveal
// are masked everywhere in it, as in reports.
func (a *attempt) redactValue(s target.Subject) jsonv.Value {
	r := a.file.run.deps.Redactor
	if r == nil {
		return s.Value
	}
	if s.Value.Kind() == jsonv.KindString && secret.HoldsText(s.Target, s.Value.Text()) {
		return jsonv.String(secret.Mask)
	}
	var found secret.Found
	for _, x := range a.out.c.Exchanges {
		r.Collect(x.Response, &found)
		for _, m := range x.During {
			r.Collect(m.Raw, &found)
		}
	}
	if !found.Empty() {
		r = r.With(found.All()...)
	}
	text := s.Value.String()
	clean := r.String(text)
	if clean == text {
		return s.Value
	}
	if v, err := jsonv.Parse([]byte(clean)); err == nil {
		return v
	}
	return jsonv.String(clean) // masking broke the JSON, for example of a number
}

// saveSnapshots writes the snapshots of the tests that passed and reports unused
// ones.
func (r *runner) saveSnapshots(ctx context.Context) {
	stopped := ctx.Err() != nil
	for _, f := range r.executed {
		if f.snapshots == nil {
			continue
		}
		var all map[string]bool
		if r.plan.Len() == r.plan.Total() && !stopped {
			all = map[string]bool{}
			for i := f.first; i < f.end; i++ {
				all[r.redact(r.plan.Name(i))] = true
			}
		}
		saved, err := f.snapshots.Save(all, !stopped && r.exit.code() == ExitPassed)
		name := f.file.Snapshots.Name
		if err != nil {
			r.report(result.Finding{Kind: "snapshot", Severity: "error", File: name, Message: fmt.Sprintf("write %s: %v", name, err)})
			continue
		}
		if note := saved.Note(name); note != "" {
			r.deps.Send(result.Noted{Note: note})
		}
		if len(saved.Stale) > 0 {
			r.report(f.stale(saved.Stale))
		}
	}
}

// stale returns a finding about snapshots that no test uses.
func (f *fileRun) stale(list []snapshot.Stale) result.Finding {
	const most = 5
	names := lists.Map(list[:min(len(list), most)], func(s snapshot.Stale) string {
		return fmt.Sprintf("%q of %q", s.Name, s.Test)
	})
	if more := len(list) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	how := "mcptest run " + shellwords.QuotePathForShell(f.file.Path) + updateFlag + " removes them"
	if f.run.opts.Snapshots == snapshot.Update {
		how = "they are removed when the whole run passes"
	}
	return result.Finding{
		Kind: "snapshot", Severity: "warning", File: f.file.Snapshots.Name, Line: list[0].Line,
		Message: fmt.Sprintf("no test uses %s: %s; %s", display.Count(len(list), "snapshot"), strings.Join(names, ", "), how),
	}
}
