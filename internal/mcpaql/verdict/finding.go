package verdict

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
)

// Finding is one place in the evidence where a rule is broken.
type Finding struct {
	Rule     string             `member:"rule,need"`
	Weight   rule.Weight        `member:"weight"`
	At       string             `member:"at"`             // FormatJSON pointer into the bundle
	Line     int                `member:"line,omitempty"` // in the bundle; 0 if unknown
	Column   int                `member:"column,omitempty"`
	Says     string             `member:"says"`
	Exchange *evidence.Exchange `member:"call"` // the call of a live run that shows it; nil if there is none

	Offset int
}

// maxGroups is the maximum number of different problems in a row's detail.
const maxGroups = 4

// varying matches the parts of a sentence that differ between findings of one cause:
// quoted names, words with underscores, numbers.
var varying = evidence.Pattern(`"(?:[^"\\]|\\.)*"|\w*_\w*|\d+`)

// FindCause returns the part of a sentence that findings of one cause have in common.
func FindCause(says string) string { return varying().ReplaceAllString(says, "…") }

// group holds the findings of one cause.
type group struct {
	first Finding
	n     int
	names []string // in the findings
}

// groupByCause groups findings by their cause, in the order of the first of each.
func groupByCause(found []Finding) (groups []*group) {
	index := map[[2]string]*group{}
	for _, f := range found {
		key := [2]string{f.Rule, FindCause(f.Says)}
		g := index[key]
		if g == nil {
			g = &group{first: f}
			index[key] = g
			groups = append(groups, g)
		}
		g.n++
		if about := varying().FindString(f.Says); !slices.Contains(g.names, about) {
			g.names = append(g.names, about)
		}
	}
	return groups
}

// Narrate summarizes findings in one line. Findings of one cause are mentioned once:
// one mistake made for every operation is one sentence.
func Narrate(found []Finding) string {
	groups := groupByCause(found)
	var b strings.Builder
	for i, g := range groups {
		if i == maxGroups {
			fmt.Fprintf(&b, "; and %d more", len(groups)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(g.first.At)
		if g.first.Line > 1 { // a minified bundle is one line
			fmt.Fprintf(&b, " (line %d)", g.first.Line)
		}
		b.WriteString(": " + g.first.Says)
		if g.n > 1 {
			fmt.Fprintf(&b, " (and %d alike", g.n-1)
			if others := g.names[1:]; len(others) > 0 {
				b.WriteString(": " + evidence.JoinFirst(others))
			}
			b.WriteString(")")
		}
		fmt.Fprintf(&b, " [%s]", g.first.Rule)
	}
	return b.String()
}
