package manifest

import (
	"cmp"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// askKeys are the keys of an ask.
type askKeys struct {
	// The name of the response: ${ask.NAME}; without it, the kind.
	As string `yaml:"as"`
	// sampling/createMessage: its params, or the text of one user message.
	Sampling *source.Node `yaml:"sampling"`
	// elicitation/create: its params, or just the message.
	Elicitation *source.Node `yaml:"elicitation"`
	// roots/list.
	Roots *source.Node `yaml:"roots"`
	// true: a client that did not declare that it can be asked is not; ${ask.NAME} is absent then.
	Optional bool `yaml:"optional"`
}

// askNames returns the names of the asks in a list of steps.
func askNames(n *source.Node) []string {
	names := []string{}
	for _, item := range n.Items {
		ask := item.Get("ask")
		for _, one := range eachAsk(ask) {
			if name := askName(one); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// eachAsk returns the asks of a step: one, or a list.
func eachAsk(n *source.Node) []*source.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == source.KindList:
		return n.Items
	}
	return []*source.Node{n}
}

// askName returns the name of a response: the given name, or the kind of the ask.
func askName(ask *source.Node) string {
	if ask.Kind == source.KindString {
		return ask.Text
	}
	if as := ask.Get("as"); as != nil {
		return as.Text
	}
	return lists.First([]string{"sampling", "elicitation", "roots"}, func(kind string) bool { return ask.Get(kind) != nil })
}

// compileAsks compiles one ask or a list of them, each with a unique name.
func (c compiler) compileAsks(n *source.Node, path string) []*Question {
	if n.Kind == source.KindList && len(n.Items) == 0 {
		c.d.Errorf(n, path, "an empty list sends no requests")
		return nil
	}
	var out []*Question
	seen := map[string]bool{}
	for i, item := range eachAsk(n) {
		at := path
		if n.Kind == source.KindList {
			at = source.PathIndex(path, i)
		}
		q := c.ask(item, at)
		if q == nil {
			continue
		}
		if seen[q.As] {
			c.d.Errorf(item, at, "duplicate ask %q in one list", q.As).Hint = "as: NAME gives each response a different name"
		}
		seen[q.As] = true
		out = append(out, q)
	}
	return out
}

func (c compiler) ask(n *source.Node, path string) *Question {
	if n.Kind == source.KindString && n.Text == "roots" {
		return &Question{As: "roots", Method: "roots/list", Needs: "roots"}
	}
	var k askKeys
	c.d.Decode(n, path, &k)
	if countGiven(k.Sampling, k.Elicitation, k.Roots) != 1 {
		c.d.Errorf(n, path, "must have exactly one of sampling, elicitation and roots")
		return nil
	}
	q := &Question{Method: "roots/list", Needs: "roots", Optional: k.Optional}
	switch {
	case k.Sampling != nil:
		q.Method, q.Needs = "sampling/createMessage", "sampling"
		q.Params = c.compileSampling(k.Sampling, path+".sampling")
	case k.Elicitation != nil:
		q.Method, q.Needs = "elicitation/create", "elicitation"
		q.Params = c.compileElicitation(k.Elicitation, path+".elicitation")
	}
	q.As = cmp.Or(k.As, q.Needs)
	return q
}

// samplingTokens is the maxTokens of a request that is written as a text.
const samplingTokens = 100

func (c compiler) compileSampling(n *source.Node, path string) *Template {
	if n.Kind == source.KindMap {
		return c.compile(n, path)
	}
	messages := newComposite(source.KindList, nil, newUserMessage(newTextBlock(c.compile(n, path))))
	limit := newLiteral(jsonv.Int(samplingTokens))
	return newComposite(source.KindMap, []string{"messages", "maxTokens"}, messages, limit)
}

func (c compiler) compileElicitation(n *source.Node, path string) *Template {
	if n.Kind == source.KindMap {
		return c.compile(n, path)
	}
	schema := jsonv.ObjectOf("type", "object", "properties", jsonv.Object())
	return newComposite(source.KindMap, []string{"message", "requestedSchema"}, c.compile(n, path), newLiteral(schema))
}
