package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
)

// Endpoint modes.

// findModes says which endpoint modes the adapter has, starting it a second
// time when it shows one only.
func (dy discovery) findModes() {
	add := func(m string) {
		if !slices.Contains(dy.run.modes, m) {
			dy.run.modes = append(dy.run.modes, m)
		}
	}
	semantic := func(families map[string]string) string {
		for f := range families {
			if !slices.Contains(rule.SemanticCategories, f) {
				return "semantic:custom"
			}
		}
		return "semantic:crude"
	}
	if len(dy.run.catalog.families) > 0 {
		add(semantic(dy.run.catalog.families))
	}
	if dy.run.catalog.single != "" {
		add("single")
	}
	defer func() {
		if dy.run.caller.ending() != "" {
			dy.run.caller.cutsShort("modes")
		}
	}()
	if dy.run.o.Mode == ModePlan {
		return
	}
	for _, variant := range []string{"single", "semantic", "crude"} {
		if dy.run.catalog.single != "" && len(dy.run.catalog.families) > 0 || (variant == "single") == (dy.run.catalog.single != "") || dy.run.caller.dead != "" {
			continue
		}
		if families, single, ok := dy.otherLaunch(variant); ok && (len(families) > 0 && dy.run.catalog.single != "" || single && len(dy.run.catalog.families) > 0) {
			if single {
				add("single")
			} else {
				add(semantic(families))
			}
			break
		}
	}
	for _, m := range dy.run.modes {
		if strings.HasPrefix(m, "semantic") {
			m = "crude"
		}
		if !slices.Contains(dy.run.e.EndpointModes, m) {
			dy.run.e.EndpointModes = append(dy.run.e.EndpointModes, m)
		}
	}
}

// otherLaunch starts the adapter in another endpoint mode and sees whether
// it answers there.
func (dy discovery) otherLaunch(variant string) (families map[string]string, single, ok bool) {
	s, err := dy.run.caller.tape.Dial(dy.run.caller.ctx, variant)
	if err != nil || s == nil {
		return nil, false, false
	}
	defer s.Close(dy.run.caller.ctx)
	other := newCollector(*dy.run.o)
	other.caller.tape, other.caller.ctx, other.caller.s, other.caller.restarts = dy.run.caller.tape, dy.run.caller.ctx, s, 1
	if (discovery{other}).listTools() != nil || (discovery{other}).assignTools() != nil {
		return nil, false, false
	}
	r := other.caller.introspect(evidence.TextMember("query", "operations"))
	return other.catalog.families, other.catalog.single != "", r.ok()
}
