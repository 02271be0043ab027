package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
)

// Severity is the severity of a diagnostic: only errors prevent a run.
type Severity int

// The zero value is Error.
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

// Related is a second position that helps to understand a diagnostic.
type Related struct {
	Pos Pos
	Msg string
}

// A Diagnostic is one mistake in the user's text.
type Diagnostic struct {
	Pos      Pos
	Path     string // position in the document, such as tools[2].expect[0].matcher; may be empty
	Msg      string // what is wrong
	Hint     string // suggested correction; may be empty
	Code     string // short stable name for programs; may be empty
	Severity Severity
	Related  []Related
}

// Errorf returns an error at a position. Set Hint, Code or Related on the result.
func Errorf(pos Pos, path, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Warnf returns a warning at a position.
func Warnf(pos Pos, path, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...), Severity: Warning}
}

// String returns the diagnostic's first line: file:line:col: error: path: msg. It
// escapes control characters.
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

// Diagnostics is a list of diagnostics. As a Go error it lists all of them; use
// [Diagnostics.Err] to get an error that is nil if there is none.
type Diagnostics []Diagnostic

// Error returns the first line of every diagnostic.
func (ds Diagnostics) Error() string {
	return strings.Join(lists.Map(ds, Diagnostic.String), "\n")
}

// Err returns the diagnostics as an error if any of them is an error, otherwise nil.
func (ds Diagnostics) Err() error {
	if ds.HasErrors() {
		return ds
	}
	return nil
}

// HasErrors reports whether any of the diagnostics is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Add appends diagnostics.
func (ds *Diagnostics) Add(d ...Diagnostic) { *ds = append(*ds, d...) }

// maxRelated limits the related positions of a diagnostic after merging duplicates.
const maxRelated = 5

// Sort sorts the diagnostics: files in the order in which they first occur, then by
// line and column, errors before warnings. It removes duplicates, which occur if
// aliases repeat a value with a mistake, and keeps their related positions.
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
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col),
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
			id.msg = d.Path + "\x00" + d.Msg // without a position only the path distinguishes them
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
