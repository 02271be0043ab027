// Package source decodes text with positions into Go values, and reports mistakes as
// diagnostics.
//
// Data flows in one direction:
//
//	Read / File → Parse → *Node → Decode → your struct
//	                 └──────────────┴──────→ Diagnostics → Print
//
// [Parse] is the entry point. It parses one YAML document into [Node] values with
// file, line and column; [Decode] strictly decodes them into structs, and finds every
// mistake in one pass; [Diagnostics] sorts, removes duplicates and prints the
// diagnostics with the source line and a caret.
//
// Invariants:
//
//   - Invalid input never causes a panic or a Go error, but a [Diagnostic]. Work is
//     bounded by the file's size: the size, the nesting depth, the number of nodes and
//     the expansion of aliases are limited in advance.
//   - Plain scalars follow the YAML 1.2 core schema, restricted so that every value
//     has one obvious JSON form: null, true, false, integers and floats. Everything
//     else is text: yes, no, on, off, dates, 017, .inf. Values that other readers
//     interpret differently cause a warning.
//   - Numbers keep their digits, such as 9007199254740993 or a number of a hundred
//     digits.
//   - A Node is immutable after Parse. [Node.MapScalars] copies what it changes, so
//     that aliased nodes can be shared.
//   - Parse resolves aliases and merge keys. A diagnostic inside an aliased value
//     still contains the place of use.
//   - Lines and columns count from 1, columns in Unicode code points. A byte order
//     mark is not a column.
//   - Control characters of a file are escaped before they reach the terminal.
//
// Start reading at parse.go, then decode.go.
package source
