package apps

import (
	"fmt"

	"mcptest/internal/base/display"
)

// Judge holds a server against the rules. Notes say what could not be judged.
func Judge(s Server) (found []Finding, notes []string) {
	j := newJudge(s)
	for _, l := range s.Listings {
		for _, tool := range l.Tools {
			j.judgeTool(tool)
		}
		for _, resource := range l.Resources {
			j.judgeListed(resource)
		}
	}
	widest := s.listWidest()
	for i, l := range widest {
		j.judgeCapability(l) // a client without the extension needs no resources
		j.judgeReach(l)
		j.judgeToolMeta(l)
		if other, ok := s.findUndeclared(l.Revision); ok && l.Declared {
			j.judgeFallback(l, other)
		}
		if i > 0 && l.Declared && widest[0].Declared {
			j.judgeEras(widest[0], l)
		}
	}
	j.judgeReads()
	j.countOmitted()
	return j.found, dropRepeats(j.notes)
}

// countOmitted says in the first finding of each group how many more there are.
func (j *judge) countOmitted() {
	for _, g := range j.groups {
		if g.omitted > 0 {
			j.found[g.first].Message += fmt.Sprintf(" (and %s like this)", display.Count(g.omitted, "more place"))
		}
	}
}
