package expect

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowRegex = Row{
	Name: "regex", Doc: "a string matches this RE2 expression anywhere; (?i) ignores case, ^ and $ anchor it",
	Example: `regex: '^v\d+\.\d+$'`, Passes: `"v1.25"`, Fails: `"version v1.25"`,
	schema: `{"type":"string"}`, compile: compileRegex,
}

// maxRegexSubject limits the part of a text that one expression is matched against.
const maxRegexSubject = 1 << 20

func compileRegex(c *compiler, n *source.Node, path string) Matcher {
	text, ok := c.text(n, path, "a regular expression")
	if !ok {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		regexError(c, n, path, err)
		return nil
	}
	vacuous := n.Blank && re.MatchString("")
	return matchFunc(func(v jsonv.Value) Outcome {
		if vacuous && v.Kind() == jsonv.KindString {
			return blankNeedle(v)
		}
		return matchRegex(re, v)
	})
}

// regexError reports the mistake in an expression at its position.
func regexError(c *compiler, n *source.Node, path string, err error) {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		c.errorf(n, path, "", "bad regular expression: %s", oneLine(err.Error(), maxLine))
		return
	}
	offset, msg := 0, bad.Code.String()
	if i := strings.LastIndex(n.Text, bad.Expr); i > 0 && bad.Expr != "" && bad.Expr != n.Text {
		offset = i
	}
	if bad.Expr != "" && bad.Expr != n.Text {
		msg += ": " + display.Truncate(bad.Expr, shownKey)
	}
	hint := ""
	if bad.Code == syntax.ErrInvalidPerlOp || bad.Code == syntax.ErrInvalidEscape ||
		strings.HasPrefix(bad.Expr, "(?<=") || strings.HasPrefix(bad.Expr, "(?<!") {
		hint = "the syntax is RE2: it has no lookaround and no backreferences"
	}
	c.errorIn(n, offset, path, hint, "bad regular expression: %s", msg)
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
		return Outcome{Msg: "does not match /" + display.Truncate(re.String(), shownInLine) + "/: " + got(v), Expected: "a match of /" + display.Truncate(re.String(), maxLine) + "/"}
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
		Msg:      "does not match /" + display.Truncate(re.String(), shownInLine) + "/ in the first 1 MiB (the rest is not searched): " + got(v),
		Expected: "a match of /" + display.Truncate(re.String(), maxLine) + "/",
	}
}
