package aqlcli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/aql/live/guard"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/verdict"
)

// The options that several commands share, and those of live.

func levelOption() option {
	return option{long: "level", short: "l", value: "level", doc: "conformance level to test, 1 or 2 (default 1)", check: oneOf("1", "2")}
}

func outputOption() option {
	return option{long: "output", short: "o", value: "file", doc: "where the report goes (default -, the standard output)"}
}

func formatOption() option {
	return choice("format", "f", "format", "format of the report (default text)", formats())
}

func rulesOption() option {
	return choice("rules", "", "rules", "rule set (default reference, and strict for a bundle of a live run)", rule.Sets())
}

// normativeOption returns an option of all commands that judge by the strict rules.
func normativeOption() option {
	return option{long: "normative", doc: "strict rules: fail what the normative document calls a MUST, even where documents disagree"}
}

// failOnOption returns the option that selects what makes the exit code 2.
func failOnOption() option {
	return choice("fail-on", "", "policy", "what makes the exit code 2: incomplete, what was not proved and warnings of SHOULD categories"+
		" (default under the strict rules); warn, every warning and nothing else; fail, nothing", verdict.FailOns())
}

func updateField(s string) (string, error) {
	if op, field, ok := strings.Cut(s, ":"); !ok || op == "" || field == "" {
		return "", fmt.Errorf("expected operation:field, such as update_log:entries; got %q", s)
	}
	return s, nil
}

func positive(s string) (string, error) {
	if f, err := strconv.ParseFloat(s, 64); err != nil || !(f > 0) || f > 1e6 {
		return "", fmt.Errorf("must be a number greater than zero; got %q", s)
	}
	return s, nil
}

// optionsOfLive returns the options of live, which recordings store by name.
func optionsOfLive() []option {
	return slices.Concat(targetOptions(), []option{
		choice("mode", "", "mode", "what may be called (default safe: only operations that read)", guard.Modes()),
		levelOption(),
		outputOption(),
		formatOption(),
		{long: "bundle", value: "file", doc: "write an evidence bundle with everything that was seen, for test"},
		{long: "values", value: "file", doc: "JSON file with values for parameters: {operation: {parameter: value}}, * for every operation"},
		{long: "values-template", value: "file", doc: "with --mode plan: write a template for --values with the values that are missing (- is the standard output)"},
		{long: "allow-op", value: "pattern", doc: "call operations that the mode would leave out: a name with * and ? (may be repeated)", many: true},
		{long: "deny-op", value: "pattern", doc: "never call these operations: a name with * and ? (may be repeated)", many: true},
		{long: "append-only", value: "operation:field", doc: "a field that updates by this operation must not change (may be repeated)", check: updateField, many: true},
		{long: "max-calls", value: "number", doc: "maximum number of calls, not counting the clean-up (default 2000)", check: number(1, 1_000_000)},
		{long: "rate", value: "number", doc: "maximum number of calls per second", check: positive},
		{long: "budget", value: "duration", doc: "time for the whole run, such as 5m (default 10m)", check: duration},
		{long: "confirm", doc: "in modes write and full: confirm operations that ask for it"},
		{long: "stress", doc: "also send requests over the size limits"},
		choice("bundle-scope", "", "scope", "probed: leave operations that were not called out of the bundle, for the reference rules (default all)", []string{"all", "probed"}),
		normativeOption(),
		{long: "prefix", value: "name", doc: "the prefix of the tools, if a server has several adapters"},
		{long: "tool", value: "name", doc: "the tool that answers introspect"},
		{long: "single-command", value: "command", doc: "command that starts the adapter with its single endpoint"},
		{long: "single-url", value: "url", doc: "address of the adapter's single endpoint"},
		{long: "journal", value: "folder", doc: "where the journal of what was created is kept (default in the user's cache folder)"},
		{long: "clean", doc: "test nothing: remove what killed runs in write mode left behind"},
		failOnOption(),
	}, recordOptions(), modelOptions())
}
