package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mcptest/internal/base/elsewhere"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/report"
)

// What the table of other tools' words recommends exists, and none of its words has a meaning here.
func TestWordsOfOtherToolsAreTrue(t *testing.T) {
	t.Parallel()
	root := newRoot(cmdutil.Streams{Args: []string{"help"}})
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range elsewhere.Words() {
		if row.Here == "" && row.Why == "" {
			t.Errorf("%s: the row says nothing", row.Word)
		}
		if row.Here != "" {
			parses(t, root, row)
		}
		name := strings.TrimLeft(row.Word, "-")
		if strings.HasPrefix(row.Word, "-") && (run.Flags().Lookup(name) != nil || len(name) == 1 && run.Flags().ShorthandLookup(name) != nil) {
			t.Errorf("%s is a flag of run", row.Word)
		}
		if _, err := report.Find(name); err == nil && !strings.HasPrefix(row.Word, "-") {
			t.Errorf("%s is a reporter", row.Word)
		}
	}
}

// parses checks that the command line of a row has a known command, and known flags and
// reporters.
func parses(t *testing.T, root *cobra.Command, row elsewhere.Row) {
	t.Helper()
	words, err := shellwords.Argv(row.Here)
	if err != nil {
		t.Errorf("%s: %v", row.Word, err)
		return
	}
	if strings.HasPrefix(words[0], "-") {
		words = append([]string{"mcptest", "run"}, words...)
	}
	cmd, rest, err := root.Find(words[1:])
	if err != nil || cmd == root {
		t.Errorf("%s: %s is no command: %v", row.Word, row.Here, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: %s: %v", row.Word, row.Here, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %s: %v", row.Word, row.Here, err)
	}
	for i, word := range rest {
		if word == "--reporter" {
			name, _, _ := strings.Cut(rest[i+1], "=")
			if _, err := report.Find(name); err != nil {
				t.Errorf("%s: %v", row.Word, err)
			}
		}
	}
}

// A hint that cobra's message does not need is not lost: each command of the table gets it.
func TestUnknownCommandsSayWhatTheyAreHere(t *testing.T) {
	t.Parallel()
	for _, row := range elsewhere.Words() {
		if strings.HasPrefix(row.Word, "-") {
			continue
		}
		row, ok := elsewhere.Command(row.Word)
		if !ok {
			continue
		}
		var out, errs bytes.Buffer
		code := Main([]string{row.Word}, cmdutil.Streams{Out: &out, Err: &errs})
		if code != 2 || !strings.Contains(errs.String(), row.Say()) {
			t.Errorf("%s: exit %d: %s", row.Word, code, errs.String())
		}
	}
}
