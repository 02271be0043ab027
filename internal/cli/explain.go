package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/assert/habit"
	"mcptest/internal/base/elsewhere"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/gen"
	"mcptest/internal/cli/option"
	"mcptest/internal/report/result"
	"mcptest/schemas"
)

func newExplainCmd(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [word…]",
		Short: "Explain a key, matcher, target, violation, rule, reporter or exit code",
		Long: `Explain a word from a suite or a report, with an example: a key of a suite
(timeout, or run_options.timeout to choose one of several) or of a file of the
mock server, a matcher, a target or its root, a kind of protocol violation, a
rule of check or probe, a reporter or an exit code. Without a word, list all of
them.`,
		Example: `  mcptest explain contains
  mcptest explain servers.timeout
  mcptest explain 'result.items[*].id'
  mcptest explain stray-output
  mcptest explain tool-output-schema
  mcptest explain 2`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			topics, err := buildTopics()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			var names []string
			for _, t := range topics {
				if !slices.Contains(names, t.Name) && !slices.Contains(args, t.Name) {
					names = append(names, t.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return explain(s, args) },
	}
}

// buildTopics returns all topics of explain.
func buildTopics() ([]gen.Topic, error) {
	schema, err := jsonv.Parse(schemas.V1)
	if err != nil {
		return nil, option.Fail(option.ExitInternal, "read the schema: %v", err)
	}
	mock, err := jsonv.Parse(schemas.Mock)
	if err != nil {
		return nil, option.Fail(option.ExitInternal, "read the schema of the mock server: %v", err)
	}
	all := slices.Concat(gen.Topics(schema, exitCodes), gen.MockTopics(mock))
	for _, k := range result.FindingKinds {
		all = append(all, gen.Topic{
			Kind: "finding", Name: k.Name, Title: "finding " + k.Name, Doc: k.Doc + ".",
			Facts: []string{"a finding that belongs to no single test; mcptest run lists it after the tests"},
		})
	}
	rules, err := buildRuleTopics()
	if err != nil {
		return nil, option.Fail(option.ExitInternal, "read the rules: %v", err)
	}
	return slices.Concat(all, otherWords, rules), nil
}

// buildElsewhereTopics are the words of other tools.
func buildElsewhereTopics() (out []gen.Topic) {
	for _, row := range elsewhere.Words() {
		out = append(out, gen.Topic{
			Kind: "word", Name: row.Word, Title: row.Word + " of other tools (" + row.From + ")", Doc: "Here: " + row.Say() + ".",
		})
	}
	return out
}

// otherWords are words of suites and responses that are not in any table of the
// language.
var otherWords = []gen.Topic{
	{
		Kind: "word", Name: "isError", Title: "word isError", Doc: "The member of a tools/call result by which a tool reports an error. A test fails if a tool sets it and no assertion examines it.",
		Facts: []string{"an absent isError reads as false"}, Example: "- target: result.isError\n  matcher: {exact: true}",
	},
	{
		Kind: "word", Name: "arguments", Title: "word arguments", Doc: "The arguments of a tool are written as `args`, also in the requests of prompts.",
		Example: "- name: finds rust\n  tool: search\n  args: {query: rust}",
	},
	{
		Kind: "word", Name: "score", Title: "word score", Doc: "The result of an assertion as a number from 0 to 1. The score of a test is the mean of its assertions, weighted by `weight`; `threshold` is the smallest score that passes.",
		Facts: []string{"see also: weight, threshold, derivedMetrics"}, Example: "threshold: 0.8\nexpect:\n  - {target: text, matcher: {contains: rust}, weight: 2}",
	},
	{
		Kind: "word", Name: "csv", Title: "word csv", Doc: "A file format for `cases`: one test per row, one value per column. The first line names the columns.",
		Example: "cases: rows.csv\nargs: {text: \"${case.text}\"}",
	},
	{
		Kind: "word", Name: "placeholders", Title: "word placeholders", Doc: "`${NAME}` is a variable of the suite or of the environment, `${case.NAME}` a value of the row, `${steps.NAME}` a captured value, `$${` the text `${`. They work in every value, also in regexes, lists and URIs; a value that is only a placeholder keeps its type, also lists and maps.",
		Facts: []string{"see also: variables, cases, capture, CONFIG_DIR"}, Example: "args: \"${case.args}\"\nexpect:\n  - {target: text, matcher: {contains: \"id ${case.id}\"}}",
	},
	{
		Kind: "word", Name: "CONFIG_DIR", Title: "word CONFIG_DIR", Doc: "`${CONFIG_DIR}` is the folder of the file that contains it, as an absolute path.",
		Example: "variables: {data: \"${CONFIG_DIR}/data\"}",
	},
	{
		Kind: "word", Name: "damage", Title: "word damage", Doc: "`run --replay FOLDER --damage` replays recordings with every content changed, so that each test that examines one must fail. One that passes is the finding unnoticed-damage.",
		Facts: []string{"lists, standard error, pings and notifications are not changed; of a flow only the first step that asserts is proved"},
	},
}

// indices matches the list indexes in a path.
var indices = lazy.Regexp(`\[\d*\]`)

func explain(s cmdutil.Streams, words []string) error {
	all, err := buildTopics()
	if err != nil {
		return err
	}
	if len(words) == 0 {
		_, err := s.Out.Write([]byte(formatOverview(all)))
		return err
	}
	var known []gen.Topic
	var unknown []string
	for _, word := range words {
		found := findTopics(all, word)
		if len(found) == 0 {
			near := source.Parenthesis(source.Suggest(gen.Nearest(all, word)))
			unknown = append(unknown, fmt.Sprintf("unknown word %q%s", word, near))
		}
		known = append(known, found...)
	}
	if _, err := fmt.Fprint(s.Out, gen.Text(known)); err != nil {
		return err
	}
	if len(unknown) > 0 {
		return option.Invalid("%s; 'mcptest explain' lists all words", strings.Join(unknown, ", "))
	}
	return nil
}

// findTopics returns the topics of a word, or else of what it probably means.
func findTopics(all []gen.Topic, word string) []gen.Topic {
	if found := gen.Find(all, word); len(found) > 0 {
		return found
	}
	asInMessage := indices().ReplaceAllString(word, "")
	if found := gen.Find(all, asInMessage); len(found) > 0 {
		return found
	}
	ofOtherTools := buildElsewhereTopics()
	if found := gen.Find(ofOtherTools, word); len(found) > 0 {
		return found
	}
	if near := habit.Matcher(word); near != "" {
		if found := gen.Find(all, near); len(found) > 0 {
			return found
		}
	}
	flag := "--" + word
	if found := gen.Find(ofOtherTools, flag); len(found) > 0 {
		return found
	}
	return gen.Mentions(all, word)
}

// formatOverview lists the names of all topics, kind by kind.
func formatOverview(topics []gen.Topic) string {
	const width = 90
	var b strings.Builder
	b.WriteString("mcptest explain WORD explains one of these.\n")
	for _, kind := range []struct{ name, title string }{
		{"key", "Keys of a suite"},
		{"mock key", "Keys of the file of mcptest mock"},
		{"matcher", "Matchers"},
		{"target root", "Roots of targets"},
		{"violation", "Protocol violations"},
		{"reporter", "Reporters"},
		{"finding", "Findings outside the tests"},
		{"exit code", "Exit codes"},
		{checkRule, "Rules of check"},
		{probeRule, "Rules of probe"},
		{resultRule, "What clients do with results"},
	} {
		b.WriteString("\n" + kind.title + ":\n")
		line := " "
		for _, name := range gen.Names(topics, kind.name) {
			if len(line)+1+len(name) > width {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + name
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
