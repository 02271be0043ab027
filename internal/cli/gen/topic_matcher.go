package gen

import (
	"context"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/grading"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/assert"
)

// newMatcherTopic returns the topic of a matcher; argument is the schema of its argument.
func newMatcherTopic(row match.Row, argument jsonv.Value) Topic {
	return Topic{
		Kind:    "matcher",
		Name:    row.Name,
		Aliases: row.Aliases,
		Title:   "matcher " + row.Name,
		Doc:     display.Sentence(row.Doc),
		Example: row.Example,
		Passes:  showValue(row.Passes),
		Fails:   showValue(row.Fails),
		Message: showFailure(row),

		arguments: listArguments(argument),
	}
}

// showValue is an example value; a target without a value is said in words.
func showValue(value string) string {
	if value == "" {
		return "a target without a value"
	}
	return value
}

// showFailure returns what the matcher says about the value that fails.
func showFailure(row match.Row) string {
	text := "- target: structured.value\n  matcher: {" + row.Example + "}\n"
	n, _ := source.Parse(&source.File{Name: "example", Data: []byte(text)})
	var d source.Decoder
	tree := expect.Merge(expect.Parts{Expect: expect.CompileExpect(n, "expect", &d)}, expect.Parts{})
	if len(tree.Items) == 0 {
		return ""
	}
	structured := jsonv.Object()
	if v, err := jsonv.Parse([]byte(row.Fails)); err == nil {
		structured = structured.With("value", v)
	}
	obs := &target.Observation{Result: jsonv.Object(jsonv.Member{Key: "structuredContent", Value: structured})}
	return tree.Evaluate(context.Background(), obs, newExampleEnv(row)).Items[0].Message
}

// newExampleEnv returns stand-ins for what the matchers need besides a value: a program, a
// snapshot, a model and a lock file. Each fails, as the example does.
func newExampleEnv(row match.Row) *match.Env {
	passes, _ := jsonv.Parse([]byte(row.Passes))
	return &match.Env{
		Exec: func(context.Context, []string, []byte) ([]byte, error) {
			return []byte(`{"pass": false, "message": "\"bad\" is not good"}`), nil
		},
		Snapshot: func(_ string, _ *snapshot.Options, s target.Subject) snapshot.Comparison {
			return snapshot.Comparison{Want: passes, Got: s.Value}
		},
		Grade: func(context.Context, *grading.Grading, string) (grading.Grade, error) {
			return grading.Grade{Score: 0.2, Reason: "it names no day"}, nil
		},
		Surface: func(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
			return compareExampleOffer(ctx, c, offer, passes)
		},
	}
}

// compareExampleOffer compares an offer with that of another protocol version. The lock file
// that an example names does not exist, so its verdict is written here.
func compareExampleOffer(ctx context.Context, c *assert.Check, offer, other jsonv.Value) assert.Verdict {
	if c.Lock != nil {
		return assert.Verdict{Problem: "it differs from surface/api.lock.yaml: 1 breaking"}
	}
	return c.Run(ctx, offer, assert.Env{
		Server: "api",
		Mask:   func(s string) string { return s },
		Others: []assert.Other{{Way: "over 2025-06-18", Over: "2025-06-18", Offer: other}},
	})
}

// listArguments returns the keys that the schema of a matcher's argument names.
func listArguments(schema jsonv.Value) []string {
	keys := schema.Lookup("properties").Keys()
	for _, key := range schema.Lookup("properties").Members() {
		keys = append(keys, listArguments(key.Lookup("items"))...)
	}
	for _, several := range []string{"oneOf", "anyOf"} {
		for _, form := range schema.Lookup(several).Elems() {
			keys = append(keys, listArguments(form)...)
		}
	}
	return keys
}
