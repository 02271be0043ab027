package line

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/spec/plan"
)

// UpdateFlag stores the values that a test got as its snapshots.
const UpdateFlag = " --update-snapshots"

// CallName names a call for the record of its case.
func CallName(op *plan.Op) string {
	switch {
	case op.Action != nil:
		return op.Action.Name()
	case op.Raw != nil:
		return "raw bytes"
	case op.Subject != "":
		return op.Method + " " + op.Subject
	}
	return op.Method
}

// stepName names the i-th step of a flow.
func stepName(op *plan.Op, i int) string {
	if i < 0 {
		return "conversation"
	}
	return fmt.Sprintf("step %d (%s)", i+1, cmp.Or(op.Name, CallName(op)))
}

// FormatRepro returns a shell command that runs one case again.
func FormatRepro(f *plan.File, c *plan.Case, flags []string) string {
	filter := shellwords.QuoteForShell("re:^" + MakePattern(c.Name) + "$")
	line := "mcptest run " + shellwords.QuotePathForShell(f.Path) + " --filter " + filter
	if len(flags) > 0 {
		line += " " + shellwords.QuoteAllForShell(flags)
	}
	return line
}

// MakePattern returns a regular expression that matches a name exactly. It escapes
// control and invisible characters like RE2, so that the command can be printed.
func MakePattern(name string) string {
	var b strings.Builder
	for _, r := range regexp.QuoteMeta(name) {
		if display.IsHidden(r) {
			fmt.Fprintf(&b, `\x{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
