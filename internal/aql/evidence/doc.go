// Package evidence holds what an MCP-AQL adapter was seen to do: its
// introspection answers, the parameters it accepted, its refusals, and what it
// read back.
//
// Evidence is read from a bundle (Read) or built in code, and JSON writes it as
// a bundle again. The package also reads what an answer means: whether it is a
// success, which operation and parameters a detail describes (ReadDetail), also
// where the adapter uses another form than the documented one, and which call
// shows a finding (Exchange).
//
// A bundle's skeleton (what its author wrote) is typed, and a wrong type is a
// diagnostic with line, column and JSON pointer. A payload (what the adapter
// answered) may be any JSON. All problems of a bundle are reported together.
package evidence
