// Package apps judges MCP Apps without a browser: tools with a view, the resources that hold
// the views, and the HTML in them. It finds what makes a host show a blank frame.
//
// Entry points: [Judge] holds what was read from a server against the rules; [Rules] lists
// them with their sources. Package compat makes findings of `mcptest check` of the result,
// the probe verdicts.
//
// Invariants:
//   - It is pure: it sends nothing, and the same input gives the same findings in the same
//     order.
//   - Only what is certain is an error. What was not read, or was refused for another
//     reason, is a note and no finding.
//   - A page is read as a stream of tokens: time grows with its length, memory does not, and
//     no nesting is too deep.
//   - Texts of a server are shortened; the caller masks and escapes them.
package apps
