package compat

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/report/html"
)

// makePage returns the report as a page: which clients get in, which accept the definitions, and
// the findings.
func (r Report) makePage() html.Sheet {
	page := html.Sheet{
		Title:  r.nameServers() + ": which clients and directories accept it",
		Notes:  append([]string{r.summarize()}, r.Notes...),
		Tiles:  r.listTiles(),
		Tables: r.listTables(),
	}
	switch {
	case r.Unexamined:
		page.Verdict, page.Class = "Nothing was examined", "warn"
	case r.Failed(LevelError):
		page.Verdict, page.Class = "Fails", "bad"
	case r.Failed(LevelWarning):
		page.Verdict, page.Class = "Passes with warnings", "warn"
	case !r.listed && len(r.Openings) > 0 && r.countUnjudged() == len(r.Openings):
		page.Verdict, page.Class = "Not judged", "warn"
	default:
		page.Verdict, page.Class = "Passes", "good"
	}
	return page
}

// nameServers names the servers that were checked.
func (r Report) nameServers() string {
	names := slices.Sorted(maps.Keys(r.servers))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	switch {
	case len(names) == 0:
		return "the server"
	case len(names) > maxNamed:
		return display.Count(len(names), "server")
	}
	return strings.Join(names, ", ")
}

// maxNamed bounds the servers that the title of a page names.
const maxNamed = 3

// listTiles returns the numbers at the top of the page.
func (r Report) listTiles() (tiles []html.Tile) {
	if lines := r.groupByClient(); len(lines) > 0 {
		in, all := countClients(lines)
		tiles = append(tiles, html.Tile{Number: fmt.Sprintf("%d of %d", in, all), Text: "clients get in"})
	}
	if len(r.Verdicts) > 0 {
		accepted := 0
		for _, v := range r.Verdicts {
			if v.Effect == "ok" {
				accepted++
			}
		}
		tiles = append(tiles, html.Tile{
			Number: fmt.Sprintf("%d of %d", accepted, len(r.Verdicts)),
			Text:   "clients and directories accept all tools",
		})
	}
	for _, level := range Levels() {
		tiles = append(tiles, html.Tile{Number: strconv.Itoa(r.Count(level)), Text: "findings: " + string(level)})
	}
	return tiles
}

// countClients returns how many clients get in over every transport that was judged, and how many
// were judged.
func countClients(lines [][]Opening) (in, all int) {
	for _, line := range lines {
		judged, lost := false, false
		for _, cell := range sumUpOpenings(line) {
			if cell.mark != "?" {
				judged = true
			}
			if cell.mark == "✗" || cell.mark == "!" {
				lost = true
			}
		}
		if judged {
			all++
		}
		if judged && !lost {
			in++
		}
	}
	return in, all
}

// describeMark adds words to the mark of an opening, for readers who don't know the marks.
func describeMark(mark string) string {
	switch mark {
	case "✓":
		return "✓ yes"
	case "!":
		return "! some versions"
	case "✗":
		return "✗ no"
	}
	return "? not judged"
}

// listTables returns the tables that have rows.
func (r Report) listTables() (tables []html.Table) {
	for _, table := range []html.Table{r.tabulateOpenings(), r.tabulateVerdicts(), r.tabulateFindings()} {
		if len(table.Rows) > 0 {
			table.Sentences = true
			tables = append(tables, table)
		}
	}
	return tables
}

func (r Report) tabulateOpenings() html.Table {
	table := html.Table{
		Title: "Which clients get in",
		Head:  []string{"client", "transport", "gets in", "protocol version, or what happened"},
	}
	for _, line := range r.groupByClient() {
		name := line[0].Verdict.Script.Title
		if r.Servers > 1 {
			name = line[0].Server + ": " + name
		}
		for _, cell := range sumUpOpenings(line) {
			table.Rows = append(table.Rows, []string{name, cell.transport, describeMark(cell.mark), cell.text})
		}
	}
	return table
}

func (r Report) tabulateVerdicts() html.Table {
	table := html.Table{
		Title: "Which clients and directories accept the definitions",
		Head:  []string{"client or directory", "verdict"},
	}
	for _, v := range r.Verdicts {
		table.Rows = append(table.Rows, []string{v.Profile, marks[v.Effect].mark + " " + v.Effect})
	}
	return table
}

// tabulateFindings returns a row for each group of findings that differ in their place only.
func (r Report) tabulateFindings() html.Table {
	table := html.Table{
		Title: display.Count(len(r.Findings), "finding"),
		Head:  []string{"rule", "client or directory", "effect", "finding", "where", "fix"},
	}
	for i := 0; i < len(r.Findings); {
		f := r.Findings[i]
		var places []string
		for i < len(r.Findings) && r.Findings[i].Rule == f.Rule && r.Findings[i].Message == f.Message {
			places = append(places, strings.TrimSpace(r.Findings[i].describePlace()+" "+r.Findings[i].Pointer))
			i++
		}
		table.Rows = append(table.Rows, []string{
			f.Rule, f.Profile, string(f.Level) + ": " + string(f.Effect), f.Message, joinPlaces(places), f.Fix,
		})
	}
	return table
}

// joinPlaces lists places, as many as text for people has.
func joinPlaces(places []string) string {
	shown := places[:min(len(places), maxShown)]
	text := strings.Join(shown, ", ")
	if more := len(places) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
