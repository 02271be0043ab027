package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// slowTests are n tests of a tenth of a second each.
func slowTests(n int, more string) string {
	var b strings.Builder
	b.WriteString("tools:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: t%d, tool: slow, args: {label: call}%s}\n", i, more)
	}
	return b.String()
}

// Eight calls of a tenth of a second take as many rounds as the limits allow.
func TestParallelLimits(t *testing.T) {
	for _, tt := range []struct {
		name, servers, options string
		took                   time.Duration
	}{
		{"one", "s: {command: [sim]}", "{}", 800 * time.Millisecond},
		{"four", "s: {command: [sim]}", "{parallel: 4}", 200 * time.Millisecond},
		{"more than tests", "s: {command: [sim]}", "{parallel: 100}", 100 * time.Millisecond},
		{"two sessions", "s: {command: [sim], sessions: 2}", "{}", 400 * time.Millisecond},
		{"sessions and parallel", "s: {command: [sim], sessions: 2}", "{parallel: 2}", 200 * time.Millisecond},
		{"whole file", "s: {command: [sim], sessions: 2}", "{parallel: false}", 800 * time.Millisecond},
		{"per_test", "s: {command: [sim]}", "{parallel: 4, restart_policy: per_test}", 800 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := inBubble(t, context.Background, nil, "servers: {"+tt.servers+"}\nrun_options: "+tt.options+"\n"+slowTests(8, ""))
			if out.took != tt.took || out.code != 0 {
				t.Errorf("exit %d after %v, expected %v", out.code, out.took, tt.took)
			}
		})
	}
}

// Each server has a separate queue.
func TestServersRunInParallel(t *testing.T) {
	const servers = "servers: {a: {command: [sim, a]}, b: {command: [sim, b]}}\ndefault_server: a\n"
	both := "tools:\n"
	for i := range 4 {
		both += fmt.Sprintf("  - {name: a%d, tool: slow, args: {label: a}}\n  - {name: b%d, server: b, tool: slow, args: {label: b}}\n", i, i)
	}
	if out := inBubble(t, context.Background, nil, servers+both); out.took != 400*time.Millisecond {
		t.Errorf("it took %v", out.took)
	}
	// A per-test hook makes the file serial.
	if out := inBubble(t, context.Background, nil, servers+"hooks: {afterEach: act x 0s ok}\n"+both); out.took != 800*time.Millisecond {
		t.Errorf("the serial file took %v", out.took)
	}
}

// Exclusive tests wait for the others, and the others for them.
func TestExclusiveTests(t *testing.T) {
	s := new(sim)
	out := s.inBubble(t, context.Background, nil, "servers: {s: {command: [sim]}}\nrun_options: {parallel: 4}\ntools:\n"+
		"  - {name: f1, tool: slow, args: {label: free}}\n"+
		"  - {name: x1, tool: slow, args: {label: alone}, expect: [{target: notifications, matcher: {length: 0}}]}\n"+
		"  - {name: x2, tool: slow, args: {label: alone}, expect: [{target: notifications, matcher: {length: 0}}]}\n"+
		"  - {name: f2, tool: slow, args: {label: free}}\n")
	if s.together["alone+free"] || s.together["alone+alone"] || out.code != 0 {
		t.Errorf("exit %d, together were %v", out.code, s.together)
	}
	if out.took < 300*time.Millisecond || out.took > 400*time.Millisecond {
		t.Errorf("it took %v", out.took)
	}
}

// Tests whose flows use two servers in opposite order never wait for each other.
func TestLeasesOfTwoServers(t *testing.T) {
	var b strings.Builder
	b.WriteString("servers: {a: {command: [sim, a]}, b: {command: [sim, b]}}\ndefault_server: a\nrun_options: {parallel: 8}\ntools:\n")
	for i := range 8 {
		first, second := "a", "b"
		if i%2 == 1 {
			first, second = second, first
		}
		fmt.Fprintf(&b, "  - name: t%d\n    server: %s\n    expect: [{target: notifications, matcher: {length: 0}}]\n    steps: [{server: %s, tool: slow, args: {label: x}}, {server: %s, tool: slow, args: {label: x}}]\n",
			i, first, first, second)
	}
	s := new(sim)
	out := s.inBubble(t, context.Background, nil, b.String())
	if out.code != 0 || out.took != 1600*time.Millisecond || s.together["x+x"] {
		t.Errorf("exit %d after %v, together %v", out.code, out.took, s.together)
	}
}

// A signal while cases wait for a lease ends them without a call.
func TestSignalWhileWaitingForALease(t *testing.T) {
	out := new(sim).inBubble(t, func() context.Context { return signalled(50 * time.Millisecond) }, nil,
		"servers: {s: {command: [sim]}}\nrun_options: {parallel: 4}\n"+slowTests(4, ", expect: [{target: notifications, matcher: {length: 0}}]"))
	out.expect(t, "call", "skip skip skip skip", 130)
}
