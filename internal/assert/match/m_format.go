package match

import (
	"strings"

	"mcptest/internal/assert/format"
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowFormat = Row{
	Name: "format", Doc: "a string has this format: " + strings.Join(format.Names(), ", "),
	Example: `format: date-time`, Passes: `"2026-11-05T09:30:00.5Z"`, Fails: `"2026-11-05 09:30"`,
	schema: `{"enum":["` + strings.Join(format.Names(), `","`) + `"]}`, compile: compileFormat,
}

func compileFormat(c *Compiler, n *source.Node, path string) Matcher {
	name, ok := c.Text(n, path, "the name of a format")
	if !ok {
		return nil
	}
	f := format.Find(name)
	if f == nil {
		hint := "the formats are " + strings.Join(format.Names(), ", ")
		near := source.Parenthesis(source.DidYouMean(name, format.Names()))
		c.Errorf(n, path, hint, "unknown format %s%s", shown.Key(name), near)
		return nil
	}
	return matchFunc(func(v jsonv.Value) Outcome {
		if v.Kind() != jsonv.KindString {
			return unfit("text in the format "+f.Name, v)
		}
		text := v.Text()
		if len(text) > format.MaxBytes {
			return failOutcome("expected " + f.What + ", got a text of " + display.Count(v.Len(), "character"))
		}
		if f.Valid(text) {
			return passed
		}
		return Outcome{Msg: "expected " + f.What + ", got " + shown.Value(v, shown.InLine), Expected: "format " + f.Name}
	})
}
