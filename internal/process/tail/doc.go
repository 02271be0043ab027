// Package tail keeps the output of a program in a fixed amount of memory: its
// beginning and its end, the lines that match an expression, and the line that
// explains a failure.
package tail
