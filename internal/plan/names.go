package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"sort"

	"mcptest/internal/plan/rows"
	"mcptest/internal/source"
)

// NameHash replaces a case's name in a selection by names, if the name must not be
// stored.
func NameHash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// nameCheck reports two cases of a suite with the same name: filters, reports and
// --last-failed identify cases by name. It stores hashes, because a file of rows
// can have very many names; after a collision it builds the earlier name again and
// compares the two.
type nameCheck struct {
	f     *File
	d     *source.Decoder
	seed  maphash.Seed
	seen  map[uint64]uint32 // hash → ordinal of the first case
	other map[string]uint32 // names whose hash collides with that of another name
}

func newNameCheck(f *File, d *source.Decoder) *nameCheck {
	return &nameCheck{f: f, d: d, seed: maphash.MakeSeed(), seen: map[uint64]uint32{}, other: map[string]uint32{}}
}

// add checks the names of a template, which is the last one of the file so far.
func (n *nameCheck) add(t *template) {
	at := uint32(t.first)
	found := 0
	for row := range t.rowCount() {
		for sv := range t.serverCount(row) {
			name := t.caseName(row, sv)
			if first, twice := n.note(name, at); twice && name != "" && found < rows.MaxBad {
				n.report(t, row, name, first)
				found++
			}
			at++
		}
	}
}

// note records a name. twice reports whether the case with the ordinal first has it
// already.
func (n *nameCheck) note(name string, at uint32) (first uint32, twice bool) {
	h := maphash.String(n.seed, name)
	first, known := n.seen[h]
	if !known {
		n.seen[h] = at
		return 0, false
	}
	if n.nameOf(first) == name {
		return first, true
	}
	if first, known = n.other[name]; known {
		return first, true
	}
	n.other[name] = at
	return 0, false
}

// find returns the template, row and server of the case with an ordinal.
func (n *nameCheck) find(at uint32) (t *template, row, server int) {
	ts := n.f.templates
	i := sort.Search(len(ts), func(i int) bool { return ts[i].first > int(at) }) - 1
	for i > 0 && ts[i].count() == 0 {
		i--
	}
	t, rest := ts[i], int(at)-ts[i].first
	for ; row < t.rowCount(); row++ {
		k := t.serverCount(row)
		if rest < k {
			return t, row, rest
		}
		rest -= k
	}
	return t, 0, 0
}

func (n *nameCheck) nameOf(at uint32) string {
	t, row, server := n.find(at)
	return t.caseName(row, server)
}

func (n *nameCheck) report(t *template, row int, name string, first uint32) {
	old, oldRow, _ := n.find(first)
	d := source.Diagnostic{
		Pos: t.namer, Path: t.entry.Path + ".name", Code: "duplicate-name",
		Msg: fmt.Sprintf("a test called %q exists already", name),
	}
	where := source.Related{Pos: old.namer, Msg: "first used here"}
	if t.rows != nil {
		d.Path += fmt.Sprintf(" (row %d of cases)", row+1)
		d.Hint = "give the rows a name: column of different values, or put ${case.…} into the test's name"
		if _, named := t.rows.At(row).Get("name"); named && !t.varies.name {
			d.Hint = "the values of the name: column must differ"
		}
		if pos := t.rows.Pos(row); pos.File != nil {
			d.Pos = pos
		}
	}
	if old.rows != nil {
		if pos := old.rows.Pos(oldRow); pos.File != nil {
			where.Pos = pos
		}
	}
	d.Related = []source.Related{where}
	n.d.Add(d)
}
