// Package interpolate replaces the placeholders of a suite: ${name}, values of
// the row of a test and of earlier steps.
//
// It works on parsed scalars, never on text, so positions survive and a value
// can't inject YAML. Scope.Expand is the entry point.
package interpolate
