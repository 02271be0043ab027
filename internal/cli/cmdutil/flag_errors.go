package cmdutil

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/base/elsewhere"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
)

// UsageError prints what cobra refuses (unknown commands and flags, a wrong
// number of arguments) and how to get help. The message may repeat the value of
// a flag, so secrets are removed from it.
func UsageError(stderr io.Writer, cmd *cobra.Command, err error) {
	msg := term.EscapeLines(secret.NewRedactor().String(spellArgs(suggestCommand(err.Error()))))
	fmt.Fprintf(stderr, "%s: %s\nRun '%s --help' for usage.\n", cmd.Root().Name(), msg, cmd.CommandPath())
}

// FlagError rewords an error of pflag and suggests the flag that was meant. It
// is for cobra's SetFlagErrorFunc.
func FlagError(cmd *cobra.Command, err error, args []string) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return suggestFlag(cmd, unknown, args)
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	want := map[string]string{
		"duration": "expected a duration such as 500ms, 10s or 2m",
		"float64":  "expected a number",
		"int":      "expected an integer",
		"bool":     "expected true or false",
	}[bad.GetFlag().Value.Type()]
	if want == "" {
		return err // types of this module word their errors themselves
	}
	return fmt.Errorf("--%s: %s, got %q", bad.GetFlag().Name, want, bad.GetValue())
}

// suggestFlag adds the most similar flag of the command to the error about an
// unknown one.
func suggestFlag(cmd *cobra.Command, unknown *pflag.NotExistError, args []string) error {
	name := unknown.GetSpecifiedName()
	row, known := elsewhere.Flag(name)
	if known && (cmd.Name() == "explain" || cmd.Name() == "help") {
		return fmt.Errorf("a flag of other tools (%s): %s", row.From, row.Say())
	}
	if known && serves(cmd, row) {
		return fmt.Errorf("%w (%s)", unknown, findAdvice(row))
	}
	if cmd.Parent() == nil && runHas(cmd, name) {
		return fmt.Errorf("%w (a flag of the command run: mcptest run %s)", unknown, shellwords.QuoteAllForShell(args))
	}
	hasFormat := cmd.Flags().Lookup("format") != nil
	if known && hasFormat && strings.HasPrefix(row.Here, "--reporter") {
		format, _, _ := strings.Cut(strings.TrimPrefix(row.Here, "--reporter "), "=")
		return fmt.Errorf("%w (write --format %s)", unknown, format)
	}
	near := otherFlags[name]
	if key, ok := strings.CutPrefix(near, "servers."); ok && cmd.Flags().Lookup("url") == nil {
		return fmt.Errorf("%w (it is a key of the server in the suite: servers: {api: {%s: …}})", unknown, key)
	}
	if strings.Contains(near, " ") {
		return fmt.Errorf("%w (%s)", unknown, near)
	}
	if cmd.Flags().Lookup(near) == nil {
		near = findNearestFlag(cmd, name)
	}
	if near == "" && cmd.Name() == "call" && unknown.GetSpecifiedShortnames() == "" {
		return fmt.Errorf("%w (an argument of the tool: --arg %s=%s)", unknown, name, findValueAfter(args, name))
	}
	if near == "" || unknown.GetSpecifiedShortnames() != "" && otherFlags[name] == "" {
		if cmd.Flags().Lookup("url") != nil && cmd.Flags().NArg() > 0 { // a program is named before it
			return fmt.Errorf("%w (the server's command goes after --)", unknown)
		}
		return unknown
	}
	return fmt.Errorf("%w%s", unknown, source.Parenthesis(source.Suggest("--"+near)))
}

// runHas reports whether the command run has a flag, by its name or its letter.
func runHas(root *cobra.Command, name string) bool {
	run, _, err := root.Find([]string{"run"})
	if err != nil || run == root {
		return false
	}
	return run.Flags().Lookup(name) != nil || len(name) == 1 && run.Flags().ShorthandLookup(name) != nil
}

// findAdvice names the flag that a row recommends, if that is all to be said, or says what to
// write.
func findAdvice(row elsewhere.Row) string {
	flag, value, _ := strings.Cut(row.Here, " ")
	if row.Why != "" || flag == "--reporter" || strings.Contains(value, "!") || strings.Contains(value, " --") {
		return row.Say()
	}
	return source.Suggest(flag)
}

// serves reports whether a command has the flag that a row recommends.
func serves(cmd *cobra.Command, row elsewhere.Row) bool {
	flag, isFlag := strings.CutPrefix(row.Here, "--")
	if !isFlag {
		return row.Here == "" && cmd.Name() == "run"
	}
	flag, _, _ = strings.Cut(flag, " ")
	flag, _, _ = strings.Cut(flag, "=")
	return cmd.Flags().Lookup(flag) != nil
}

// shortestPrefix is the length from which the beginning of a flag counts as meant.
const shortestPrefix = 3

// findNearestFlag returns the flag of the command that begins with a name, the shortest one, or
// else the one that is spelled like it.
func findNearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	begins := ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		meant := len(name) >= shortestPrefix && strings.HasPrefix(f.Name, name)
		if meant && (begins == "" || len(f.Name) < len(begins)) {
			begins = f.Name
		}
	})
	if begins != "" {
		return begins
	}
	return source.FindNearest(name, names)
}

// findValueAfter returns the value that was written for a flag, or a word for it.
func findValueAfter(args []string, name string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return shellwords.QuoteForShell(value)
		}
		if arg == "--"+name && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			return shellwords.QuoteForShell(args[i+1])
		}
	}
	return "VALUE"
}

// unknownCommand matches cobra's message about a command.
var unknownCommand = lazy.Regexp(`(?s)^unknown command "(.*?)" for "mcptest"`)

// suggestCommand says what an unknown command is called here, or that it is a suite.
func suggestCommand(msg string) string {
	m := unknownCommand().FindStringSubmatch(msg)
	if m == nil {
		return msg
	}
	word := m[1]
	hint := ""
	row, known := elsewhere.Command(word)
	_, missing := os.Stat(word)
	switch {
	case known:
		hint = row.Say()
	case missing == nil && FindStarter(word) != "":
		hint = "to write a suite for a server: mcptest init " + QuoteServer(word)
	case missing == nil:
		hint = "to run a suite: mcptest run " + shellwords.QuoteForShell(word)
	case isRunnable(word):
		hint = "to write a suite for a server: mcptest init -- " + shellwords.QuoteForShell(word) + " …"
	case strings.HasPrefix(word, "http://"), strings.HasPrefix(word, "https://"):
		hint = "to judge a server: mcptest probe --url " + shellwords.QuoteForShell(word)
	default:
		return msg
	}
	return fmt.Sprintf("unknown command %q for \"mcptest\" (%s)", word, hint)
}

// isRunnable reports whether a word is a program that starts servers, or a file of one.
func isRunnable(word string) bool {
	switch word {
	case "node", "npx", "python", "python3", "uv", "uvx", "deno", "bun", "docker", "go", "java":
		return true
	}
	switch filepath.Ext(word) {
	case ".js", ".mjs", ".cjs", ".ts", ".py":
		return true
	}
	return false
}

// otherFlags maps further names of flags, which are not in the table of other tools or are
// about other commands than run, to those here, or to what to
// write, in several words, or to servers.KEY of the suite.
var otherFlags = map[string]string{
	"format": "reporter", "r": "reporter",
	"junit": "write --reporter junit=FILE", "junitxml": "write --reporter junit=FILE", "no-watch": "leave it out: only --watch watches",
	"tool-arg": "arg", "args": "args-json",
	"outputFile": "write --reporter NAME=FILE", "vus": "calls are sent at a fixed rate: write --rate 50/s", "iterations": "leak counts with --sessions N, load with --rate and --duration",
	"connect-timeout": "servers.connect_timeout", "url": "servers.url", "command": "servers.command", "env": "servers.env", "e": "servers.env", "cwd": "servers.cwd",
	"header": "servers.headers", "H": "servers.headers", "transport": "servers.transport", "protocol": "servers.protocol", "insecure": "servers.tls", "file": "suites are arguments: mcptest run FILE", "f": "suites are arguments: mcptest run FILE",
	"debug": "verbose", "port": "http", "p": "parallel", "json": "write --reporter json=FILE", "ci": "set the environment variable CI=true", "dry": "dry-run",
	"qps": "write --rate 50/s", "rps": "write --rate 50/s", "concurrency": "calls are sent at a fixed rate: write --rate 50/s", "users": "calls are sent at a fixed rate: write --rate 50/s",
	"tool": "the tool is the first argument: mcptest call TOOL", "n": "calls are sent at a fixed rate: write --rate 50/s and --duration 10s",
	"tool-name": "the tool is the first argument: mcptest call TOOL",
	"cli":       "write mcptest tools -- command args…, or mcptest call TOOL -- command args…",
	"method":    "write mcptest tools -- command args…, or mcptest call TOOL -- command args…",
	"out":       "output",
}

// countWords rewords cobra's messages about the number of arguments, and puts
// the command that was meant into the line of the unknown one.
var countWords = []struct {
	said string // a regular expression
	mean string
}{
	{`^accepts 1 arg\(s\), received (\d+)$`, "expected one argument, got $1"},
	{`^accepts (\d+) arg\(s\), received (\d+)$`, "expected $1 arguments, got $2"},
	{`^requires at least 1 arg\(s\), only received 0$`, "expected at least one argument"},
	{`^requires at least (\d+) arg\(s\), only received (\d+)$`, "expected at least $1 arguments, got $2"},
	{`^accepts at most 1 arg\(s\), received (\d+)$`, "expected at most one argument, got $1"},
	{`^accepts at most (\d+) arg\(s\), received (\d+)$`, "expected at most $1 arguments, got $2"},
	{`^unknown command "(.*)" for "mcptest mock"$`, `unexpected argument "$1" (did you mean "--tools-from $1"?)`},
	{`^unknown command "(.*)" for "mcptest serve"$`, `unexpected argument "$1" (did you mean "--cassette $1"?)`},
	{`(?s)^(unknown command "lint" .*?)\n.*$`, `$1 (did you mean "validate"?)`}, // "init" is nearer
	{`(?s)^(unknown command .*?)\n+Did you mean this\?\n\t(\S+).*$`, `$1 (did you mean "$2"?)`},
	{`^accepts between (\d+) and (\d+) arg\(s\), received (\d+)$`, "expected $1 to $2 arguments, got $3"},
}

// spellArgs rewords such a message; any other is returned as it is.
func spellArgs(msg string) string {
	for _, w := range countWords {
		if said := regexp.MustCompile(w.said); said.MatchString(msg) {
			return said.ReplaceAllString(msg, w.mean)
		}
	}
	return msg
}
