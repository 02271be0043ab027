package match

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
)

var rowRegex = Row{
	Name: "regex", Doc: "a string matches this RE2 expression anywhere; (?i) ignores case, ^ and $ anchor it",
	Example: `regex: '^v\d+\.\d+$'`, Passes: `"v1.25"`, Fails: `"version v1.25"`,
	schema: `{"type":"string"}`, compile: compileRegex,
}

// maxRegexSubject limits the part of a text that one expression is matched against.
const maxRegexSubject = 1 << 20

// Regexp compiles a regular expression. It returns nil after a mistake.
func (c *Compiler) Regexp(n *source.Node, path string) *regexp.Regexp {
	text, ok := c.Text(n, path, "a regular expression")
	if !ok {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		regexError(c, n, path, err)
		return nil
	}
	return re
}

func compileRegex(c *Compiler, n *source.Node, path string) Matcher {
	re := c.Regexp(n, path)
	if re == nil {
		return nil
	}
	return expression{re: re, vacuous: n.Blank && re.MatchString("")}
}

// expression is a regular expression.
type expression struct {
	re      *regexp.Regexp
	vacuous bool // although the author did not write an empty one
}

func (m expression) Match(_ context.Context, s target.Subject, _ *Env) Outcome {
	if m.vacuous && s.Value.Kind() == jsonv.KindString {
		return blankNeedle(s.Value)
	}
	o := matchRegex(m.re, s.Value)
	if o.Pass && s.Cut != "" && !m.matchesAnEnd(s.Value.Text()) {
		return Outcome{} // only with what stands for the omitted part
	}
	return o
}

// omitted is the line in place of what was not kept of an output.
var omitted = lazy.Regexp(`(?m)^\[\d+ bytes left out\]$`)

// matchesAnEnd reports whether the expression matches a part of a text that has nothing of the
// line in place of what was omitted.
func (m expression) matchesAnEnd(text string) bool {
	gap := omitted().FindStringIndex(text)
	return gap == nil || slices.ContainsFunc(m.re.FindAllStringIndex(text, -1), func(at []int) bool {
		return at[1] < gap[0] || at[0] > gap[1]
	})
}

// regexError reports the mistake in an expression at its position.
func regexError(c *Compiler, n *source.Node, path string, err error) {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		c.Errorf(n, path, "", "bad regular expression: %s", shown.Line(err.Error(), shown.MaxLine))
		return
	}
	offset, msg := 0, bad.Code.String()
	if i := strings.LastIndex(n.Text, bad.Expr); i > 0 && bad.Expr != "" && bad.Expr != n.Text {
		offset = i
	}
	if bad.Expr != "" && bad.Expr != n.Text {
		msg += ": " + display.Truncate(bad.Expr, shown.ShortKey)
	}
	hint := ""
	if bad.Code == syntax.ErrInvalidPerlOp || bad.Code == syntax.ErrInvalidEscape ||
		strings.HasPrefix(bad.Expr, "(?<=") || strings.HasPrefix(bad.Expr, "(?<!") {
		hint = "the syntax is RE2: it has no lookaround and no backreferences"
	}
	c.ErrorIn(n, offset, path, hint, "bad regular expression: %s", msg)
}

func matchRegex(re *regexp.Regexp, v jsonv.Value) Outcome {
	if v.Kind() != jsonv.KindString {
		return unfit("text", v)
	}
	text := v.Text()
	if len(text) <= maxRegexSubject {
		if re.MatchString(text) {
			return passed
		}
		return Outcome{
			Msg:      "does not match /" + display.Truncate(re.String(), shown.InLine) + "/: " + shown.Got(v),
			Expected: "a match of /" + display.Truncate(re.String(), shown.MaxLine) + "/",
		}
	}
	cut := maxRegexSubject
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	// A match that ends at the cut may not be one in the whole text.
	if loc := re.FindStringIndex(text[:cut]); loc != nil && loc[1] < cut {
		return passed
	}
	return Outcome{
		Unfit:    true,
		Msg:      "does not match /" + display.Truncate(re.String(), shown.InLine) + "/ in the first 1 MiB (the rest is not searched): " + shown.Got(v),
		Expected: "a match of /" + display.Truncate(re.String(), shown.MaxLine) + "/",
	}
}
