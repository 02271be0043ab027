// Package spelling maps offsets in the text of a YAML scalar to offsets in its
// source, through quotes, escapes, folded lines and the indentation of blocks.
// Package source uses it to report the exact position of a mistake inside a scalar.
// Offset is the entry point; it never guesses.
package spelling
