package pretty

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestAgentLimits: the page for coding agents names the limits of the format.
func TestAgentLimits(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guides/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		fmt.Sprintf("%d failures are shown (all with `-v`), of each %d assertions with %d lines", agentFailures, agentAsserts, agentDiff),
		fmt.Sprintf("%d lines of an output, and %d characters of a text", agentStderr, agentText),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
