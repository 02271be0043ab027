package transport

import (
	"mcptest/internal/spec/plan"
)

// DropPrograms removes the parts that only prepare servers, for a run that needs
// none: run: steps, hooks without context, and conditions to wait for. It returns the
// number of removed steps and hooks. Context hooks are kept, because tests use their
// answers. Damaged results are not validated, because only tests are to notice the damage.
func DropPrograms(p *plan.Plan, damage bool) (steps, hooks int) {
	for _, f := range p.Files {
		for _, list := range []*[]*plan.Hook{&f.BeforeAll, &f.AfterAll, &f.BeforeEach, &f.AfterEach} {
			var kept []*plan.Hook
			for _, h := range *list {
				if h.Context {
					kept = append(kept, h)
				}
			}
			hooks += len(*list) - len(kept)
			*list = kept
		}
		for _, list := range []*[]*plan.Step{&f.Setup, &f.SetupPerTest, &f.TeardownPerTest, &f.Teardown} {
			var kept []*plan.Step
			for _, s := range *list {
				if s.Call != nil {
					calls := *s
					calls.WaitFor = ""
					kept = append(kept, &calls)
				}
			}
			steps += len(*list) - len(kept)
			*list = kept
		}
		for _, s := range f.Servers {
			s.WaitForReady, s.ValidateOutput = "", s.ValidateOutput && !damage
		}
	}
	return steps, hooks
}
