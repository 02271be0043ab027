package check

import (
	"context"
	"fmt"
	"net/http"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// Response checks the response to a request: its HTTP status and its result,
// which is absent when the server answered with an error.
func Response(version, method string, x *mcp.Exchange, res jsonv.Value) Report {
	var r Report
	if msg := status(x); msg != "" {
		r.Warnings = append(r.Warnings, msg)
	}
	if res.IsAbsent() {
		return r
	}
	r.add(Result(version, method, res, x.AsksTask()))
	if at := contradiction(res); method == "tools/call" && at != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the text content and structuredContent contradict each other at %s", at))
	}
	return r
}

// ToolCall checks the response of a tools/call that is not parsed yet. schema is
// what the tool declared, nil for nothing.
func ToolCall(ctx context.Context, version, tool string, schema *OutputSchema, x *mcp.Exchange) Report {
	if len(x.Response) == 0 {
		return Report{}
	}
	v, bad, err := x.Parse(jsonv.Options{})
	r := Report{Violations: bad}
	if err != nil {
		r.Warnings = []string{"the answer could not be read: " + err.Error()}
		return r
	}
	res := v.Lookup("result")
	r.add(Response(version, "tools/call", x, res))
	r.add(schema.Check(ctx, tool, res))
	return r
}

// status describes a good response over HTTP that came with another status than
// 200, "" for any other response.
func status(x *mcp.Exchange) string {
	if x.HTTP == nil || x.Response == nil || x.HTTP.Status <= http.StatusOK || x.HTTP.Status >= http.StatusMultipleChoices {
		return ""
	}
	return fmt.Sprintf("the answer came with HTTP %d %s, want 200 OK", x.HTTP.Status, http.StatusText(x.HTTP.Status))
}
