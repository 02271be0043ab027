// Package jsonschema checks JSON values against JSON Schema. Package engine evaluates them;
// this one bounds schemas and values, and turns what fails into flat lists of plain
// sentences with the position in the value and in the schema.
//
// Entry points: [Compile] prepares a schema, [Schema.Validate] checks a value, [Sample],
// [Arguments], [Random] and [ListWords] make values and texts.
//
// Invariants:
//
//   - Depth, node count and validation time are bounded, as MCP requires of clients that
//     compile schemas of servers.
//   - Nothing is loaded, from files or the network, unless Options.Load is set.
//   - Nothing is compiled before a schema is.
package jsonschema
