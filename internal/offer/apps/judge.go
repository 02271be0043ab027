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
	widest := s.widest()
	for i, l := range widest {
		j.judgeCapability(l) // a client without the extension needs no resources
		j.judgeReach(l)
		j.judgeToolMeta(l)
		if other, ok := s.listing(l.Revision, false); ok && l.Declared {
			j.judgeFallback(l, other)
		}
		if i > 0 && l.Declared && widest[0].Declared {
			j.judgeEras(widest[0], l)
		}
	}
	j.judgeReads()
	for _, g := range j.groups {
		if g.omitted > 0 {
			j.found[g.first].Message += fmt.Sprintf(" (and %s like this)", display.Count(g.omitted, "more place"))
		}
	}
	return j.found, withoutRepeats(j.notes)
}
