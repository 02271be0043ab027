// Package lint warns about values of a suite that are valid, but hardly what the
// author meant: variables that nothing replaces, and matchers that every value passes.
// TestKey knows the keys that other test tools use.
//
// Invariants: only values that the author wrote are examined, not those of
// placeholders; a warning never changes what a value means.
package lint
