// Package filekind recognizes the files that mcptest reads and writes, so that an option
// which gets one of another kind can say what it is. Start at [Of].
//
// A kind is only returned for certain: a file that could be several has none.
package filekind
