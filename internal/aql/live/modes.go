package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/aql/rule"
)

// Endpoint modes.

// findModes determines the endpoint modes of the adapter. If the adapter shows only
// one, it is started a second time.
func (dy discovery) findModes() {
	add := func(m string) {
		if !slices.Contains(dy.run.Modes, m) {
			dy.run.Modes = append(dy.run.Modes, m)
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
	if len(dy.run.Catalog.Families) > 0 {
		add(semantic(dy.run.Catalog.Families))
	}
	if dy.run.Catalog.Single != "" {
		add("single")
	}
	defer func() {
		if dy.run.Caller.Ending() != "" {
			dy.run.Caller.CutsShort("modes")
		}
	}()
	if dy.run.Options.Mode == guard.ModePlan {
		return
	}
	for _, variant := range []string{"single", "semantic", "crude"} {
		if dy.run.Catalog.Single != "" && len(dy.run.Catalog.Families) > 0 || (variant == "single") == (dy.run.Catalog.Single != "") || dy.run.Caller.Dead != "" {
			continue
		}
		if families, single, ok := dy.otherLaunch(variant); ok && (len(families) > 0 && dy.run.Catalog.Single != "" || single && len(dy.run.Catalog.Families) > 0) {
			if single {
				add("single")
			} else {
				add(semantic(families))
			}
			break
		}
	}
	for _, m := range dy.run.Modes {
		if strings.HasPrefix(m, "semantic") {
			m = "crude"
		}
		if !slices.Contains(dy.run.Evidence.EndpointModes, m) {
			dy.run.Evidence.EndpointModes = append(dy.run.Evidence.EndpointModes, m)
		}
	}
}

// otherLaunch starts the adapter in another endpoint mode and checks whether it
// answers there.
func (dy discovery) otherLaunch(variant string) (families map[string]string, single, ok bool) {
	s, err := dy.run.Caller.Tape.Dial(dy.run.Caller.Ctx, variant)
	if err != nil || s == nil {
		return nil, false, false
	}
	defer s.Close(dy.run.Caller.Ctx)
	other := guard.New(*dy.run.Options)
	other.Caller.Tape, other.Caller.Ctx, other.Caller.Session, other.Caller.Restarts = dy.run.Caller.Tape, dy.run.Caller.Ctx, s, 1
	if (discovery{other}).listTools() != nil || (discovery{other}).assignTools() != nil {
		return nil, false, false
	}
	r := other.Caller.Introspect(evidence.TextMember("query", "operations"))
	return other.Catalog.Families, other.Catalog.Single != "", r.OK()
}
