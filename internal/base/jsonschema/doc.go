// Package jsonschema checks JSON values against JSON Schema. It is the only wrapper around
// the schema library: it turns the library's errors into flat lists of plain sentences with
// the position in the value and in the schema.
//
// Entry points: [Compile] prepares a schema, [Schema.Validate] checks a value, [Sample],
// [Arguments], [Random] and [Words] make values and texts.
//
// Invariants:
//
//   - Depth, node count and validation time are bounded, as MCP requires of clients that
//     compile schemas of servers.
//   - Nothing is loaded, from files or the network, unless Options.Load is set.
//   - A defect of the library is an error, never a panic or a wrong verdict.
package jsonschema
