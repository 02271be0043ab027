package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/source"
)

// baselineFile is a file of known failures: tests that are expected to fail
// until somebody mends what they show.
type baselineFile struct {
	KnownFailures []knownFailure `yaml:"known_failures,required"`
}

// knownFailure names one test by its expanded name, and by its file when the
// name is not enough.
type knownFailure struct {
	Pos    source.Pos
	Name   string `yaml:"name,required"`
	File   string `yaml:"file"`
	Reason string `yaml:"reason"`
}

// baseline holds the entries and what became of them.
type baseline struct {
	entries []knownFailure
	seen    []bool // a test of the plan has the name
	fixed   []bool // and it passed
}

// readBaseline reads a file of known failures; mistakes come as diagnostics.
func readBaseline(path string) (*baseline, source.Diagnostics, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fail(exitInvalid, "--baseline: %v", err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fail(exitInvalid, "--baseline: %v", err)
	}
	node, diags := source.Parse(&source.File{Name: path, Path: abs, Data: data})
	if diags.HasErrors() {
		return nil, diags, nil
	}
	var f baselineFile
	diags = append(diags, source.Decode(node, &f)...)
	b := &baseline{entries: f.KnownFailures, seen: make([]bool, len(f.KnownFailures)), fixed: make([]bool, len(f.KnownFailures))}
	first := map[[2]string]source.Pos{}
	for i, e := range f.KnownFailures {
		key := [2]string{e.File, e.Name}
		if pos, twice := first[key]; twice {
			diags = append(diags, source.Diagnostic{Pos: e.Pos, Path: fmt.Sprintf("known_failures[%d]", i), Code: "duplicate", Msg: fmt.Sprintf("%q is listed already at line %d", e.Name, pos.Line)})
			continue
		}
		first[key] = e.Pos
	}
	return b, diags, nil
}

// settle makes a known failure a skip that says so, and notes what passed.
func (b *baseline) settle(c *result.Case) {
	for i := range b.entries {
		e := &b.entries[i]
		if e.Name != c.Name || e.File != "" && !sameFile(e.File, c.File) {
			continue
		}
		b.seen[i] = true
		switch c.Status {
		case result.Pass:
			b.fixed[i] = true
		case result.Fail, result.Error:
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

// sameFile reports whether a baseline's path means the file of a case: both
// may be written from different folders, so the end of the path counts.
func sameFile(want, have string) bool {
	want, have = filepath.ToSlash(filepath.Clean(want)), filepath.ToSlash(filepath.Clean(have))
	return want == have || strings.HasSuffix(have, "/"+want) || strings.HasSuffix(want, "/"+have)
}

// stale lists the entries that say something untrue: the test passes, or,
// when every test was in the plan, there is none of that name. Each makes the
// run fail, so that a baseline does not outlive what it was for.
func (b *baseline) stale(complete bool) (out []result.Finding) {
	for i, e := range b.entries {
		says := ""
		switch {
		case b.fixed[i]:
			says = "passes"
		case !b.seen[i] && complete:
			says = "is in no suite"
		default:
			continue
		}
		out = append(out, result.Finding{
			Kind: "stale-baseline", Severity: "error", File: e.Pos.File.Name, Line: e.Pos.Line,
			Message: fmt.Sprintf("the known failure %q %s: take it out of the baseline", e.Name, says),
		})
	}
	return out
}
