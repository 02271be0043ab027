package cli

import (
	"context"
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/check"
)

// checked adds to an exchange what run would find wrong with the answer of the
// tool, and returns what it would warn of. The tool list is read for the
// tool's outputSchema once there is a result.
func (l *look) checked(ctx context.Context, tool string, args jsonv.Value, x *mcp.Exchange) (warnings []string) {
	var schema *check.OutputSchema
	if x.Result != nil && l.server.ValidateOutput && l.offers("tools") {
		tools, err := l.pages(ctx, "tools/list", "tools")
		if err != nil {
			warnings = append(warnings, "the tool list could not be read, so outputSchema is not checked: "+err.Error())
		}
		if i := slices.IndexFunc(tools, func(t jsonv.Value) bool { return t.Lookup("name").Text() == tool }); i >= 0 {
			schema = check.NewOutputSchema(tools[i].Lookup("outputSchema"))
			for _, fault := range check.Arguments(tools[i].Lookup("inputSchema"), args) {
				warnings = append(warnings, "argument "+fault)
			}
		}
	}
	report := check.ToolCall(ctx, l.sess.Protocol(), tool, schema, x)
	for i, v := range report.Violations {
		report.Violations[i].Tolerated = l.server.Tolerate[v.Kind]
	}
	l.violations(report.Violations)
	x.Violations = append(x.Violations, report.Violations...)
	return append(warnings, report.Warnings...)
}

// warn shows what fails nothing.
func (l *look) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(l.s.Err, "warning: "+l.text(w))
	}
}

// broke is the error of a server that broke the protocol and was not forgiven,
// nil for one that did not.
func (l *look) broke() error {
	if l.remaining(); !l.breach {
		return nil
	}
	return fail(exitFailed, "the server violated the protocol")
}
