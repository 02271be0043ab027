package traffic

import (
	"cmp"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// Conversation checks the names in a test of agents, and returns the other servers that
// it uses.
func Conversation(st *suite.Test, s *suite.Suite, dec *source.Decoder) (with []string) {
	k, ok := st.Action.(*agent.Conversation)
	if !ok {
		return nil
	}
	for i, name := range k.With {
		switch path, n := source.PathIndex(st.Path+".with", i), st.Node.Get("with").Items[i]; {
		case s.Server(name) == nil:
			dec.Errorf(n, path, "no server is called %q", name).Hint = s.ServerHint(name)
		case slices.Contains(with, name) || slices.ContainsFunc(st.Server.Items, func(t suite.Text) bool { return t.Text == name }):
			dec.Errorf(n, path, "the conversation uses %q already", name)
		default:
			with = append(with, name)
		}
	}
	if names := append(s.Models.Keys(), agent.Script); k.Model != "" && !slices.Contains(names, k.Model) {
		d := dec.Errorf(st.Node.Get("model"), st.Path+".model", "no model is called %q", k.Model)
		d.Hint = cmp.Or(source.DidYouMean(k.Model, names), "declare it: models: {"+k.Model+": {api: openai, url: \"https://…/v1\", model: "+k.Model+", key_env: NAME}}")
	}
	if m, _ := s.Models.Get(k.Model); m != nil && m.Price == nil && k.Budget != nil && k.Budget.USD > 0 {
		dec.Add(source.Errorf(st.Pos, st.Path+".budget", "usd: requires the price of the model %s", k.Model))
	}
	return with
}
