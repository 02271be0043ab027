package traffic

import (
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan/rows"
	"mcptest/internal/spec/suite"
)

// CompileDescriptions reads the file of descriptions of a variant of a server of a suite.
func CompileDescriptions(sv *suite.Server, s *suite.Suite, path string, o rows.Options) (out []agent.Description) {
	n := sv.Describe
	if n == nil || n.Kind != source.KindString { // which the decoder reports
		return nil
	}
	file := o.Open(n, &source.Node{Pos: source.Pos{File: sv.File}}, path, ".yaml", ".yml", ".json")
	if file == nil {
		return nil
	}
	hasAgents := slices.ContainsFunc(s.Entries, func(e suite.Entry) bool { return e.Block == "agents" })
	if !hasAgents {
		o.Dec.Warnf(n, path, "it has no effect: only models read descriptions, and the suite has no test of agents")
	}
	root, diags := source.Parse(file)
	o.Dec.Add(diags...)
	if root == nil {
		return nil
	}
	if root.Kind != source.KindMap || len(root.Fields) == 0 {
		o.Dec.ReportWrongType(root, "", "a map of tools and their descriptions").Hint = "write TOOL: DESCRIPTION"
		return nil
	}
	var texts source.Map[string]
	o.Dec.Decode(root, "", &texts)
	for _, e := range texts.Entries {
		out = append(out, agent.Description{Tool: e.Key, Text: e.Value, Pos: e.Pos})
	}
	return out
}
