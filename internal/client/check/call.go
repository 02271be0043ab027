package check

import (
	"context"
	"fmt"
	"net/http"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
)

// Response checks the response to a request: its HTTP status and its result, which is
// absent in an error response.
func Response(version, method string, x *mcp.Exchange, res jsonv.Value) Report {
	var r Report
	if msg := describeStatus(x); msg != "" {
		r.Warnings = append(r.Warnings, msg)
	}
	if res.IsAbsent() {
		return r
	}
	r.add(Result(Request{Version: version, Method: method, AllowsTask: x.AsksTask()}, res))
	at := findContradiction(res)
	if method == "tools/call" && at != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the text content and structuredContent contradict each other at %s", at))
	}
	return r
}

// ToolCall parses and checks the response to a tools/call. schema is the tool's
// outputSchema; it may be nil.
func ToolCall(ctx context.Context, version, tool string, schema *OutputSchema, x *mcp.Exchange) Report {
	if len(x.Response) == 0 {
		return Report{}
	}
	v, bad, err := x.Parse(jsonv.Options{})
	r := Report{Violations: bad}
	if err != nil {
		r.Warnings = []string{"the response could not be read: " + err.Error()}
		return r
	}
	res := v.Lookup("result")
	r.add(Response(version, "tools/call", x, res))
	r.add(schema.Check(ctx, tool, res))
	return r
}

// describeStatus describes a response over HTTP that is valid except for a status other than
// 200, or returns "".
func describeStatus(x *mcp.Exchange) string {
	if x.HTTP == nil || x.Response == nil || x.HTTP.Status <= http.StatusOK || x.HTTP.Status >= http.StatusMultipleChoices {
		return ""
	}
	return fmt.Sprintf("the response came with HTTP %d %s, expected 200 OK", x.HTTP.Status, http.StatusText(x.HTTP.Status))
}
