package run

import (
	"context"
	"fmt"
	"strings"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/report/result"
	"mcptest/internal/run/line"
	"mcptest/internal/spec/plan"
)

// newSnapshots returns the snapshots of a case, or nil if its suite has no snapshot
// file.
func (f *fileRun) newSnapshots(c *plan.Case) *snapshot.Test {
	if f.snapshots == nil {
		return nil
	}
	return f.snapshots.Test(f.run.shared.Redact(c.Name))
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
				all[r.shared.Redact(r.plan.Name(i))] = true
			}
		}
		saved, err := f.snapshots.Save(all, !stopped && r.exit.chooseCode() == ExitPassed)
		name := f.file.Snapshots.Name
		if err != nil {
			r.report(result.Finding{Kind: "snapshot", Severity: "error", File: name, Message: fmt.Sprintf("write %s: %v", name, err)})
			continue
		}
		if note := saved.Note(name); note != "" {
			r.deps.Send(result.Noted{Note: note})
		}
		if len(saved.Stale) > 0 {
			r.report(f.newStaleFinding(saved.Stale))
		}
	}
}

// newStaleFinding returns a finding about snapshots that no test uses.
func (f *fileRun) newStaleFinding(list []snapshot.Stale) result.Finding {
	const most = 5
	names := lists.Map(list[:min(len(list), most)], func(s snapshot.Stale) string {
		return fmt.Sprintf("%q of %q", s.Name, s.Test)
	})
	if more := len(list) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	how := "mcptest run " + shellwords.QuotePathForShell(f.file.Path) + line.UpdateFlag + " removes them"
	if f.run.opts.Snapshots == snapshot.Update {
		how = "they are removed when the whole run passes"
	}
	return result.Finding{
		Kind: "snapshot", Severity: "warning", File: f.file.Snapshots.Name, Line: list[0].Line,
		Message: fmt.Sprintf("no test uses %s: %s; %s", display.Count(len(list), "snapshot"), strings.Join(names, ", "), how),
	}
}
