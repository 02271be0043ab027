// Package jsonschema checks JSON values against JSON Schema. It is the one
// wrapper around the schema library: its errors become flat lists of plain
// sentences with the place in the value and in the schema.
//
// Entry points: [Compile] prepares a schema, [Schema.Validate] checks a value,
// [Sample] makes one.
//
// Invariants:
//
//   - Depth, node count and validation time are bounded, as MCP asks of clients
//     that compile schemas of servers.
//   - Nothing is loaded, from files or the network, unless Options.Load is set.
//   - A fault of the library is an error, never a panic or a false verdict.
package jsonschema
