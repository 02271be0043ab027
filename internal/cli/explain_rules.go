package cli

import (
	"fmt"

	"mcptest/internal/base/display"
	"mcptest/internal/cli/gen"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/ruleset"
)

// Kinds of topics of rules.
const (
	checkRule  = "rule of check"
	probeRule  = "rule of probe"
	resultRule = "rule of results"
)

// buildRuleTopics are the rules of check and probe, and those about results.
func buildRuleTopics() (out []gen.Topic, err error) {
	rules, err := compat.Builtin()
	if err != nil {
		return nil, err
	}
	for _, r := range rules.All() {
		if r.Profile != compat.GroupResults { // which have topics of their own
			out = append(out, newCheckTopic(&r))
		}
	}
	clauses, err := ruleset.Builtin()
	if err != nil {
		return nil, err
	}
	for _, r := range clauses.Rules {
		out = append(out, newProbeTopic(r))
	}
	for _, r := range toolresult.Rules {
		out = append(out, gen.Topic{
			Kind: resultRule, Name: r.ID, Title: resultRule + " " + r.ID,
			Doc: display.Sentence(r.Says) + " " + display.Sentence(r.Client),
			Facts: []string{
				"seen at the end of mcptest run, for information: it changes no exit code",
				"in a record or a cassette: mcptest check --only results FILE",
				"fix: " + r.Fix,
				"source: " + r.Source + " (" + r.Seen + ")",
			},
			Example: "mcptest call TOOL --as claude-code -- command args…",
		})
	}
	return out, nil
}

func newCheckTopic(r *compat.Rule) gen.Topic {
	return gen.Topic{
		Kind: checkRule, Name: r.ID, Title: checkRule + " " + r.ID,
		Doc: display.Sentence(r.Message) + " " + display.Sentence("Fix: "+r.Fix),
		Facts: []string{
			fmt.Sprintf("%s of %s, effect: %s", r.Level, r.Profile, r.Effect),
			fmt.Sprintf("source: %s (%s, %s)", r.Source, r.Basis, r.Seen),
		},
		Example: "mcptest check -- command args…",
	}
}

func newProbeTopic(r ruleset.Rule) gen.Topic {
	t := gen.Topic{
		Kind: probeRule, Name: r.ID, Title: probeRule + " " + r.ID,
		Doc:     display.Sentence(r.Text) + " " + display.Sentence("Fix: "+r.Fix),
		Example: "mcptest probe --only " + r.ID + " -- command args…",
	}
	for _, c := range r.In {
		fact := fmt.Sprintf("%s in %s", c.Level, c.Span())
		if url := c.URL(c.Revisions[len(c.Revisions)-1]); url != "" {
			fact += ": " + url
		}
		t.Facts = append(t.Facts, fact)
	}
	return t
}
