package report_test

import "mcptest/internal/report/result"

// coverageScenario is a run whose tests pass and examine too little; one of its
// servers could not be asked what it offers.
func coverageScenario() []result.Event {
	s := newScenario(1, result.Suite{Name: "shop", File: "shop.mcptest.yaml"})
	s.add(result.ServerUp{Server: stdio("shop", "node build/shop.js")})
	s.test(result.Case{Name: "finds", Status: result.Pass, DurationMS: 2, Server: "shop", Call: "tools/call search", Assertions: []result.Assertion{passed("text", "contains")}})
	least := 80
	draft := func(of, name string) result.Skeleton {
		return result.Skeleton{Of: of, Name: name, YAML: "  - name: " + name + " answers\n    tool: " + name + "\n"}
	}
	c := &result.Coverage{Servers: []result.ServerCoverage{
		{
			Server: "shop", File: "shop.mcptest.yaml", Tokens: 1234,
			Parts: []result.Covered{
				{Of: result.Tools, Covered: 1, Total: 5, Minimum: &least, Missing: []string{"buy", "list", "pay", "send"}},
				{Of: result.EnumValues, Covered: 1, Total: 2, Missing: []string{`search.sort="price"`}},
				{Of: result.Prompts},
			},
			Unasserted: []string{"list"}, Skeletons: []result.Skeleton{draft("tools", "buy"), draft("tools", "list"), draft("tools", "pay"), draft("tools", "send")},
		},
		{Server: "stock", Unknown: "the server had ended: exit status 1", Parts: []result.Covered{{Of: result.Tools, Minimum: &least}}},
	}}
	s.add(result.CoverageMeasured{Coverage: c})
	for _, f := range c.Findings() {
		s.add(result.FindingSeen{Finding: f})
	}
	return s.finish(6, "")
}

// hostileCoverage has a text in every place that a server fills.
func hostileCoverage(x string) result.CoverageMeasured {
	return result.CoverageMeasured{Coverage: &result.Coverage{Partial: x, Servers: []result.ServerCoverage{{
		Server: x, Unasserted: []string{x}, Parts: []result.Covered{{Of: result.Tools, Total: 1, Missing: []string{x}}},
		Skeletons: []result.Skeleton{{Of: "tools", Name: x, YAML: "  - name: " + x + "\n"}},
	}}}}
}
