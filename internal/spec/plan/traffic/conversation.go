package traffic

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// CompileConversation checks the names in a test of agents, and returns the other servers that
// it uses.
func CompileConversation(st *suite.Test, s *suite.Suite, dec *source.Decoder) (with []string) {
	k, ok := st.Action.(*agent.Conversation)
	if !ok {
		return nil
	}
	for i, name := range k.With {
		path, n := source.PathIndex(st.Path+".with", i), st.Node.Get("with").Items[i]
		switch {
		case s.Server(name) == nil:
			dec.Errorf(n, path, "no server is called %q", name).Hint = s.SuggestServer(name)
		case slices.Contains(with, name) || slices.ContainsFunc(st.Server.Items, func(t suite.Text) bool { return t.Text == name }):
			dec.Errorf(n, path, "the conversation uses %q already", name)
		default:
			with = append(with, name)
		}
	}
	names := append(s.Models.Keys(), agent.Script)
	if k.Model != "" && !slices.Contains(names, k.Model) {
		d := dec.Errorf(st.Node.Get("model"), st.Path+".model", "no model is called %q", k.Model)
		d.Hint = cmp.Or(source.DidYouMean(k.Model, names), "declare it at the top level: models: {"+k.Model+": "+makeEndpoint(k.Model)+"}")
	}
	m, _ := s.Models.Get(k.Model)
	if m != nil && m.Price == nil && k.Budget != nil && k.Budget.USD > 0 {
		dec.Add(source.Errorf(st.Pos, st.Path+".budget", "usd: requires the price of the model %s", k.Model))
	}
	return with
}

// makeEndpoint is a declaration of a model that is known by its name.
func makeEndpoint(model string) string {
	switch {
	case strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "gpt-oss"):
		return `{api: openai, url: "https://api.openai.com/v1", model: ` + model + ", key_env: OPENAI_API_KEY}"
	case strings.HasPrefix(model, "claude-"):
		return `{api: anthropic, url: "https://api.anthropic.com/v1", model: ` + model + ", key_env: ANTHROPIC_API_KEY}"
	}
	return `{api: openai, url: "https://…/v1", model: ` + model + ", key_env: NAME}"
}
