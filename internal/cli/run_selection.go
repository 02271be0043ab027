package cli

import (
	"cmp"
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/spec/plan"
)

// selects reports whether a flag selects tests.
func (f *runFlags) selects() bool {
	selectors := len(f.filters) + len(f.tags) + len(f.skipTags) + len(f.servers) + len(f.changed)
	return selectors+len(f.upstreams.Models) > 0
}

// nameSelectionFlags returns the flags that select tests, as written.
func (f *runFlags) nameSelectionFlags() string {
	var parts []string
	add := func(flag string, values []string) {
		for _, v := range values {
			parts = append(parts, flag+" "+v)
		}
	}
	add("--filter", f.filters)
	add("--tag", f.tags)
	add("--skip-tag", f.skipTags)
	add("--server", f.servers)
	add("--model", f.upstreams.Models)
	add("--changed", strings.Fields(f.changed))
	if f.lastFailed {
		parts = append(parts, "--last-failed")
	}
	return strings.Join(parts, " ")
}

// listSelectionNotes returns a note if not all tests of the suites were run, so that the report
// is not mistaken for that of the whole.
func (f *runFlags) listSelectionNotes(p *plan.Plan) []string {
	have, all := p.Len(), p.Total()
	if f.part != nil {
		have = f.part.Tests
	}
	if have == all {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s selected: %s", have, display.Count(all, "test"),
		cmp.Or(f.nameSelectionFlags(), "only: in the suite"))}
}

// rerunFlags returns the flags that affect a test and must be repeated to run it
// alone.
func (f *runFlags) rerunFlags() []string {
	var out []string
	for _, v := range f.Vars {
		out = append(out, "--var", v)
	}
	for _, file := range f.EnvFiles {
		out = append(out, "--env-file", file)
	}
	if f.AllowOutside {
		out = append(out, "--allow-outside")
	}
	if f.Client != "" {
		out = append(out, "--client", f.Client)
	}
	if f.timeout > 0 {
		out = append(out, "--timeout", f.timeout.String())
	}
	return append(out, f.cassettes.Again()...)
}

// describeSelection describes the selection, if it matches no test.
func (f *runFlags) describeSelection(p *plan.Plan) string {
	n := p.Total()
	if n == 0 {
		return "the suites contain no tests"
	}
	if f.lastFailed && !f.selects() {
		return fmt.Sprintf("the tests that failed in the last run are not among the %s of the suites; run all tests once, without --last-failed", display.Count(n, "test"))
	}
	if n == 1 {
		return "the only test does not match " + f.nameSelectionFlags()
	}
	word := "matches"
	if len(f.filters)+len(f.tags)+len(f.skipTags)+len(f.servers) > 0 && f.lastFailed {
		word = "matches all of"
	}
	return fmt.Sprintf("none of the %s %s %s", display.Count(n, "test"), word, f.nameSelectionFlags())
}
