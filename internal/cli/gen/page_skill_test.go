package gen

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/cli/cmdutil"
)

// skillTemplate is the guide for coding agents. A line {{TABLE SECTION: NAMES}} is replaced
// by rows of a table of the reference: the names, and a line that lists all others. The
// comments for the tests of documents are left out.
//
//go:embed testdata/skill.md
var skillTemplate string

var (
	skillTest  = regexp.MustCompile(`(?m)^<!-- test: .* -->\n`)
	skillTable = regexp.MustCompile(`\{\{(\w+) ?([^:}]*):? ?([^}]*)\}\}`)
)

// skillRow is one row of a table of the guide.
type skillRow struct{ name, text string }

// skillPage returns the guide. A table, a section or a name that does not exist is written
// as an error into it, which a test finds.
func skillPage(keys []Key, g *generator, programs []cmdutil.Program) []byte {
	text := skillTest.ReplaceAllString(skillTemplate, "")
	return []byte(skillTable.ReplaceAllStringFunc(text, func(place string) string {
		m := skillTable.FindStringSubmatch(place)
		rows := skillRows(m[1], m[2], keys, g, programs)
		if m[1] == "names" {
			var names []string
			for _, r := range rows {
				names = append(names, code(r.name))
			}
			return strings.Join(names, ", ")
		}
		return skillList(rows, strings.Fields(m[3]), m[1])
	}))
}

// skillList writes the rows with these names, and the names of the others.
func skillList(rows []skillRow, names []string, table string) string {
	var lines, others []string
	for _, name := range names {
		i := slices.IndexFunc(rows, func(r skillRow) bool { return r.name == name })
		if i < 0 {
			return "ERROR: " + table + " has no " + name
		}
		lines = append(lines, "- "+rows[i].text)
	}
	for _, r := range rows {
		if !slices.Contains(names, r.name) {
			others = append(others, code(r.name))
		}
	}
	if others != nil {
		lines = append(lines, "- others: "+strings.Join(others, ", "))
	}
	return strings.Join(lines, "\n")
}

// skillRows returns all rows of a table.
func skillRows(table, title string, keys []Key, g *generator, programs []cmdutil.Program) (rows []skillRow) {
	add := func(name, text string) { rows = append(rows, skillRow{name, text}) }
	switch table {
	case "keys", "names":
		for _, s := range g.sections() {
			if s.title != title {
				continue
			}
			for _, k := range keysIn(s, keys) {
				add(k.Name, code(k.Name)+" ("+k.Type+"): "+prose(k.Doc))
			}
		}
	case "targets":
		for _, r := range target.Roots() {
			add(r.Name, code(r.Example[0])+": "+prose(display.Sentence(r.Doc)))
		}
	case "matchers":
		for _, r := range match.Matchers() {
			add(r.Name, code(r.Example)+": "+prose(r.Doc))
		}
	case "exits":
		for _, c := range programs[0].ExitCodes {
			add(fmt.Sprint(c.Code), fmt.Sprintf("%d: %s", c.Code, prose(c.Doc)))
		}
	}
	return rows
}
