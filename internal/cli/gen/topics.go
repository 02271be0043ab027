package gen

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/grading"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/assert"
	"mcptest/internal/report"
)

// Topic is something that a user may write or meet, and ask about.
type Topic struct {
	Kind    string // key, matcher, target root, violation, exit code, reporter
	Name    string
	Aliases []string
	Title   string // the line it is shown under
	Facts   []string
	Doc     string
	Example string // YAML, or a command line
	Passes  string // for matchers: a value, as JSON
	Fails   string
	Message string // what is said about the value that fails

	arguments []string // for matchers: the keys of the argument
}

// Topics returns everything there is to ask about, in the order of the
// reference: keys, matchers, roots of targets, kinds of violations, exit codes,
// reporters. schema is the published one.
func Topics(schema jsonv.Value, codes []cmdutil.ExitCode) []Topic {
	topics := buildKeyTopics(Keys(schema))
	for _, row := range match.Matchers() {
		t := newMatcherTopic(row)
		t.arguments = listArguments(schema.Lookup("$defs", "matcher", "properties", row.Name))
		topics = append(topics, t)
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
		topics = append(topics, Topic{Kind: "exit code", Name: name, Title: "exit code " + name, Doc: display.Sentence(c.Doc)})
	}
	for _, f := range report.Formats {
		topics = append(topics, Topic{
			Kind: "reporter", Name: f.Name, Title: "reporter " + f.Name, Doc: display.Sentence(f.Doc),
			Example: "mcptest run --reporter " + f.Name + "\nmcptest run --reporter " + f.Name + "=report" + f.Ext,
		})
	}
	return topics
}

// mockKey is the kind of the keys of the mock server's file.
const mockKey = "mock key"

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

// isKey reports whether a topic is a key of a file.
func (t Topic) isKey() bool { return t.Kind == "key" || t.Kind == mockKey }

// Mentions returns the keys of the mock server's file of which a word is a part, or that
// name it in their description, such as a header: of a word that is no key.
func Mentions(topics []Topic, word string) []Topic {
	const most = 5
	parts := func(r rune) bool { return r == '_' || r == '-' }
	found := filter(topics, func(t Topic) bool {
		if t.Kind != mockKey {
			return false
		}
		words := strings.FieldsFunc(strings.ToLower(t.Doc), func(r rune) bool { return r == ' ' || strings.ContainsRune(",.;:()[]{}<>", r) })
		return slices.Contains(strings.FieldsFunc(t.Name, parts), word) || slices.Contains(words, strings.ToLower(word))
	})
	if len(found) > most {
		return nil
	}
	return found
}

// buildKeyTopics makes one topic of the keys that say the same in several places.
func buildKeyTopics(keys []Key) []Topic {
	var out []Topic
	index := map[string]int{}
	for _, k := range keys {
		same := k.Name + "\x00" + k.Doc + "\x00" + k.Type
		if i, ok := index[same]; ok {
			out[i].Facts[0] += ", " + k.Where
			continue
		}
		index[same] = len(out)
		t := Topic{
			Kind:  "key",
			Name:  k.Name,
			Title: "key " + k.Name,
			Doc:   k.Doc,
			Facts: []string{"in: " + k.Where, "type: " + strings.ReplaceAll(k.Type, "`", "")},
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

func newMatcherTopic(row match.Row) Topic {
	return Topic{
		Kind: "matcher", Name: row.Name, Aliases: row.Aliases, Title: "matcher " + row.Name, Doc: display.Sentence(row.Doc),
		Example: row.Example, Passes: showValue(row.Passes), Fails: showValue(row.Fails), Message: showFailure(row),
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
			if c.Lock != nil { // the file is not here
				return assert.Verdict{Problem: "it differs from surface/api.lock.yaml: 1 breaking"}
			}
			others := []assert.Other{{Way: "over 2025-06-18", Over: "2025-06-18", Offer: passes}}
			unmasked := func(s string) string { return s }
			return c.Run(ctx, offer, assert.Env{Server: "api", Mask: unmasked, Others: others})
		},
	}
}

// Find returns the topics that a user's word names: by name or alias, a key
// also by the end of its place (run_options.timeout) or in snake case, a root
// also by a target that starts with it, a matcher also by a key of its argument
// (tolerance).
func Find(topics []Topic, word string) []Topic {
	word = strings.TrimSpace(word)
	if strings.HasPrefix(word, "$") || strings.ContainsAny(word, "[(") || strings.Contains(word, ".") {
		if t, err := target.Parse(word); err == nil {
			return filter(topics, func(root Topic) bool { return root.Kind == "target root" && root.Name == t.Root() })
		}
	}
	if found := findNamed(topics, word); len(found) > 0 {
		return found
	}
	if found := findPlaced(topics, word); len(found) > 0 {
		return found
	}
	if found := findExplained(topics, word); len(found) > 0 {
		return found
	}
	if kebab := strings.ReplaceAll(word, "_", "-"); kebab != word {
		if found := Find(topics, kebab); len(found) > 0 {
			return found
		}
	}
	if found := findByArgument(topics, word); len(found) > 0 {
		return found
	}
	i := strings.Index(word, "_")
	if i > 0 && i < len(word)-1 {
		return Find(topics, word[:i]+strings.ToUpper(word[i+1:i+2])+word[i+2:])
	}
	return []Topic{}
}

// findNamed returns the topics with a name or an alias. Keys are of many places, so they come
// last.
func findNamed(topics []Topic, name string) []Topic {
	found := filter(topics, func(t Topic) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
	if len(found) == 0 {
		return found
	}
	ofMocks := filter(found, func(t Topic) bool { return t.Kind == mockKey })
	if len(ofMocks) == len(found) {
		found = append(findByArgument(topics, name), found...) // suites before mocks
	}
	keys := filter(found, Topic.isKey)
	others := filter(found, func(t Topic) bool { return !t.isKey() })
	return slices.Concat(others, keys)
}

// findExplained returns the keys that explain a key below them in their text: variants, of
// variants.from.
func findExplained(topics []Topic, place string) []Topic {
	i := strings.LastIndexByte(place, '.')
	if i <= 0 {
		return nil
	}
	return filter(findPlaced(topics, place[:i]), func(t Topic) bool {
		return strings.Contains(t.Doc, " "+place[i+1:]+":")
	})
}

// findByArgument returns the matchers whose argument has a key.
func findByArgument(topics []Topic, key string) []Topic {
	return filter(topics, func(t Topic) bool {
		return t.Kind == "matcher" && slices.Contains(t.arguments, key)
	})
}

// listArguments returns the keys that the schema of a matcher's argument names.
func listArguments(schema jsonv.Value) (keys []string) {
	keys = schema.Lookup("properties").Keys()
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

// findPlaced returns the keys whose place ends with a word.
func findPlaced(topics []Topic, word string) []Topic {
	return filter(topics, func(t Topic) bool {
		if !t.isKey() {
			return false
		}
		for _, where := range strings.Split(strings.TrimPrefix(t.Facts[0], "in: "), ", ") {
			where = strings.NewReplacer("[]", "", ".<name>", "").Replace(where)
			if where == word || strings.HasSuffix(where, "."+word) {
				return true
			}
		}
		return false
	})
}

func filter(topics []Topic, keep func(Topic) bool) []Topic {
	kept := []Topic{}
	for _, t := range topics {
		if keep(t) {
			kept = append(kept, t)
		}
	}
	return kept
}

// Names lists the names of the topics of a kind, each once.
func Names(topics []Topic, kind string) []string {
	var out []string
	for _, t := range topics {
		if t.Kind == kind && !slices.Contains(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

// Nearest returns the name that a misspelt word may have meant, "" when there
// is none.
func Nearest(topics []Topic, word string) string {
	var names []string
	for _, t := range topics {
		names = append(append(names, t.Name), t.Aliases...)
	}
	return source.FindNearest(word, names)
}

// Text writes topics for a terminal. A key that has its name in many places is
// in short.
func Text(topics []Topic) string {
	const many = 3
	var b strings.Builder
	short := func(kind string) bool {
		return len(filter(topics, func(t Topic) bool { return t.Kind == kind })) > many
	}
	for i, t := range topics {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.isKey() && short(t.Kind) {
			b.WriteString(strings.TrimPrefix(t.Facts[0], "in: "))
			if len(t.Facts) > 1 {
				fmt.Fprintf(&b, " (%s)", strings.Join(t.Facts[1:], "; "))
			}
			fmt.Fprintf(&b, "\n  %s\n", t.Doc)
			continue
		}
		t.write(&b)
	}
	return b.String()
}

func (t Topic) write(b *strings.Builder) {
	b.WriteString(t.Title + "\n")
	fmt.Fprintf(b, "  %s\n", t.Doc)
	for _, f := range t.Facts {
		fmt.Fprintf(b, "  %s\n", f)
	}
	if t.Example != "" {
		fmt.Fprintf(b, "\n  example:\n    %s\n", strings.ReplaceAll(t.Example, "\n", "\n    "))
	}
	if t.Passes != "" {
		fmt.Fprintf(b, "\n  passes on: %s\n  fails on:  %s\n", t.Passes, t.Fails)
	}
	if t.Message != "" {
		fmt.Fprintf(b, "             %s\n", t.Message)
	}
}

// OutputSchema is the one kind of violation that is not found on the wire:
// a result that breaks the promise of the tool's outputSchema.
const OutputSchema = "output-schema"

// Violations returns every kind that `tolerate:` knows: those of the wire, the one that is
// found by looking at a result, and the one of test doubles.
func Violations() []protocol.ViolationKind {
	return append(protocol.ViolationKinds[:len(protocol.ViolationKinds):len(protocol.ViolationKinds)], protocol.ViolationKind{
		Name: OutputSchema, Since: "1.0",
		Doc: "A result whose structuredContent is missing or does not fit the outputSchema that the tool declares.",
	}, protocol.ViolationKind{
		Name: "late-upstream-request", Since: "1.0",
		Doc: "An upstream got a request after the response of the test. It is only a warning if a route matches it and the test does not examine the upstream.",
	})
}
