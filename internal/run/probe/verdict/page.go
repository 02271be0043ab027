package verdict

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/html"
)

// makePage returns the report as a page: the failures with their frames first, then what was
// judged by family.
func (r Report) makePage(rules ruleset.Rules) html.Sheet {
	page := html.Sheet{
		Title: strings.TrimSpace(r.Server),
		Notes: append([]string{r.Summary()}, r.Absent...),
	}
	all := r.Tally("")
	undecided := r.Undecided()
	switch {
	case all.Failed > 0:
		page.Verdict, page.Class = "Fails", "bad"
	case undecided != "" || all.Musts() == 0:
		page.Verdict, page.Class = "Inconclusive", "warn"
	default:
		page.Verdict, page.Class = "Passes", "good"
	}
	if undecided != "" {
		page.Notes = append(page.Notes, "inconclusive: "+undecided)
	}
	if grade := all.Grade(); grade != "" {
		page.Tiles = append(page.Tiles, html.Tile{Number: grade, Text: "grade"})
	}
	page.Tiles = append(page.Tiles,
		html.Tile{Number: fmt.Sprintf("%d of %d", all.Passed, all.Passed+all.Failed), Text: "MUST"},
		html.Tile{Number: fmt.Sprintf("%d of %d", all.Should, all.Should+all.ShouldNot), Text: "SHOULD"},
	)
	if all.Applicable > 0 {
		page.Tiles = append(page.Tiles, html.Tile{Number: fmt.Sprintf("%d %%", all.Coverage()), Text: "coverage"})
	}
	if failures := r.tabulateFailures(rules); len(failures.Rows) > 0 {
		page.Tables = append(page.Tables, failures)
	}
	for _, revision := range r.Revisions {
		families := r.tabulateFamilies(rules, revision)
		if len(families.Rows) == 0 {
			page.Notes = append(page.Notes, families.Title)
			continue
		}
		page.Tables = append(page.Tables, families)
	}
	return page
}

// tabulateFailures returns a row for each failure, the worst level first.
func (r Report) tabulateFailures(rules ruleset.Rules) html.Table {
	table := html.Table{
		Title:     "What failed",
		Head:      []string{"rule", "failure", "sent, received", "fix", "the clause"},
		Sentences: true,
	}
	for _, x := range r.listFailed() {
		rule, _ := rules.Rule(x.Rule)
		clause := x.Clause
		if x.Sentence != "" {
			clause = "“" + x.Sentence + "” " + x.Clause
		}
		for _, f := range x.Failures {
			text := strings.TrimPrefix(f.Subject+": "+f.Message, ": ")
			if f.Accepted != "" {
				text += " (accepted: " + f.Accepted + ")"
			}
			frames := "–"
			if len(f.Evidence) > 0 {
				e := f.Evidence[0]
				frames = "→ " + Excerpt(e.Sent, shownFrame) + " ← " + Excerpt(e.Received, shownFrame)
			}
			name := fmt.Sprintf("%s (%s, %s)", x.Rule, strings.ToUpper(string(x.Level)), x.Revision)
			table.Rows = append(table.Rows, []string{name, text, frames, rule.Fix, clause})
		}
	}
	return table
}

// shownFrame bounds a frame on the page; the JSON has everything.
const shownFrame = 300

// tabulateFamilies returns a row for each family of rules in one revision.
func (r Report) tabulateFamilies(rules ruleset.Rules, revision string) html.Table {
	table := html.Table{
		Title:     revision + ": " + r.Tally(revision).formatLine(),
		Head:      []string{"family", "passed", "failed", "not verified", "why not"},
		Sentences: true,
	}
	for _, n := range r.Families(rules) {
		if n.Revision != revision {
			continue
		}
		table.Rows = append(table.Rows, []string{
			n.Family, strconv.Itoa(n.Passed), strconv.Itoa(n.Failed), strconv.Itoa(n.Unverified),
			cmp.Or(strings.Join(n.Reasons, "; "), "–"),
		})
	}
	return table
}
