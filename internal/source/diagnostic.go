package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/display"
)

// Severity says whether a diagnostic stops the work.
type Severity int

// The zero value is an error: whoever forgets to say so is strict.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Related is a second place that helps to understand a diagnostic.
type Related struct {
	Pos Pos
	Msg string
}

// A Diagnostic is one mistake in the user's text, in the user's words.
type Diagnostic struct {
	Pos      Pos
	Path     string // where in the document, such as tools[2].expect[0].matcher; may be empty
	Msg      string // what is wrong
	Hint     string // what to do about it; may be empty
	Code     string // a short stable name for machines; may be empty
	Severity Severity
	Related  []Related
}

// Errorf returns an error at a place. Set Hint, Code or Related on the result.
func Errorf(pos Pos, path, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Warnf returns a warning at a place.
func Warnf(pos Pos, path, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...), Severity: Warning}
}

// String returns the diagnostic's first line: file:line:col: error: path: msg.
// Control characters in it are escaped.
func (d Diagnostic) String() string {
	var b strings.Builder
	if at := d.Pos.String(); at != "" {
		b.WriteString(display.Escape(at) + ": ")
	}
	b.WriteString(d.Severity.String() + ": ")
	if d.Path != "" {
		b.WriteString(display.Escape(d.Path) + ": ")
	}
	b.WriteString(display.Escape(d.Msg))
	return b.String()
}

// Diagnostics is a list of mistakes. As a Go error it lists them all; use
// [Diagnostics.Err] to get an error that is nil when there is none.
type Diagnostics []Diagnostic

// Error returns the first line of every diagnostic.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the diagnostics as an error when one of them is an error, and
// nil otherwise.
func (ds Diagnostics) Err() error {
	if ds.HasErrors() {
		return ds
	}
	return nil
}

// HasErrors reports whether one of the diagnostics is more than a warning.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Add appends diagnostics.
func (ds *Diagnostics) Add(d ...Diagnostic) { *ds = append(*ds, d...) }

// maxRelated is how many related places a diagnostic keeps when repeats of it
// are folded into one.
const maxRelated = 5

// Sort puts the diagnostics in reading order: files in the order in which the
// list first names them, then by line and column, errors before warnings.
// The same message at the same place is kept once, which happens when a
// mistake sits in a value that aliases use again; the related places of the
// repeats are kept.
func (ds *Diagnostics) Sort() {
	rank := map[*File]int{}
	for _, d := range *ds {
		if _, seen := rank[d.Pos.File]; !seen {
			rank[d.Pos.File] = len(rank)
		}
	}
	slices.SortStableFunc(*ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(rank[a.Pos.File], rank[b.Pos.File]),
			a.Pos.compareIn(b.Pos),
			cmp.Compare(a.Severity, b.Severity),
		)
	})
	type identity struct {
		pos Pos
		msg string
		sev Severity
	}
	first := make(map[identity]int, len(*ds))
	kept := (*ds)[:0]
	for _, d := range *ds {
		id := identity{d.Pos, d.Msg, d.Severity}
		if d.Pos.IsZero() {
			id.msg = d.Path + "\x00" + d.Msg // without a place only the path tells them apart
		}
		at, seen := first[id]
		if !seen {
			first[id] = len(kept)
			kept = append(kept, d)
			continue
		}
		for _, r := range d.Related {
			if len(kept[at].Related) < maxRelated && !slices.Contains(kept[at].Related, r) {
				kept[at].Related = append(slices.Clip(kept[at].Related), r)
			}
		}
	}
	clear((*ds)[len(kept):])
	*ds = kept
}
