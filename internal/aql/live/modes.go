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
func (c *collector) findModes() {
	add := func(m string) {
		if !slices.Contains(c.modes, m) {
			c.modes = append(c.modes, m)
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
	if len(c.families) > 0 {
		add(semantic(c.families))
	}
	if c.single != "" {
		add("single")
	}
	defer func() {
		if c.ending() != "" {
			c.cutsShort("modes")
		}
	}()
	if c.o.Mode == ModePlan {
		return
	}
	for _, variant := range []string{"single", "semantic", "crude"} {
		if c.single != "" && len(c.families) > 0 || (variant == "single") == (c.single != "") || c.dead != "" {
			continue
		}
		if families, single, ok := c.otherLaunch(variant); ok && (len(families) > 0 && c.single != "" || single && len(c.families) > 0) {
			if single {
				add("single")
			} else {
				add(semantic(families))
			}
			break
		}
	}
	for _, m := range c.modes {
		if strings.HasPrefix(m, "semantic") {
			m = "crude"
		}
		if !slices.Contains(c.e.EndpointModes, m) {
			c.e.EndpointModes = append(c.e.EndpointModes, m)
		}
	}
}

// otherLaunch starts the adapter in another endpoint mode and sees whether
// it answers there.
func (c *collector) otherLaunch(variant string) (families map[string]string, single, ok bool) {
	s, err := c.tape.Dial(c.ctx, variant)
	if err != nil || s == nil {
		return nil, false, false
	}
	defer s.Close(c.ctx)
	other := newCollector(*c.o)
	other.tape, other.ctx, other.s, other.restarts = c.tape, c.ctx, s, 1
	if other.listTools() != nil || other.assignTools() != nil {
		return nil, false, false
	}
	r := other.introspect(evidence.TextMember("query", "operations"))
	return other.families, other.single != "", r.ok()
}
