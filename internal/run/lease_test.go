package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// With several calls in flight, a case that examines unsolicited messages of a server has
// exclusive use of its session; the others run in parallel. A per-test hook makes a file
// serial.
func TestExclusiveCasesAreAlone(t *testing.T) {
	for _, tt := range []struct {
		hooks          string
		free, withFree bool // free calls are together with each other, with exclusive ones
	}{
		{"", true, false},
		{"hooks: {beforeEach: act x 1ms ok}\n", false, false},
	} {
		var b strings.Builder
		b.WriteString("servers: {s: {command: [sim]}}\nrun_options: {parallel: 4}\n" + tt.hooks + "tools:\n")
		for i := range 8 {
			fmt.Fprintf(&b, "  - {name: free %d, tool: slow, args: {label: free}}\n", i)
			if i%4 == 2 {
				fmt.Fprintf(&b, "  - {name: alone %d, tool: slow, args: {label: alone}, expect: [{target: notifications, matcher: {length: 0}}]}\n", i)
			}
		}
		s := new(sim)
		out := s.inBubble(t, context.Background, nil, b.String())
		if out.code != 0 || len(out.cases) != 10 {
			t.Fatalf("exit %d, %d cases", out.code, len(out.cases))
		}
		if s.together["free+free"] != tt.free || s.together["free+alone"] != tt.withFree || s.together["alone+alone"] {
			t.Errorf("%q: together were %v", tt.hooks, s.together)
		}
	}
}
