// Package check says whether a response is as MCP requires it of the protocol
// version: what it lacks or has wrong, beyond the JSON-RPC envelope, which
// package mcp checks while it reads.
//
// Entry points: [Response] checks the response of a request, [ToolCall] also
// parses it and holds it against the tool's outputSchema. [Result] is the part of
// Response that needs no HTTP status, [OutputSchema] what a tool declared of its
// structuredContent, [ToolsPage] and [Tool] are for tools/list, [Arguments]
// compares the arguments of a call with the inputSchema.
//
// Invariants:
//   - A violation breaks the protocol; a warning is something that a client can
//     go on without. What a protocol version may add (block types, members) is
//     neither.
//   - What differs between protocol versions is a column of the table in
//     mcp/dialect.go; no version is named here.
//   - Nothing is sent and nothing is kept: a report depends on the arguments
//     only, and lists a few items of each kind at most.
package check
