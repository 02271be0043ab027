package testkit

import "os"

// Deep reports whether tests are to examine everything that they can (`make
// deep`). Without it they take a part that is the same each time, so that
// `make test` stays short.
func Deep() bool { return os.Getenv("MCPTEST_DEEP") != "" }

// Bench reports whether tests are to compare times (`make bench`). Without it no result
// depends on how busy the machine is.
func Bench() bool { return os.Getenv("MCPTEST_BENCH") != "" }

// Count is how many rounds a test makes: few, or many in a deep run.
func Count(few, many int) int {
	if Deep() {
		return many
	}
	return few
}
