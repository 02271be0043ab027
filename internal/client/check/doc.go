// Package check checks whether a response conforms to its version of MCP, beyond the
// JSON-RPC envelope, which package mcp checks while it reads.
//
// Entry points: [Response] checks the response to a request; [ToolCall] also parses
// it and validates it against the tool's outputSchema. [Result] is the part of
// Response that needs no HTTP status, [OutputSchema] validates structuredContent,
// [Page] and [Entry] check a list that no test requested, and [Arguments] compares the
// arguments of a call with the inputSchema.
//
// Invariants:
//   - A violation is forbidden by the schema of the protocol version, and a strict
//     client rejects the result for it; a client can ignore a warning. Additions that
//     a protocol version allows (block types, members) are neither.
//   - Differences between protocol versions are columns of the table in
//     mcp/protocol/version.go; no version is named here.
//   - The package has no state and sends nothing: a report depends only on the
//     arguments, and contains a limited number of items of each kind.
package check
