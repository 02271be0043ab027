package cli

import (
	"mcptest/internal/plan"
	"mcptest/internal/result"
	"mcptest/internal/secret"
)

// finalFindings returns what is found about the whole run once its tests are done.
func (f *runFlags) finalFindings(p *plan.Plan, redactor *secret.Redactor) func() []result.Finding {
	return func() []result.Finding {
		return append(f.verdicts.Findings(), f.traffic.Findings(redactor, f.allNames(p))...)
	}
}

// allNames are the names of the tests; nil if not all are selected.
func (f *runFlags) allNames(p *plan.Plan) (names []string) {
	if len(f.selected(p)) > 0 {
		return nil
	}
	for i := range p.Len() {
		names = append(names, p.Case(i).Name)
	}
	return names
}
