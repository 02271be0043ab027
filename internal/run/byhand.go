package run

import (
	"context"
	"fmt"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// CheckCall is what a test of a tool is checked for beyond the exchange's own
// violations, for a call that no suite makes: breaches that only show inside
// the answer, and what the tool promised (its outputSchema, absent for none).
// Warnings fail no test.
func CheckCall(ctx context.Context, protocol, tool string, promised jsonv.Value, x *mcp.Exchange) (bad []mcp.Violation, warnings []string) {
	if len(x.Response) == 0 {
		return nil, nil
	}
	v, bad, err := x.Parse(jsonv.Options{})
	if err != nil {
		return bad, []string{"the answer could not be read: " + err.Error()}
	}
	if odd := oddStatus(x); odd != "" {
		warnings = append(warnings, odd)
	}
	res := v.Lookup("result")
	if res.IsAbsent() {
		return bad, warnings
	}
	form := shapeOf("tools/call", protocol, res, x.AsksTask())
	warnings = append(warnings, form.odd...)
	for _, msg := range form.faults {
		bad = append(bad, mcp.Violation{Kind: mcp.BadResult, Msg: msg, Excerpt: res.Short(200)})
	}
	if at := contradiction(res); at != "" {
		warnings = append(warnings, fmt.Sprintf("the text content and structuredContent contradict each other at %s", at))
	}
	if promised.Kind() == jsonv.KindObject && !res.Lookup("isError").Bool() {
		more, also := (&outputSchema{doc: promised}).check(ctx, tool, res)
		bad, warnings = append(bad, more...), append(warnings, also...)
	}
	return bad, warnings
}
