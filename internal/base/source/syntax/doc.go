// Package syntax explains the syntax errors of the YAML library in plain words, at
// the position to correct. Explain is the entry point.
package syntax
