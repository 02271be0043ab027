// Package spelling follows the text of a YAML scalar back to the bytes that it
// was written with, through quotes, escapes, folded lines and the indentation
// of blocks. Package source uses it to show a mistake inside a scalar at its
// own place. Offset is the entry point; it never guesses.
package spelling
