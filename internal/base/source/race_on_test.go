//go:build race

package source_test

// slow says that the race detector is watching.
const slow = true
