// Package evidence holds the observed behavior of an MCP-AQL adapter: its
// introspection answers, the parameters it accepted, its refusals, and the values
// read back from it.
// Evidence is read from a bundle (Read) or built in code, and JSON writes it as a
// bundle again. The package also interprets answers: whether one is a success, which
// operation and parameters a detail describes (ReadDetail), even if the adapter
// deviates from the documented form, and which call shows a finding (Exchange).
// The skeleton of a bundle, which its author wrote, is typed, and a wrong type is a
// diagnostic with line, column and JSON pointer. A payload, which the adapter
// answered, may be any JSON. All problems of a bundle are reported together.
package evidence
