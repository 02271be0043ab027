// Package source turns bytes with positions into Go values, and mistakes in
// those bytes into diagnostics a reader can act on.
//
// The way through it is one line, and data only flows to the right:
//
//	Read / File → Parse → *Node → Decode → your struct
//	                 └──────────────┴──────→ Diagnostics → Print
//
// [Parse] is the entry point. It reads one YAML document into [Node] values
// that know their file, line and column; [Decode] fills structs from them,
// strictly, and finds every mistake in one pass; [Diagnostics] sorts,
// removes repeats and prints what was found with the source line and a caret.
//
// Invariants:
//
//   - Bad input is never a panic and never a Go error: it is a [Diagnostic].
//     Work is bounded by the file's size: the size, the nesting depth, the
//     number of nodes and what aliases expand to are all limited before they
//     cost anything.
//   - Plain scalars follow the YAML 1.2 core schema, read so that every
//     value has one obvious JSON form: null, true, false, integers and
//     floats. Everything else is text: yes, no, on, off, dates, 017, .inf.
//     The ones that other readers take for something else carry a warning.
//   - Numbers keep their digits. 9007199254740993 stays that, and so does
//     a number of a hundred digits.
//   - After Parse a Node is not changed any more. [Node.MapScalars] copies
//     what it changes, so that aliased nodes can be shared.
//   - Aliases and merge keys are resolved by Parse: later stages never see them.
//     A diagnostic found inside an aliased value still names the place of use.
//   - Lines and columns count from 1, columns in Unicode code points. A byte
//     order mark is not a column.
//   - Nothing from a file reaches the terminal raw: control characters are
//     printed as escapes.
//
// Start reading at parse.go, then decode.go.
package source
