package arch_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Some limits are newer than the code. Files in testdata say how much of it is over them;
// the numbers only fall, and what is not in a file has the number 0.
var update = flag.Bool("update", false, "lower the numbers in testdata, and write docs/packages.md")

// readCounts reads a file of names and numbers.
func readCounts(t *testing.T, name string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(data)) {
		key, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if counts[key], err = strconv.Atoi(number); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
	}
	return counts
}

// checkFallen fails if a number is lower now than the file says, and lowers it with -update.
func checkFallen(t *testing.T, name string, limits, now map[string]int) {
	t.Helper()
	if *update {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if now[key] > 0 {
				fmt.Fprintf(&b, "%s %d\n", key, now[key])
			}
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(limits)) {
		if now[key] < limits[key] {
			t.Errorf("%s: %s says %d, and there are only %d: go test ./internal/dev/arch -update lowers it", key, name, limits[key], now[key])
		}
	}
}
