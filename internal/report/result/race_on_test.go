//go:build race

package result_test

// slow says that the race detector is watching.
const slow = true
