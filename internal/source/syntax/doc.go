// Package syntax explains the mistakes that the YAML library finds in plain
// words, at the place where a person has to look. Explain is the entry point.
package syntax
