package conn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// Only classify decides what is wrong with a frame, and its findings are recorded at one
// place. The other violations are about a whole parsed response, a number of dropped
// violations, an exit, or come from the transport.
func TestFindingsOfFramesHaveOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	made, recorded := map[string]int{}, map[string]int{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, count := range []struct {
			in   map[string]int
			text string
		}{{made, "protocol.Violation{"}, {recorded, ".record("}} {
			if n := strings.Count(string(text), count.text); n > 0 {
				count.in[name] = n
			}
		}
	}
	testkit.Equal(t, "the violations that a file makes", made, map[string]int{"classify.go": 1, "exchange.go": 2, "received.go": 1, "state.go": 1})
	testkit.Equal(t, "the places that record one", recorded, map[string]int{"inbound.go": 3, "state.go": 1})
}
