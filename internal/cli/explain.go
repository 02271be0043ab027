package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mcptest/internal/gen"
	"mcptest/internal/jsonv"
	"mcptest/internal/result"
	"mcptest/schemas"
)

func newExplainCmd(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [word…]",
		Short: "Explain a key, matcher, target, violation, reporter or exit code",
		Long: `Explain a word from a suite or a report, with an example: a key of a suite
(timeout, or run_options.timeout to choose one of several), a matcher, a target
or its root, a kind of protocol violation, a reporter or an exit code. Without a
word, list all of them.`,
		Example: `  mcptest explain contains
  mcptest explain servers.timeout
  mcptest explain 'result.items[*].id'
  mcptest explain stray-output
  mcptest explain 2`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			topics, err := topics()
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

// topics are what explain knows about.
func topics() ([]gen.Topic, error) {
	schema, err := jsonv.Parse(schemas.V1)
	if err != nil {
		return nil, fail(exitInternal, "read the schema: %v", err)
	}
	all := gen.Topics(schema, exitCodes)
	for _, k := range result.FindingKinds {
		all = append(all, gen.Topic{
			Kind: "finding", Name: k.Name, Title: "finding " + k.Name, Doc: k.Doc + ".",
			Facts: []string{"a finding that belongs to no single test; mcptest run lists it after the tests"},
		})
	}
	return all, nil
}

// indices are the places in lists that a path has.
var indices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[\d*\]`)
})

func explain(s Streams, words []string) error {
	all, err := topics()
	if err != nil {
		return err
	}
	if len(words) == 0 {
		_, err := s.Out.Write([]byte(overview(all)))
		return err
	}
	var known []gen.Topic
	var unknown []string
	for _, word := range words {
		found := gen.Find(all, word)
		if len(found) == 0 { // a path as a message has it
			found = gen.Find(all, indices().ReplaceAllString(word, ""))
		}
		if len(found) == 0 {
			hint := ""
			if near := gen.Nearest(all, word); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			unknown = append(unknown, fmt.Sprintf("unknown word %q%s", word, hint))
		}
		known = append(known, found...)
	}
	if _, err := fmt.Fprint(s.Out, gen.Text(known)); err != nil {
		return err
	}
	if len(unknown) > 0 {
		return fail(exitInvalid, "%s; 'mcptest explain' lists all words", strings.Join(unknown, ", "))
	}
	return nil
}

// overview lists the names of all topics, kind by kind.
func overview(topics []gen.Topic) string {
	const width = 90
	var b strings.Builder
	b.WriteString("mcptest explain WORD explains one of these.\n")
	for _, kind := range []struct{ name, title string }{
		{"key", "Keys of a suite"},
		{"matcher", "Matchers"},
		{"target root", "Roots of targets"},
		{"violation", "Protocol violations"},
		{"reporter", "Reporters"},
		{"finding", "Findings outside the tests"},
		{"exit code", "Exit codes"},
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
