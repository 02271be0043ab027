package aqlcli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// option is one flag of a command.
type option struct {
	long, short string
	value       string // the name of the value in help; "" for a switch
	doc         string
	check       func(string) (string, error) // returns the value in its final form; nil accepts every text but ""
	many        bool                         // may be repeated
}

// flagValue is the value of a flag in a call.
type flagValue struct {
	option
	c     *call
	flags *pflag.FlagSet
}

// String returns "", because help must not show a default: the text of the option
// states it if there is one.
func (v *flagValue) String() string { return "" }

// Type returns the name of the value in help.
func (v *flagValue) Type() string { return v.value }

// Set sets a value. A wrong one is recorded as a problem of the call and does not end
// the parsing, so that one call reports all of them.
func (v *flagValue) Set(s string) error {
	if v.isFlag(s) {
		return fmt.Errorf("--%s needs a value: %s", v.long, v.doc)
	}
	s, err := v.checkValue(s)
	if err != nil {
		v.c.addProblem("--%s: %s", v.long, err)
	}
	if before, ok := v.c.flags[v.long]; ok && v.many {
		s = before + "\x00" + s
	}
	v.c.flags[v.long] = s
	return nil
}

// isFlag reports whether a text is a flag and not the value of the one before
// it.
func (v *flagValue) isFlag(s string) bool {
	name, _, _ := strings.Cut(s, "=")
	return strings.HasPrefix(s, "--") || len(name) == 2 && name[0] == '-' && v.flags.ShorthandLookup(name[1:]) != nil
}

func (o option) checkValue(s string) (string, error) {
	if o.check == nil {
		return acceptAny(s)
	}
	return o.check(s)
}

// add adds options to a command.
func (c *call) add(cmd *cobra.Command, options []option) {
	fl := cmd.Flags()
	fl.SortFlags = false
	for _, o := range options {
		if o.value == "" {
			fl.BoolP(o.long, o.short, false, o.doc)
			continue
		}
		fl.VarP(&flagValue{option: o, c: c, flags: fl}, o.long, o.short, o.doc)
	}
}

// flagError rewords an error of pflag.
func flagError(cmd *cobra.Command, err error) error {
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		f := missing.GetFlag()
		return fmt.Errorf("--%s needs a value: %s", f.Name, f.Usage)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() != "bool" {
		return bad.Unwrap()
	}
	return cmdutil.FlagError(cmd, err, nil)
}

// makeRepeatable makes an option repeatable.
func makeRepeatable(o option) option {
	o.many = true
	return o
}

// getAll returns the values of a repeatable option.
func (c *call) getAll(long string) []string {
	if v, ok := c.flags[long]; ok {
		return strings.Split(v, "\x00")
	}
	return nil
}

// newChoiceCheck returns a check that accepts one of the given words in any case.
func newChoiceCheck(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if w := lists.First(words, func(w string) bool { return strings.EqualFold(w, s) }); w != "" {
			return w, nil
		}
		hint := source.Parenthesis(source.Suggest(findSimilar(s, words)))
		return "", fmt.Errorf("expected one of %s; got %q%s", strings.Join(words, ", "), s, hint)
	}
}

// findSimilar returns the name that a word is a misspelling or a part of, "" if there is
// none. Letter case, spaces and punctuation do not count in a part.
func findSimilar(word string, names []string) string {
	if near := source.FindNearest(word, names); near != "" {
		return near
	}
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	part := letters(word)
	return lists.First(names, func(name string) bool { return len(part) >= 3 && strings.Contains(letters(name), part) })
}

// newChoice returns an option with a fixed set of values, which help lists.
func newChoice(long, short, value, doc string, words []string) option {
	return option{
		long:  long,
		short: short,
		value: value,
		doc:   doc + "; one of " + strings.Join(words, ", "),
		check: newChoiceCheck(words...),
	}
}

func acceptAny(s string) (string, error) {
	if s == "" {
		return "", errors.New("needs a value")
	}
	return s, nil
}

func listCategories() []string {
	return lists.Map(rule.Categories(), func(c rule.Category) string { return c.Name })
}

// checkPositional checks the number of arguments against the synopsis of a command: "[x]"
// is optional, "<x…>" may be repeated.
func checkPositional(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	most := len(names)
	for i, name := range names {
		if strings.Contains(name, "…") {
			most = len(args)
		}
		if i >= len(args) && name[0] == '<' {
			return fmt.Errorf("%s needs a %s", cmd.Name(), strings.Trim(name, "<…>"))
		}
	}
	if len(args) > most {
		return fmt.Errorf("unexpected argument %q: expected %s", args[most], cmd.UseLine())
	}
	return nil
}

// The options that several commands share, and those of live.

var (
	levelOption  = option{long: "level", short: "l", value: "level", doc: "conformance level to test, 1 or 2 (default 1)", check: newChoiceCheck("1", "2")}
	outputOption = option{long: "output", short: "o", value: "file", doc: "where the report goes (default -, the standard output)"}
	// normativeOption is an option of all commands that judge by the strict rules.
	normativeOption   = option{long: "normative", doc: "strict rules: fail what the normative document calls a MUST, even where documents disagree"}
	judgeBundleOption = option{long: "bundle", value: "file", doc: "with --judge: write the bundle with its verdicts, to be used again"}
)

// formats lists the formats of reports: the specification's own layouts
// and those shared with the test runner that make sense for a finished run.
var formats = []string{"json", "text", "markdown", "junit", "tap", "html", "sarif", "github"}

func newFormatOption() option {
	return newChoice("format", "f", "format", "format of the report (default text)", formats)
}

func newRulesOption() option {
	return newChoice("rules", "", "rules", "rule set (default reference, and strict for a bundle of a live run)", rule.Sets())
}

// failOnOption returns the option that selects what makes the exit code 2.
func failOnOption() option {
	return newChoice("fail-on", "", "policy", "what makes the exit code 2: incomplete, what was not proved and warnings of SHOULD categories"+
		" (default under the strict rules); warn, every warning and nothing else; fail, nothing", verdict.FailOns())
}

func updateField(s string) (string, error) {
	op, field, _ := strings.Cut(s, ":")
	return expect(s, op != "" && field != "", "operation:field, such as update_log:entries")
}

// expect returns a value that is valid, or the error for one that is not.
func expect(s string, valid bool, what string) (string, error) {
	if !valid {
		return "", fmt.Errorf("expected %s; got %q", what, s)
	}
	return s, nil
}

func parsePositive(s string) (string, error) {
	f, err := strconv.ParseFloat(s, 64)
	return expect(s, err == nil && f > 0 && f <= 1e6, "a number greater than zero")
}

// newNumberCheck returns a check that accepts whole numbers from 1.
func newNumberCheck(most int) func(string) (string, error) {
	return func(s string) (string, error) {
		n, err := strconv.Atoi(s)
		return expect(s, err == nil && n >= 1 && n <= most, fmt.Sprintf("a whole number from 1 to %d", most))
	}
}

// newLiveOptions returns the options of live, which recordings store by name.
func newLiveOptions() []option {
	return slices.Concat(newTargetOptions(), []option{
		newChoice("mode", "", "mode", "what may be called (default safe: only operations that read)", guard.Modes()),
		levelOption,
		outputOption,
		newFormatOption(),
		{long: "bundle", value: "file", doc: "write an evidence bundle with everything that was seen, for test"},
		{long: "values", value: "file", doc: "JSON file with values for parameters: {operation: {parameter: value}}, * for every operation"},
		{long: "values-template", value: "file", doc: "with --mode plan: write a template for --values with the values that are missing (- is the standard output)"},
		{long: "allow-op", value: "pattern", doc: "call operations that the mode would leave out: a name with * and ? (may be repeated)", many: true},
		{long: "deny-op", value: "pattern", doc: "never call these operations: a name with * and ? (may be repeated)", many: true},
		{long: "append-only", value: "operation:field", doc: "a field that updates by this operation must not change (may be repeated)", check: updateField, many: true},
		{long: "max-calls", value: "number", doc: "maximum number of calls, not counting the clean-up (default 2000)", check: newNumberCheck(1_000_000)},
		{long: "rate", value: "number", doc: "maximum number of calls per second", check: parsePositive},
		{long: "budget", value: "duration", doc: "time for the whole run, such as 5m (default 10m)", check: parseDuration},
		{long: "confirm", doc: "in modes write and full: confirm operations that ask for it"},
		{long: "stress", doc: "also send requests over the size limits"},
		newChoice("bundle-scope", "", "scope", "probed: leave operations that were not called out of the bundle, for the reference rules (default all)", []string{"all", "probed"}),
		normativeOption,
		{long: "prefix", value: "name", doc: "the prefix of the tools, if a server has several adapters"},
		{long: "tool", value: "name", doc: "the tool that accepts introspect"},
		{long: "single-command", value: "command", doc: "command that starts the adapter with its single endpoint"},
		{long: "single-url", value: "url", doc: "address of the adapter's single endpoint"},
		{long: "journal", value: "folder", doc: "where the journal of what was created is kept (default in the user's cache folder)"},
		{long: "clean", doc: "test nothing: remove what killed runs in write mode left behind"},
		failOnOption(),
		{long: "record", value: "path", doc: "record every request and response in a cassette: a file, or a folder"},
		{long: "allow-update-in-ci", doc: "with --record: record even if CI is set"},
		{long: "replay", value: "path", doc: "replay a recording without the adapter, with the recorded options"},
	}, newModelOptions())
}
