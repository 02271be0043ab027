package history

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
)

// baselineFile is a file of known failures: tests that are expected to fail
// until the server is fixed.
type baselineFile struct {
	KnownFailures []knownFailure `yaml:"known_failures,required"`
}

// knownFailure names one test by its expanded name and its file, which may be
// left out when the run has one suite only. It excuses one status: a test that
// gets no response any more is not excused by an entry for a failed assertion.
type knownFailure struct {
	Pos    source.Pos
	Name   string        `yaml:"name,required"`
	File   string        `yaml:"file"` // relative to the baseline
	Status result.Status `yaml:"status" enum:"fail|error|inconclusive"`
	Reason string        `yaml:"reason"`
}

// Baseline is a list of known failures, and what a run found out about them.
type Baseline struct {
	entries []knownFailure
	files   []string // of the entries, as osfile.Place writes them; "": the only suite
	seen    []bool   // a test of the plan has the name
	fixed   []bool   // and it passed
}

// ReadBaseline parses a file of known failures for a run of so many suites.
// Mistakes in it are diagnostics.
func ReadBaseline(path string, data []byte, suites int) (*Baseline, source.Diagnostics, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("--baseline: %w", err)
	}
	node, diags := source.Parse(&source.File{Name: path, Path: abs, Data: data})
	if diags.HasErrors() {
		return nil, diags, nil
	}
	var f baselineFile
	diags = append(diags, source.Decode(node, &f)...)
	b := &Baseline{
		entries: f.KnownFailures,
		seen:    make([]bool, len(f.KnownFailures)),
		fixed:   make([]bool, len(f.KnownFailures)),
	}
	first := map[[2]string]source.Pos{}
	for i := range b.entries {
		e := &b.entries[i]
		e.Status = cmp.Or(e.Status, result.Fail)
		wrong := func(code, msg string) {
			diags = append(diags, source.Diagnostic{Pos: e.Pos, Path: fmt.Sprintf("known_failures[%d]", i), Code: code, Msg: msg})
		}
		file := e.File
		if file != "" && !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(abs), file)
		}
		b.files = append(b.files, osfile.Place(file))
		_, err := os.Stat(file)
		if file != "" && err != nil {
			wrong("unreadable", fmt.Sprintf("file: %s: no such file (the path is relative to the baseline)", e.File))
		}
		if file == "" && suites > 1 {
			wrong("missing", fmt.Sprintf(`missing key "file": the run has %d suites, and several may contain a test called %q`, suites, e.Name))
		}
		key := [2]string{b.files[i], e.Name}
		if pos, twice := first[key]; twice {
			wrong("duplicate", fmt.Sprintf("%q is listed already at line %d", e.Name, pos.Line))
			continue
		}
		first[key] = e.Pos
	}
	return b, diags, nil
}

// apply turns a known failure into a skip, and notes what passed.
func (b *Baseline) apply(c *result.Case, suiteFile string) {
	for i := range b.entries {
		e := &b.entries[i]
		isOther := b.files[i] != "" && b.files[i] != osfile.Place(c.File) && b.files[i] != suiteFile
		if e.Name != c.Name || isOther {
			continue
		}
		b.seen[i] = true
		switch {
		case c.Status == result.Pass:
			b.fixed[i] = true
		case c.Status == result.Skip:
		case findOutcome(c) != e.Status:
			c.Warnings = append(c.Warnings, fmt.Sprintf("the baseline (%s:%d) excuses this test with status: %s only", e.Pos.File.Name, e.Pos.Line, e.Status))
		default:
			c.KnownFailure = &result.KnownFailure{Status: c.Status, Reason: e.Reason}
			why := "known failure"
			if e.Reason != "" {
				why += " (" + e.Reason + ")"
			}
			if c.Message != "" {
				why += ": " + c.Message
			}
			c.Status, c.Message = result.Skip, why
		}
		return
	}
}

// findOutcome is the status of a case for the baseline: a test that failed because
// the server crashed is not a test whose assertions failed.
func findOutcome(c *result.Case) result.Status {
	for _, v := range c.Violations {
		if v.Kind == protocol.ServerCrashed && !v.Tolerated {
			return result.Error
		}
	}
	return c.Status
}

// findStale lists the entries that no longer hold: the test passes, or, if every
// test of the files was in the plan, no test has that name. Each makes the
// run fail, so that a baseline does not outlive its purpose.
func (b *Baseline) findStale(complete bool, files []string) (out []result.Finding) {
	for i, e := range b.entries {
		what := ""
		switch {
		case b.fixed[i]:
			what = "passes"
		case !b.seen[i] && complete && (b.files[i] == "" || slices.Contains(files, b.files[i])):
			what = "is in no suite"
		default:
			continue
		}
		out = append(out, result.Finding{
			Kind: "stale-baseline", Severity: "error", File: e.Pos.File.Name, Line: e.Pos.Line,
			Message: fmt.Sprintf("the known failure %q %s: remove it from the baseline", e.Name, what),
		})
	}
	return out
}
