package gen

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report"
)

// Topics returns everything there is to ask about, in the order of the
// reference: keys, matchers, roots of targets, kinds of violations, exit codes,
// reporters. schema is the published one.
func Topics(schema jsonv.Value, codes []cmdutil.ExitCode) []Topic {
	topics := buildKeyTopics(Keys(schema))
	for _, row := range match.Matchers() {
		argument := schema.Lookup("$defs", "matcher", "properties", row.Name)
		topics = append(topics, newMatcherTopic(row, argument))
	}
	for _, r := range target.Roots() {
		topics = append(topics, newRootTopic(r))
	}
	for _, k := range Violations() {
		topics = append(topics, Topic{
			Kind: "violation", Name: k.Name, Title: "violation " + k.Name, Doc: k.Doc,
			Facts:   []string{"a protocol violation: it fails the test it belongs to, or the run"},
			Example: "servers:\n  api:\n    tolerate: [" + k.Name + "]   # a warning on this server",
		})
	}
	for _, c := range codes {
		name := strconv.Itoa(c.Code)
		topics = append(topics, Topic{
			Kind: "exit code", Name: name, Title: "exit code " + name, Doc: display.Sentence(c.Doc),
		})
	}
	for _, f := range report.Formats {
		topics = append(topics, Topic{
			Kind: "reporter", Name: f.Name, Title: "reporter " + f.Name, Doc: display.Sentence(f.Doc),
			Example: "mcptest run --reporter " + f.Name + "\nmcptest run --reporter " + f.Name + "=report" + f.Ext,
		})
	}
	return topics
}

// MockTopics returns the keys of the mock server's file, of its schema.
func MockTopics(schema jsonv.Value) []Topic {
	topics := buildKeyTopics(Keys(schema))
	for i := range topics {
		t := &topics[i]
		t.Kind, t.Title = mockKey, "key "+t.Name+" of a file of mcptest mock"
		t.Facts = slices.DeleteFunc(t.Facts, func(fact string) bool {
			return strings.HasPrefix(fact, "type: ") && strings.HasSuffix(fact, "any value")
		})
	}
	return topics
}

// buildKeyTopics makes one topic of the keys that say the same in several places.
func buildKeyTopics(keys []Key) []Topic {
	var out []Topic
	index := map[string]int{}
	for _, k := range keys {
		same := k.Name + "\x00" + k.Doc + "\x00" + k.Type
		if i, ok := index[same]; ok {
			out[i].places = append(out[i].places, k.Where)
			continue
		}
		index[same] = len(out)
		t := Topic{
			Kind:   "key",
			Name:   k.Name,
			Title:  "key " + k.Name,
			Doc:    k.Doc,
			Facts:  []string{"type: " + strings.ReplaceAll(k.Type, "`", "")},
			places: []string{k.Where},
		}
		if k.Required {
			t.Facts = append(t.Facts, "required")
		}
		if k.Default != "" {
			t.Facts = append(t.Facts, "default: "+k.Default)
		}
		if !k.Example.IsAbsent() {
			t.Example = formatBlock(k.Name, k.Example)
		}
		out = append(out, t)
	}
	return out
}

func newRootTopic(r target.Root) Topic {
	t := Topic{
		Kind:    "target root",
		Name:    r.Name,
		Title:   "target root " + r.Name,
		Doc:     display.Sentence(r.Doc),
		Example: "- target: " + r.Example[0] + "\n  matcher: {" + r.Example[1] + "}",
	}
	if r.Leaf != "" {
		t.Facts = []string{"it is " + r.Leaf + ": no path can follow it"}
	}
	return t
}

// OutputSchema is the one kind of violation that is not found on the wire:
// a result that breaks the promise of the tool's outputSchema.
const OutputSchema = "output-schema"

// Violations returns every kind that `tolerate:` knows: those of the wire, the one that is
// found by looking at a result, and the one of test doubles.
func Violations() []protocol.ViolationKind {
	kinds := slices.Clone(protocol.ViolationKinds)
	kinds = append(kinds, protocol.ViolationKind{
		Name: OutputSchema, Since: "1.0",
		Doc: "A result whose structuredContent is missing or does not fit the outputSchema that the tool declares.",
	})
	return append(kinds, protocol.ViolationKind{
		Name: "late-upstream-request", Since: "1.0",
		Doc: "An upstream got a request after the response of the test. " +
			"It is only a warning if a route matches it and the test does not examine the upstream.",
	})
}
