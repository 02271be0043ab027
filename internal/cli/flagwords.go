package cli

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/source"
)

// What pflag and cobra say of a command line, in words that say what to write.

// flagWords says what is wrong with a flag.
func flagWords(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return nearFlag(cmd, unknown)
	}
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	want := map[string]string{
		"duration": "want a time with its unit, such as 500ms, 10s or 2m",
		"float64":  "want a number",
		"int":      "want a whole number",
		"bool":     "want true or false",
	}[bad.GetFlag().Value.Type()]
	if want == "" {
		return err // our own types say it themselves
	}
	return fmt.Errorf("--%s: %s, got %q", bad.GetFlag().Name, want, bad.GetValue())
}

// nearFlag adds the nearest flag's name to the complaint about one that a
// command does not know.
func nearFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	if unknown.GetSpecifiedShortnames() != "" {
		return unknown
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := source.Nearest(unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w (did you mean --%s?)", unknown, near)
	}
	return unknown
}

// countWords is what cobra says of how many arguments a command was given.
var countWords = []struct {
	said string // a regular expression
	mean string
}{
	{`^accepts 1 arg\(s\), received (\d+)$`, "want one argument, got $1"},
	{`^accepts (\d+) arg\(s\), received (\d+)$`, "want $1 arguments, got $2"},
	{`^requires at least 1 arg\(s\), only received 0$`, "want at least one argument"},
	{`^requires at least (\d+) arg\(s\), only received (\d+)$`, "want at least $1 arguments, got $2"},
	{`^accepts at most 1 arg\(s\), received (\d+)$`, "want at most one argument, got $1"},
	{`^accepts at most (\d+) arg\(s\), received (\d+)$`, "want at most $1 arguments, got $2"},
	{`^accepts between (\d+) and (\d+) arg\(s\), received (\d+)$`, "want $1 to $2 arguments, got $3"},
}

// argWords says it plainly; another message stays as it is.
func argWords(msg string) string {
	for _, w := range countWords {
		if said := regexp.MustCompile(w.said); said.MatchString(msg) {
			return said.ReplaceAllString(msg, w.mean)
		}
	}
	return msg
}

// blame is where the mistakes are: in the files, or in the flags alone.
func blame(diags source.Diagnostics, files string) string {
	for _, d := range diags {
		if d.Severity == source.Error && (len(d.Path) < 2 || d.Path[:2] != "--") {
			return files
		}
	}
	return "the command line"
}
