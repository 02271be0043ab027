package plan

import (
	"crypto/sha256"
	"fmt"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan/rows"
)

// NameHash replaces a case's name in a selection by names, if the name must not be
// stored.
func NameHash(name string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(name)))
}

// nameCheck reports two cases of a suite with the same name: filters, reports and
// --last-failed identify cases by name.
type nameCheck struct {
	d    *source.Decoder
	seen map[string]firstUse
}

// firstUse is the first case with a name.
type firstUse struct {
	t   *template
	row int
}

// add checks the names of a template.
func (n *nameCheck) add(t *template) {
	found := 0
	for row := range t.countRows() {
		for sv := range t.serverCount(row) {
			name := t.caseName(row, sv)
			if first, twice := n.seen[name]; !twice {
				n.seen[name] = firstUse{t, row}
			} else if name != "" && found < rows.MaxBad {
				n.report(t, row, name, first)
				found++
			}
		}
	}
}

func (n *nameCheck) report(t *template, row int, name string, first firstUse) {
	old := first.t
	d := source.Diagnostic{
		Pos: t.namer, Path: t.entry.Path + ".name", Code: "duplicate-name",
		Msg: fmt.Sprintf("a test called %q already exists", name),
	}
	where := source.Related{Pos: old.namer, Msg: "first used here"}
	if t.rows != nil {
		d.Path += fmt.Sprintf(" (row %d of cases)", row+1)
		d.Hint = "give the rows a name: column with different values, or put ${case.…} into the test's name"
		if _, named := t.rows.At(row).Get("name"); named && !t.varies.name {
			d.Hint = "the values of the name: column must differ"
		}
		if pos := t.rows.Pos(row); pos.File != nil {
			d.Pos = pos
		}
	}
	if old.rows != nil {
		if pos := old.rows.Pos(first.row); pos.File != nil {
			where.Pos = pos
		}
	}
	d.Related = []source.Related{where}
	n.d.Add(d)
}
