package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/option"
)

// group is a group of commands in the help, with a line that says why one comes to it.
type group struct {
	id, title string
	commands  []string
}

// groups are in the order in which a project needs them.
var groups = []group{
	{"start", "Start: a first suite, and tests while you write them", []string{"init", "run", "validate", "explain"}},
	{"look", "Look: what a server offers and answers, without a suite", []string{"ui", "tools", "resources", "prompts", "call", "doctor"}},
	{"prove", "Prove: is it right for every client, under load, for days?", []string{"probe", "check", "evidence", "load", "leak"}},
	{"freeze", "Freeze: what it offers, and what a change breaks", []string{"lock", "diff"}},
	{"record", "Record: what passes between client and server, and servers that only answer from a file", []string{"record", "serve", "cassette", "mock"}},
	{"results", "Results: of runs that are over", []string{"report", "compare"}},
	{"other", "Other", []string{"login", "logout", "down", "schema", "skill", "completion", "version", "help"}},
}

// addGroups assigns each command to its group.
func addGroups(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		for _, g := range groups {
			if slices.Contains(g.commands, cmd.Name()) {
				cmd.GroupID = g.id
			}
		}
	}
	root.SetHelpCommandGroupID("other")
}

// runSections are the flags of run by what they are for; those that all commands have are
// listed after them.
var runSections = []option.Section{
	{Title: "Which tests", Flags: []string{
		"config", "filter", "tag", "skip-tag", "server", "model", "changed", "last-failed", "shard", "shuffle", "list", "dry-run",
	}},
	{Title: "How they run", Flags: []string{
		"watch", "fail-fast", "parallel", "timeout", "retries", "wait-for-ready", "client",
		"update-snapshots", "no-diagnosis", "setup-only", "stop-at-eof", "max-cost",
	}},
	{Title: "What is shown and written", Flags: []string{
		"reporter", "output", "open", "quiet", "verbose", "no-progress", "color", "log-level", "coverage",
	}},
	{Title: "What fails the run", Flags: []string{"baseline", "fail-on-flaky", "fail-on-warnings"}},
	{Title: "Recordings, and the APIs and models behind the servers", Flags: []string{
		"record", "replay", "damage", "volatile", "record-upstream", "upstream-mode", "model-mode", "allow-update-in-ci",
	}},
	{Title: "Variables and files", Flags: []string{"var", "env-file", "token-file", "allow-outside"}},
}
