// Package tail keeps what a program writes in a fixed amount of memory: its
// beginning and its end, the lines that match an expression, and the line that
// says why the program failed.
package tail
