// Package compat predicts how MCP clients and app directories treat a server's
// tools, from the definitions alone: which client rejects every tool, which
// drops one, and which descriptions try to instruct the model. It opens no
// connection and calls no tool.
//
// Entry points: Builtin and Load return rules; Check applies them to lists and
// returns a Report; WriteText and its siblings print one. DecodeChoice is for
// the matcher check of suites.
//
// Invariants:
//   - A rule is data (rules.yaml): what it examines, the JSON Schema that the
//     value must match or a detector, the effect, the source, the date on which
//     it was last confirmed, and one tool that fails and one that passes it.
//   - A prediction names its evidence. An observed rule expires: after that date
//     the report says that it has not been confirmed since.
//   - Check is a pure function: the same list, rules and day give the same
//     report.
//   - Text from a server is data. Everything that is printed is escaped.
package compat
